"""Write rope.json: cosines and sines that transformers computes for each rope scaling, length and position.

Usage: make_rope.py FILE      (needs torch, transformers)
"""
import json, sys
import torch, transformers as T
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.phi3.modeling_phi3 import Phi3RotaryEmbedding

SIZES = dict(hidden_size=64, num_attention_heads=4, num_hidden_layers=1, vocab_size=32, intermediate_size=32)
R = lambda **kw: dict(rope_parameters=kw)
short, long = [1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0], [1.0, 1.5, 2.5, 4.0, 8.0, 16.0, 24.0, 32.0]
CASES = [
    ("llama", 512, R(rope_type="default", rope_theta=10000.0)),
    ("llama", 8192, R(rope_type="default", rope_theta=500000.0)),
    ("llama", 512, R(rope_type="linear", rope_theta=10000.0, factor=2.5)),
    ("llama", 64, R(rope_type="dynamic", rope_theta=10000.0, factor=3.0)),
    ("llama", 8192, R(rope_type="llama3", rope_theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=256)),
    ("llama", 512, R(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=128)),
    ("llama", 512, R(rope_type="yarn", rope_theta=1000.0, factor=8.0, original_max_position_embeddings=64, beta_fast=24.0, beta_slow=2.0, truncate=False)),
    ("llama", 512, R(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=128, mscale=0.9, mscale_all_dim=0.5)),
    ("llama", 512, R(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=128, attention_factor=0.7)),
    ("llama", 512, R(rope_type="longrope", rope_theta=10000.0, factor=8.0, original_max_position_embeddings=64, short_factor=short, long_factor=long)),
    ("llama", 512, R(rope_type="longrope", rope_theta=10000.0, attention_factor=1.25, original_max_position_embeddings=64, short_factor=short, long_factor=long)),
    ("phi3", 512, dict(original_max_position_embeddings=64, **R(rope_type="longrope", rope_theta=10000.0, partial_rotary_factor=0.5, short_factor=short[:4], long_factor=long[:4]))),
    ("phi3", 512, R(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.75)),
]
result = []
for kind, context, extra in CASES:
    given = json.loads(json.dumps(dict(model_type=kind, max_position_embeddings=context, head_dim=16, **extra)))
    cfg = (T.LlamaConfig if kind == "llama" else T.Phi3Config)(max_position_embeddings=context, **SIZES, **extra)
    rows = []
    for position, length in [(0, 1), (1, 2), (17, 18), (40, 64), (5, 65), (64, 65), (100, 200), (300, 301)]:
        rope = (LlamaRotaryEmbedding if kind == "llama" else Phi3RotaryEmbedding)(cfg)
        cos, sin = rope(torch.zeros(1), torch.arange(length)[None])
        n = cos.shape[-1] // 2
        rows.append(dict(position=position, length=length, cos=cos[0, position, :n].tolist(), sin=sin[0, position, :n].tolist()))
    result.append(dict(config=given, rows=rows))
json.dump(result, open(sys.argv[1], "w"))
