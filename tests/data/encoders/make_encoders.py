"""Tiny random sentence encoders in sentence-transformers' layout, with reference embeddings.

Each DIR/NAME gets the model's files and golden.json: {cases: [{ids, embedding}]}, for "bert-text"
also {texts: [{text, ids, unknown, truncated, embedding}]}. The states are those of transformers in
float32; pooling is written out here.

Usage: python make_encoders.py DIR [SEED]    (needs torch, transformers, safetensors)
"""
import json
import pathlib
import sys

import safetensors.torch
import torch
import transformers as T

OUT = pathlib.Path(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 0
SIZES = dict(vocab_size=200, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
             intermediate_size=96, max_position_embeddings=66, initializer_range=.3,
             hidden_act="gelu")
SMALL = dict(SIZES, vocab_size=60, hidden_size=20, num_attention_heads=2, intermediate_size=30)
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] how do i reset my password ? caf naive ##e a b c".split()

POOL = {
    "cls": lambda h: h[0],
    "max": lambda h: h.max(0).values,
    "mean": lambda h: h.mean(0),
    "mean_sqrt_len_tokens": lambda h: h.sum(0) / len(h) ** .5,
    "weightedmean": lambda h: (h * torch.arange(1, len(h) + 1)[:, None]).sum(0) / sum(range(1, len(h) + 1)),
    "lasttoken": lambda h: h[-1],
}


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def layout(folder, pooling, width, normalize, encoder="", max_tokens=32, lower=False):
    names = ["Transformer", "Pooling"] + ["Normalize"] * normalize
    paths = [encoder, "1_Pooling", "2_Normalize"]
    write_json(folder / "modules.json",
               [dict(idx=i, name=str(i), path=paths[i], type="sentence_transformers.models." + name)
                for i, name in enumerate(names)])
    write_json(folder / encoder / "sentence_bert_config.json",
               dict(max_seq_length=max_tokens, do_lower_case=lower))
    write_json(folder / "1_Pooling" / "config.json", pooling_config(pooling, width))


def pooling_config(pooling, width):
    if isinstance(pooling, list):  # the newer spelling
        return dict(embedding_dimension=width, pooling_mode=pooling if len(pooling) > 1 else pooling[0])
    flags = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean",
             "pooling_mode_max_tokens": "max",
             "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens"}
    return dict(word_embedding_dimension=width, **{k: v == pooling for k, v in flags.items()})


def randomize_vectors(model):
    with torch.no_grad():
        for p in model.parameters():
            if p.dim() == 1:
                p.add_(.2 * torch.randn_like(p))
    return model


def embed(model, ids, pooling, normalize):
    ids = torch.tensor([ids])
    with torch.no_grad():
        h = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
    e = torch.cat([POOL[p](h) for p in (pooling if isinstance(pooling, list) else [pooling])])
    return [round(float(x), 6) for x in (e / e.norm() if normalize else e)]


def cases(model, lengths, vocab, seed, pooling, normalize):
    g = torch.Generator().manual_seed(seed)
    result = []
    for n in lengths:
        ids = torch.randint(4, vocab, (1, n), generator=g)[0].tolist()
        result.append(dict(ids=ids, embedding=embed(model, ids, pooling, normalize)))
    return result


def plain():
    kinds = {
        "bert-mean": (T.BertConfig, T.BertModel, dict(type_vocab_size=2), "mean", True),
        "bert-cls": (T.BertConfig, T.BertModel, dict(type_vocab_size=2), "cls", True),
        "bert-mean-unnormalised": (T.BertConfig, T.BertModel, dict(type_vocab_size=2), "mean", False),
        "xlm-roberta-mean": (T.XLMRobertaConfig, T.XLMRobertaModel,
                             dict(type_vocab_size=1, pad_token_id=1), "mean", True),
        "mpnet-mean": (T.MPNetConfig, T.MPNetModel, dict(pad_token_id=1), "mean", True),
        "distilbert-mean": (T.DistilBertConfig, T.DistilBertModel, dict(), "mean", True),
    }
    for i, (name, (config_class, model_class, extra, pooling, normalize)) in enumerate(kinds.items()):
        torch.manual_seed(100 * SEED + i)
        if config_class is T.DistilBertConfig:
            config = config_class(vocab_size=200, dim=48, n_layers=2, n_heads=4, hidden_dim=96,
                                  max_position_embeddings=66, initializer_range=.3)
        else:
            config = config_class(**{**SIZES, **extra})
        model = randomize_vectors(model_class(config).eval())
        model.save_pretrained(OUT / name)
        layout(OUT / name, pooling, 48, normalize)
        write_json(OUT / name / "golden.json",
                   dict(cases=cases(model, (2, 5, 9, 31), 200, SEED + i, pooling, normalize)))


