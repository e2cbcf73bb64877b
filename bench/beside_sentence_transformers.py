#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quire beside sentence-transformers on the same encoder, in one run: one question of 16 tokens.

The two take turns, each figure is the best of all rounds, and only the ratio is worth quoting.
Needs a Python with sentence-transformers (never needed by Quire itself):

    PYTHON bench/beside_sentence_transformers.py [--bench build/release/bin/quire_semantic_bench]
"""
import argparse
import json
import os
import subprocess
import time

import torch
from sentence_transformers import SentenceTransformer

QUESTION = "How do I change the address of an order that is already placed?"
REPEATS = 50


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    home = os.environ.get("QUIRE_HOME", os.path.expanduser("~/.cache/quire"))
    parser.add_argument("--model", default=os.path.join(home, "models/minilm"))
    parser.add_argument("--bench", default="build/release/bin/quire_semantic_bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def quire(options):
    command = [options.bench, f"--model={options.model}", "--benchmark_filter=embed",
               f"--benchmark_repetitions={REPEATS // 10}", "--benchmark_min_time=0.1",
               "--benchmark_format=json"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return min(run["real_time"] for run in json.loads(out)["benchmarks"]
               if run["run_type"] == "iteration")


def sentence_transformers(model):
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        model.encode(QUESTION)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    model = SentenceTransformer(options.model, device="cpu")
    best = {"quire": float("inf"), "sentence-transformers": float("inf")}
    for _ in range(options.rounds):
        best["quire"] = min(best["quire"], quire(options))
        best["sentence-transformers"] = min(best["sentence-transformers"],
                                            sentence_transformers(model))
    for name, ms in best.items():
        print(f"{name:24} {ms:8.2f} ms")
    print(f"ratio {best['sentence-transformers'] / best['quire']:.2f}")


if __name__ == "__main__":
    main()
