# SPDX-License-Identifier: Apache-2.0
"""Reference outputs of the real models that the tests and examples run on.

Usage: python make_smollm2.py SmolLM2.gguf MINILM_DIR CASES.json OUT.json   (needs torch, transformers, accelerate, gguf)

OUT.json:
  tokenizer        list of {text, ids, decoded} for SmolLM2's own tokenizer
  greedy           list of {prompt, ids, new_ids, text, cache_length, top5}: float32 weights dequantised from the GGUF file,
                   20 new tokens, no early stop at EOS; top5 = [[id, logit]...] at the last prompt position
  chat             list of {messages, add_generation_prompt, rendered, ids}
  chat_turns       the two-turn conversation of one growing DynamicCache: per turn prompt tokens in, cache length after
  embeddings       list of {text, ids, first8, norm}: MiniLM mean-pooled, unit-length
  pairs            list of {a, b, cosine}
"""
import sys, json, torch, transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, AutoModel, DynamicCache
import os
gguf, minilm, cases_file, out = sys.argv[1:5]
d, f = os.path.split(gguf)
tok = AutoTokenizer.from_pretrained(d, gguf_file=f)
m = AutoModelForCausalLM.from_pretrained(d, gguf_file=f, dtype=torch.float32).eval()
res = dict(transformers=transformers.__version__, torch=torch.__version__)
res["tokenizer"] = [dict(text=s, ids=(i := tok(s, add_special_tokens=False)["input_ids"]), decoded=tok.decode(i, skip_special_tokens=False, clean_up_tokenization_spaces=False)) for s in json.load(open(cases_file))]

PROMPTS = ["The capital of France is", "Once upon a time", "def fibonacci(n):", "Water boils at", "1, 2, 3, 4,", "The quick brown fox",
           "Q: What is the largest ocean?\nA:", "The meaning of the word \"cache\" is", "Dear Sir or Madam,", "In 1969, the first",
           "机器学习是", "import numpy as np\n", "\n", " ", "a"]
if len(sys.argv) > 5: PROMPTS = json.load(open(sys.argv[5]))["prompts"]
res["greedy"] = []
for p in PROMPTS:
    ids = tok(p, return_tensors="pt")["input_ids"]
    c = DynamicCache(config=m.config)
    with torch.no_grad():
        lg = m(ids).logits[0, -1]
        o = m.generate(ids, attention_mask=torch.ones_like(ids), past_key_values=c, do_sample=False, max_new_tokens=20, min_new_tokens=20, eos_token_id=None, pad_token_id=2)
    new = o[0, ids.shape[1]:].tolist()
    v, ix = lg.topk(5)
    res["greedy"].append(dict(prompt=p, ids=ids[0].tolist(), new_ids=new, text=tok.decode(new, clean_up_tokenization_spaces=False), cache_length=c.get_seq_length(), top5=[[int(i), round(float(x), 3)] for i, x in zip(ix, v)]))

CONV = [
    [dict(role="user", content="What is the capital of France?")],
    [dict(role="system", content="Today is Tuesday."), dict(role="user", content="What is the capital of France?")],
    [dict(role="user", content="Hi"), dict(role="assistant", content="Hello! How can I help?"), dict(role="user", content="Name one ocean.")],
]
res["chat"] = []
for c in CONV:
    for g in (False, True):
        r = tok.apply_chat_template(c, tokenize=False, add_generation_prompt=g)
        res["chat"].append(dict(messages=c, add_generation_prompt=g, rendered=r, ids=tok(r, add_special_tokens=False)["input_ids"]))

cache, msgs, turns = DynamicCache(config=m.config), [], []
for q in ["What is the capital of France?", "And its population?"]:
    msgs.append(dict(role="user", content=q))
    ids = tok(tok.apply_chat_template(msgs, tokenize=False, add_generation_prompt=True), return_tensors="pt")["input_ids"]
    with torch.no_grad():
        o = m.generate(ids, attention_mask=torch.ones_like(ids), past_key_values=cache, do_sample=False, max_new_tokens=64, eos_token_id=2, pad_token_id=2)
    new = o[0, ids.shape[1]:].tolist()
    text = tok.decode(new, skip_special_tokens=True)
    msgs.append(dict(role="assistant", content=text))
    turns.append(dict(question=q, tokens_in=ids.shape[1], new_ids=new, cache_now=cache.get_seq_length(), text=text))
res["chat_turns"] = turns

bt, bm = AutoTokenizer.from_pretrained(minilm), AutoModel.from_pretrained(minilm, dtype=torch.float32).eval()
def embed(s):
    e = bt(s, return_tensors="pt", truncation=True, max_length=256)
    with torch.no_grad():
        h = bm(**e).last_hidden_state[0].mean(0)
    return e["input_ids"][0].tolist(), h / h.norm()
TEXTS = ["How do I reset my password?", "How can I reset my password?", "Is the API rate limited?", "Is the API not rate limited?",
         "Refund policy for annual plans", "Refund policy for monthly plans", "什么是机器学习？", "机器学习是什么？", "如何学习Python？", "Python怎么学？", "今天天气怎么样？",
         "café naïve", "", "a " * 400]
if len(sys.argv) > 5: TEXTS = json.load(open(sys.argv[5]))["texts"]
E = {t: embed(t) for t in TEXTS}
res["embeddings"] = [dict(text=t, ids=i, first8=[round(float(x), 6) for x in v[:8]]) for t, (i, v) in E.items()]
PAIRS = [(0, 1), (2, 3), (4, 5), (0, 2), (6, 7), (8, 9), (6, 10), (8, 10)]
res["pairs"] = [dict(a=TEXTS[i], b=TEXTS[j], cosine=round(float(E[TEXTS[i]][1] @ E[TEXTS[j]][1]), 5)) for i, j in PAIRS if j < len(TEXTS)]
json.dump(res, open(out, "w"), ensure_ascii=False)
for g in res["greedy"][:3]: print(g["prompt"], "->", repr(g["text"]), g["cache_length"])
print([{k: t[k] for k in ("tokens_in", "cache_now", "text")} for t in turns]); print(res["pairs"])
print([(len(c["ids"]), c["add_generation_prompt"]) for c in res["chat"]])