def mpnet_long():
    """Distances beyond the last bucket."""
    torch.manual_seed(100 * SEED + 50)
    model = randomize_vectors(T.MPNetModel(T.MPNetConfig(**dict(SMALL, max_position_embeddings=302), pad_token_id=1)).eval())
    model.save_pretrained(OUT / "mpnet-long")
    layout(OUT / "mpnet-long", ["weightedmean"], 20, True, max_tokens=None)
    write_json(OUT / "mpnet-long" / "golden.json",
               dict(cases=cases(model, (3, 65, 140, 300), 60, SEED, ["weightedmean"], True)))


def roberta_f16():
    """A masked language model's file in float16, two poolings joined, padding among the ids."""
    torch.manual_seed(100 * SEED + 51)
    whole = randomize_vectors(T.XLMRobertaForMaskedLM(T.XLMRobertaConfig(**dict(SMALL, hidden_act="gelu_new"), type_vocab_size=1, pad_token_id=1)).eval())
    whole.half().save_pretrained(OUT / "roberta-f16")
    model = whole.float().roberta
    pooling = ["cls", "max", "lasttoken"]
    layout(OUT / "roberta-f16", pooling, 20, False)
    result = cases(model, (1, 7, 16, 17), 60, SEED, pooling, False)
    ids = [0, 9, 1, 1, 30, 2]
    result.append(dict(ids=ids, embedding=embed(model, ids, pooling, False)))
    write_json(OUT / "roberta-f16" / "golden.json", dict(cases=result))


def bert_old():
    """The first versions' layout, and TensorFlow's names of norms, in bfloat16."""
    torch.manual_seed(100 * SEED + 52)
    whole = randomize_vectors(T.BertForMaskedLM(T.BertConfig(**dict(SMALL, hidden_act="silu"))).eval())
    whole = whole.bfloat16()
    tensors = {k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v.contiguous().clone()
               for k, v in whole.state_dict().items() if k.startswith("bert.")}
    tensors["bert.embeddings.position_ids"] = torch.arange(66)[None]
    folder = OUT / "bert-old" / "0_Transformer"
    folder.mkdir(parents=True, exist_ok=True)
    whole.config.save_pretrained(folder)
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    layout(OUT / "bert-old", "mean_sqrt_len_tokens", 20, True, encoder="0_Transformer")
    model = whole.float().bert
    write_json(OUT / "bert-old" / "golden.json",
               dict(cases=cases(model, (2, 40), 60, SEED, "mean_sqrt_len_tokens", True)))


def bert_text():
    """With a tokenizer; texts are cut to 8 tokens."""
    torch.manual_seed(100 * SEED + 53)
    model = randomize_vectors(T.BertModel(T.BertConfig(**dict(SMALL, vocab_size=len(WORDS)))).eval())
    folder = OUT / "bert-text"
    model.save_pretrained(folder)
    layout(folder, ["mean"], 20, True, max_tokens=8, lower=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    tokenizer = T.BertTokenizer(str(folder / "vocab.txt"), do_lower_case=False)
    tokenizer.save_pretrained(folder)
    (folder / "vocab.txt").unlink()
    texts = []
    for text in ("How do I reset my password?", "  a b\n", "", "a b c a b", "a b c a b c", "a b c a b c x",
                 "x", "how x do", "[SEP] a", "\u00a0A\u3000"):
        clean = text.strip().lower()
        own = tokenizer(clean, add_special_tokens=False)["input_ids"]
        ids = tokenizer(clean, truncation="longest_first", max_length=8)["input_ids"]
        texts.append(dict(text=text, ids=ids, unknown=own.count(tokenizer.unk_token_id),
                          truncated=len(ids) < len(own) + 2, embedding=embed(model, ids, "mean", True)))
    write_json(folder / "golden.json", dict(cases=[], texts=texts))


for make in (plain, mpnet_long, roberta_f16, bert_old, bert_text):
    make()
