#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quire beside llama.cpp on the same GGUF file, in one run: prefill (512 tokens), decode (64), and
what a process that answers with one token takes: time from its start to its end, and memory of its
own (mapped pages of files not counted).

The two take turns; each figure is the best of all rounds, and only ratios of one run are worth
quoting. Quire's decode is stated as a share, too: of the time that reading the weights once would
take, measured by quire_linear_bench.

    bench/beside_llama_cpp.py [--model FILE.gguf] [--dtype native] [--rounds 5]
"""
import json
import pathlib
import random
import re
import subprocess
import time

import llama_cpp

PROMPT = "The capital of France is"


def parse():
    parser = llama_cpp.parser(__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", default="native")
    parser.add_argument("--prefill", type=int, default=512)
    parser.add_argument("--decode", type=int, default=64)
    return parser.parse_args()


def llama(program, options):
    rows = json.loads(llama_cpp.run([program, "-m", options.model, "-t", options.threads,
                                     "-p", options.prefill, "-n", options.decode, "-r", "1",
                                     "-o", "json"]))
    return {"decode" if row["n_gen"] else "prefill": row["avg_ts"] for row in rows}


def quire(options):
    ids = random.Random(0).sample(range(1000, 40000), options.prefill)
    lines = [{"ids": ids, "max_new_tokens": 1, "prefix_cache": False},
             {"ids": ids[:1], "max_new_tokens": options.decode + 1, "ignore_eos": True,
              "prefix_cache": False}]
    text = "".join(json.dumps(line) + "\n" for line in lines * 2)
    out = llama_cpp.run([options.build / "bin/quire", "generate", options.model, "--jsonl", "--dtype",
               options.dtype, "--threads", options.threads], input=text)
    timings = [json.loads(line)["timings"] for line in out.splitlines()]
    return {"prefill": max(t["prefill_tokens_per_s"] for t in timings[0::2]),
            "decode": max(t["decode_tokens_per_s"] for t in timings[1::2])}


def one_token(command):
    """Seconds that the command takes, and the most MiB of its own that it is seen to have."""
    start = time.monotonic()
    most = 0
    with subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            own = re.search(r"^RssAnon:\s+(\d+)", status, re.MULTILINE)
            most = max(most, int(own[1]) if own else 0)
            time.sleep(0.002)
    return time.monotonic() - start, most / 1024


def stream_rate(options):
    """Bytes a second that the cores read, doing nothing else."""
    out = llama_cpp.run([options.build / "bin/quire_linear_bench", "--benchmark_filter=^stream",
               "--benchmark_format=json", "--benchmark_min_time=0.2"])
    return json.loads(out)["benchmarks"][0]["bytes_per_second"]


def main():
    options = parse()
    bench, simple = llama_cpp.build(options.peer, "llama-bench", "llama-simple")
    program = options.build / "bin/quire"
    weights = json.loads(llama_cpp.run([program, "inspect", options.model, "--json"]))["memory"]
    best = {"quire": {}, "llama.cpp": {}}
    least = {"quire": (1e9, 1e9), "llama.cpp": (1e9, 1e9)}
    rate = 0
    for _ in range(options.rounds):
        for name, measure, command in (
                ("quire", lambda: quire(options),
                 [program, "generate", options.model, "--prompt", PROMPT, "--max-new-tokens", "1",
                  "--dtype", options.dtype, "--threads", options.threads]),
                ("llama.cpp", lambda: llama(bench, options),
                 [simple, "-m", options.model, "-n", "1", PROMPT])):
            for key, value in measure().items():
                best[name][key] = max(value, best[name].get(key, 0))
            least[name] = tuple(map(min, least[name], one_token(command)))
        rate = max(rate, stream_rate(options))
    print(f"{pathlib.Path(options.model).name}, {options.dtype}, {options.threads} threads, "
          f"tokens a second, best of {options.rounds}")
    for key in ("prefill", "decode"):
        ours, theirs = best["quire"][key], best["llama.cpp"][key]
        print(f"{key:8} quire {ours:8.1f}   llama.cpp {theirs:8.1f}   ratio {ours / theirs:.2f}")
    for what, unit, ours, theirs in zip(("process", "memory"), ("s", "MiB"), *least.values()):
        print(f"{what:8} quire {ours:8.2f}   llama.cpp {theirs:8.2f}   ratio {ours / theirs:.2f}, {unit}")
    if options.dtype == weights["dtype"]:
        share = best["quire"]["decode"] * weights["weights"] / rate
        print(f"decode takes the time to read the weights once ({rate / 1e9:.1f} GB/s) over {share:.2f}")


if __name__ == "__main__":
    main()
