#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quire's tokenizers beside Hugging Face's on the same tokenizer.json files and the same 5 MB.

The two take turns, one thread each, and the best of all rounds counts, in processor time. The text
is the fixtures of tests/data, repeated with growing numbers between so that no two parts are equal.
Needs a Python with tokenizers (never needed by Quire itself):

    PYTHON bench/beside_tokenizers.py [--program build/release/bin/quire_tokenize] [FOLDER...]
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402

DATA = pathlib.Path(__file__).parent.parent / "tests/data"


def text(megabytes):
    cases = json.loads((DATA / "tokenizers/bytelevel-gpt2/golden.json").read_text())["cases"]
    some = [(DATA / "manual.txt").read_text()] + [case["text"] for case in cases]
    parts, size = [], 0
    while size < megabytes * 1_000_000:
        part = f"{some[len(parts) % len(some)]}\n{len(parts)}\n"
        parts.append(part)
        size += len(part.encode())
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--program", default="build/release/bin/quire_tokenize")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=5)
    options = parser.parse_args()
    folders = options.folders or sorted(
        file.parent for file in DATA.glob("tokenizers/*/tokenizer.json"))
    whole = text(options.megabytes)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(whole)
        file.flush()
        for folder in folders:
            theirs, ours, tokenizer = 0, 0, Tokenizer.from_file(str(folder / "tokenizer.json"))
            for _ in range(options.rounds):
                start = time.process_time()
                count = len(tokenizer.encode(whole, add_special_tokens=False).ids)
                theirs = max(theirs, len(whole.encode()) / 1e6 / (time.process_time() - start))
                speed, ids = subprocess.run(
                    [options.program, str(folder), file.name, "1"], capture_output=True, text=True,
                    check=True).stdout.split()
                ours = max(ours, float(speed))
                assert int(ids) == count, f"{folder}: {ids} ids, {count} expected"
            print(f"{folder.name:28} {ours:7.2f} MB/s, tokenizers {theirs:7.2f}: "
                  f"{ours / theirs:5.1f}x", flush=True)


if __name__ == "__main__":
    main()
