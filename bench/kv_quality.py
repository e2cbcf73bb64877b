#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What quantised keys and values cost: Quire's QuantizedCache beside transformers' own.

Each is compared with its own float32 cache on the same text, token by token: mean KL divergence of
the next token's distribution, how often the likeliest token is the same, and bytes at 1,024 tokens
as a share of bfloat16. Needs a Python with torch, transformers and optimum-quanto (never needed by
Quire itself):

    PYTHON bench/kv_quality.py [--program build/release/bin/quire_kv_quality] [--nbits 4]
"""
import argparse
import os
import pathlib
import subprocess

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, QuantizedCache

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
TEXT = pathlib.Path(__file__).parent.parent / "tests/data/manual.txt"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    home = os.environ.get("QUIRE_HOME", os.path.expanduser("~/.cache/quire"))
    parser.add_argument("--model", default=os.path.join(home, "models/smollm2", FILE))
    parser.add_argument("--program", default="build/release/bin/quire_kv_quality")
    parser.add_argument("--backend", choices=["quanto", "hqq"], default="quanto")
    parser.add_argument("--nbits", type=int, default=4)
    parser.add_argument("--new-tokens", type=int, default=200)
    # Of transformers' cache, whose defaults these are.
    parser.add_argument("--q-group-size", type=int, default=64)
    parser.add_argument("--residual-length", type=int, default=128)
    return parser.parse_args()


def tensors(value, seen):
    """All tensors inside of a cache, packed ones by what they hold. `seen` keeps what it has seen
    alive: the id of what is gone would come again."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    inner = [getattr(value, name) for name in ("_data", "_scale", "_shift") if hasattr(value, name)]
    if isinstance(value, torch.Tensor) and not inner:
        yield value
    elif inner:
        for part in inner:
            yield from tensors(part, seen)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors(part, seen)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()), seen)
    elif hasattr(value, "__dict__"):
        yield from tensors(vars(value), seen)


def stored_bytes(cache):
    """With its floats as those of a bfloat16 model."""
    return sum(t.numel() * (2 if t.is_floating_point() else t.element_size())
               for t in tensors(cache.layers, {}))


@torch.no_grad()
def transformers(options):
    folder, name = os.path.split(options.model)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    ids = tokenizer(TEXT.read_text(), add_special_tokens=False).input_ids
    given, config = len(ids), model.config
    coded = QuantizedCache(options.backend, config, nbits=options.nbits,
                           q_group_size=options.q_group_size,
                           residual_length=options.residual_length)
    exact = DynamicCache(config=config)
    kl, agreed, size = [], [], None
    for at in range(given + options.new_tokens):
        token = torch.tensor([[ids[at]]])
        p = model(token, past_key_values=exact).logits[0, -1].log_softmax(-1)
        q = model(token, past_key_values=coded).logits[0, -1].log_softmax(-1)
        kl.append((p.exp() * (p - q)).sum().item())
        agreed.append((p.argmax() == q.argmax()).item())
        if at + 1 == len(ids):
            ids.append(p.argmax().item())
        if at + 1 == 1024:
            heads = config.num_key_value_heads * config.head_dim
            size = stored_bytes(coded) / (1024 * 2 * 2 * heads * config.num_hidden_layers)
    tail = slice(given - 1, None)
    mean = lambda values: sum(values) / len(values)
    print(f"transformers {options.backend}, {options.nbits} bits: "
          f"everywhere {mean(kl):.6f} {100 * mean(agreed):.1f} %, "
          f"continued {mean(kl[tail]):.6f} {100 * mean(agreed[tail]):.1f} %, "
          f"bytes / bf16 {size:.3f}")


if __name__ == "__main__":
    arguments = parse()
    subprocess.run([arguments.program, arguments.model, str(TEXT), str(arguments.new_tokens)],
                   check=True)
    transformers(arguments)
