#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions as they arrive, through a semantic cache: how many hits, and how many of them right.

A stream is tab-separated, plain or gzip, with one header line: a text and what it is about (its
intent). Each text is looked up; what misses is stored. A hit is right when the entry has the same
intent. `quire semantic` does the work.

    bench/arrival_stream.py STREAM.tsv[.gz]... [--threshold 0.9] [--quire build/release/bin/quire]
"""
import argparse
import gzip
import json
import subprocess


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("streams", nargs="+")
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--quire", default="build/release/bin/quire")
    return parser.parse_args()


def read(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        next(file)
        return [line.rstrip("\n").replace("\\t", "\t").replace("\\n", "\n").rsplit("\t", 1)
                for line in file]


def replay(options, stream, guards):
    cache = subprocess.Popen([options.quire, "semantic", options.model, "--jsonl"], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(**query):
        cache.stdin.write(json.dumps(query) + "\n")
        cache.stdin.flush()
        return json.loads(cache.stdout.readline())

    hits = right = 0
    for text, intent in stream:
        found = ask(op="lookup", prompt=text, threshold=options.threshold, guards=guards,
                    unknown_tokens="allow")
        if found["hit"]:
            hits += 1
            right += found["response"] == intent
        else:
            ask(op="store", prompt=text, response=intent)
    cache.stdin.close()
    cache.wait()
    return hits, right


def main():
    options = parse()
    for path in options.streams:
        stream = read(path)
        for guards in (False, True):
            hits, right = replay(options, stream, guards)
            print(f"{path} at {options.threshold}, guards {'on' if guards else 'off'}: "
                  f"{len(stream)} texts, {100 * hits / len(stream):.1f} % hits, "
                  f"{100 * right / max(hits, 1):.1f} % of them right", flush=True)


if __name__ == "__main__":
    main()
