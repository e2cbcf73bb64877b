"""Write a tiny random llama that chats in printable ASCII: bytes as tokens, ChatML, a context of 1024.

Only printable characters, newline and the end of a turn have weights in the head, so that answers are whole UTF-8 and of
many lengths. What it says means nothing.

Usage: make_chat.py DIR      (needs numpy)
"""
import json, pathlib, struct, sys
import numpy as np

OUT = pathlib.Path(sys.argv[1])
HIDDEN, LAYERS, HEADS, KV_HEADS, HEAD_DIM, INNER, CONTEXT = 32, 2, 4, 2, 8, 64, 1024
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
            "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")

def byte_letters():  # GPT-2's spelling of bytes as letters
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    letters = {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(others)}
    return [letters[b] for b in range(256)]

def write_json(name, value):
    (OUT / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")

def weights(vocab):
    random = np.random.default_rng(7)
    normal = lambda *shape: (0.35 * random.standard_normal(shape)).astype(np.float32)
    w = {"model.embed_tokens.weight": normal(vocab, HIDDEN), "model.norm.weight": np.ones(HIDDEN, np.float32)}
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        for name, rows, columns in [("self_attn.q_proj", HEADS * HEAD_DIM, HIDDEN), ("self_attn.k_proj", KV_HEADS * HEAD_DIM, HIDDEN),
                                    ("self_attn.v_proj", KV_HEADS * HEAD_DIM, HIDDEN), ("self_attn.o_proj", HIDDEN, HEADS * HEAD_DIM),
                                    ("mlp.gate_proj", INNER, HIDDEN), ("mlp.up_proj", INNER, HIDDEN), ("mlp.down_proj", HIDDEN, INNER)]:
            w[layer + name + ".weight"] = normal(rows, columns)
        for name in ("input_layernorm", "post_attention_layernorm"):
            w[layer + name + ".weight"] = np.ones(HIDDEN, np.float32)
    head = np.zeros((vocab, HIDDEN), np.float32)
    spoken = [len(SPECIAL) + b for b in [10, *range(32, 127)]] + [SPECIAL.index("<|im_end|>")]
    head[spoken] = 4 * normal(len(spoken), HIDDEN)
    w["lm_head.weight"] = head
    return w

def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + tensor.nbytes]}
        data += tensor.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)

OUT.mkdir(parents=True, exist_ok=True)
vocab = {token: i for i, token in enumerate(SPECIAL + byte_letters())}
write_json("config.json", {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "dtype": "float32", "vocab_size": len(vocab), "hidden_size": HIDDEN,
    "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIM, "hidden_act": "silu", "max_position_embeddings": CONTEXT, "rms_norm_eps": 1e-6, "attention_bias": False,
    "mlp_bias": False, "tie_word_embeddings": False, "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
    "bos_token_id": 1, "eos_token_id": 2})
write_json("tokenizer.json", {
    "version": "1.0", "truncation": None, "padding": None,
    "added_tokens": [{"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                      "special": True} for i, token in enumerate(SPECIAL)],
    "normalizer": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
              "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab, "merges": []}})
write_json("tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|im_start|>", "eos_token": "<|im_end|>",
                                     "chat_template": TEMPLATE})
write_safetensors(OUT / "model.safetensors", weights(len(vocab)))
