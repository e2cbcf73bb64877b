#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quire beside transformers on the same GGUF file, in one run: prefill of 512 tokens and decode.

The two take turns, each figure is the best of all rounds, and only ratios are worth quoting.
Needs a Python with torch and transformers (never needed by Quire itself):

    PYTHON bench/beside_transformers.py [--quire build/release/bin/quire] [--rounds 3] [--dtype bf16]
"""
import argparse
import json
import os
import pathlib
import subprocess
import time

import torch
from transformers import AutoModelForCausalLM

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
PREFILL = 512
DECODE = 32
PROMPT = [504, 3575, 282, 4649, 314]  # "The capital of France is"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    home = os.environ.get("QUIRE_HOME", os.path.expanduser("~/.cache/quire"))
    parser.add_argument("--model", default=os.path.join(home, "models/smollm2", FILE))
    parser.add_argument("--quire", default="build/release/bin/quire")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", choices=["bf16", "f32"], default="bf16")
    return parser.parse_args()


def quire(options, ids):
    lines = [{"ids": ids, "max_new_tokens": 1, "prefix_cache": False},
             {"ids": PROMPT, "max_new_tokens": DECODE, "ignore_eos": True, "prefix_cache": False}]
    command = [options.quire, "generate", options.model, "--jsonl", "--dtype", options.dtype,
               "--threads", str(options.threads)]
    text = "".join(json.dumps(line) + "\n" for line in lines * 2)
    out = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    answers = [json.loads(line) for line in out.splitlines()]
    return {"prefill": max(a["timings"]["prefill_tokens_per_s"] for a in answers[0::2]),
            "decode": max(a["timings"]["decode_tokens_per_s"] for a in answers[1::2]),
            "ids": answers[1]["ids"]}


@torch.no_grad()
def transformers(model, ids):
    prompt, short = torch.tensor([ids]), torch.tensor([PROMPT])
    start = time.perf_counter()
    model(prompt, logits_to_keep=1)
    prefill = PREFILL / (time.perf_counter() - start)
    cache, last, new = None, short, []
    for step in range(DECODE):
        if step == 1:
            start = time.perf_counter()
        out = model(last, past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache, last = out.past_key_values, out.logits[:, -1].argmax(-1, keepdim=True)
        new.append(last.item())
    return {"prefill": prefill, "decode": (DECODE - 1) / (time.perf_counter() - start), "ids": new}


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    path = pathlib.Path(options.model)
    dtype = torch.bfloat16 if options.dtype == "bf16" else torch.float32
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=dtype).eval()
    ids = torch.randint(3, 40000, (PREFILL,), generator=torch.Generator().manual_seed(0)).tolist()
    best = {"quire": {}, "transformers": {}}
    for _ in range(options.rounds):
        for name, run in (("quire", lambda: quire(options, ids)),
                          ("transformers", lambda: transformers(model, ids))):
            for key, value in run().items():
                best[name][key] = value if key == "ids" else max(value, best[name].get(key, 0))
    print(f"{options.dtype}, {options.threads} threads, tokens a second, best of {options.rounds}")
    for key in ("prefill", "decode"):
        ours, theirs = best["quire"][key], best["transformers"][key]
        print(f"{key:8} quire {ours:8.1f}   transformers {theirs:8.1f}   ratio {ours / theirs:.2f}")
    print("same greedy ids:", best["quire"]["ids"] == best["transformers"]["ids"])


if __name__ == "__main__":
    main()
