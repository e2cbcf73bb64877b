#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tried.py [--minutes N] [--mixed BUILD] [BUILD]: what has been tried against Quire, in numbers.

Runs the tests that count what they try, of the build folder BUILD (build/dev), and prints README's
table of what they printed; the mixed load for N minutes (default 1) from the other one, if named
(build/tsan). The rows of fuzz targets come from the logs of the latest tests/fuzz/run.sh. The first
test that fails ends this with its output.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data"
# The broken files that come with a manifest, and the tests that go through it.
MANIFESTS = ("malformed", "malformed/tokenizer", "malformed_config")
CHECKED_BY = ("formats", "model", "text")


def run(*command):
    if not pathlib.Path(command[0]).is_file() and not shutil.which(command[0]):
        sys.exit(f"there is no {command[0]}; build first: cmake/build.sh dev")
    done = subprocess.run([str(word) for word in command], cwd=ROOT, text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{command[0]}: ended with status {done.returncode}")
    return done.stdout


def numbers(pattern, text):
    """What the pattern's groups match, each one's sum; at least one match must be there."""
    found = [match.groups() for match in re.finditer(pattern, text, re.MULTILINE)]
    if not found:
        sys.exit(f"{text}\nexpected a line like {pattern}")
    return [sum(column) for column in zip(*(map(int, groups) for groups in found))]


def fuzzing():
    for log in sorted((ROOT / "build/fuzz").glob("*.log")):
        done = re.findall(r"^fuzzed: (\d+) executions, (\d+) edges, (\d+) processor seconds$",
                          log.read_text(errors="replace"), re.MULTILINE)
        if done:
            runs, edges, seconds = map(int, done[-1])
            findings = list((ROOT / "build/fuzz/findings" / log.stem).glob("*"))
            yield (f"libFuzzer, target {log.stem}, {seconds / 60:.0f} processor minutes",
                   "`tests/fuzz/run.sh`",
                   f"{runs:,} executions, {edges:,} edges: {len(findings)} findings")


def bad_inputs(programs):
    for folder in CHECKED_BY:
        run(programs / f"quire_{folder}_test", "--gtest_filter=*Malformed*")
    manifests = [json.loads((DATA / name / "manifest.json").read_text()) for name in MANIFESTS]
    bad = sum(entry["expect"] == "error" for entries in manifests for entry in entries)
    templates = json.loads((DATA / "templates/malformed.json").read_text())
    bad += sum("expected" not in entry for entry in templates)
    with tempfile.TemporaryDirectory() as seeds:
        run(sys.executable, "-B", ROOT / "tests/fuzz/seeds.py", seeds)
        replays = "".join(
            run(programs / f"quire_fuzz{'_server' * (target.name == 'server')}_replay", target.name,
                target) for target in sorted(pathlib.Path(seeds).iterdir()))
    inputs, broken = numbers(r"^\w+: (\d+) inputs, (\d+) bad ones refused$", replays)
    yield ("bad model, tokenizer, template and snapshot files, bad requests to the server", "the tests named `Malformed`, "
           "`tests/fuzz/seeds.py`", f"{bad + broken:,}: each refused with a typed error")
    yield "inputs through ten fuzz targets", "`tests/fuzz`", f"{inputs:,}: no finding"


def faults(programs):
    survived = r"^\w+: (\d+) faults survived$"
    count, = numbers(survived, run(programs / "quire_faults_test"))
    yield ("calls of the system (open, read, write, sync, rename, mmap), of SQLite and of `operator "
           "new` failing one by one in loading, converting, generating, every KV cache, sessions, "
           "snapshots, documents, and the prefix, prompt and semantic caches with their files; clocks "
           "that jump", "`tests/faults`",
           f"{count:,} faults: a typed error or the right answer, no file or page lost")
    count, = numbers(survived, run(programs / "quire_faults_redis_test"))
    yield ("calls on the lines to a Redis failing one by one, and `operator new`, behind the prefix "
           "and the answer cache", "`tests/faults/redis_faults_test.cc`",
           f"{count:,} faults: the right answer each time")


def kills(programs):
    killed, stored, lost, wrong, refused = numbers(
        r"^crash: (\d+) kills, (\d+) entries reported stored .*, (\d+) lost, (\d+) wrong, (\d+) files",
        run(programs / "quire_crash", "200"))
    yield ("`kill -9` at random moments of generating, storing and saving", "`tests/crash`",
           f"{killed} kills, {stored:,} entries reported stored: {lost} lost, {wrong} wrong answers, "
           f"{refused} files refused")


def mixed(programs, minutes):
    turns, worked = 0, 0
    end = time.monotonic() + 60 * minutes
    while turns == 0 or time.monotonic() < end:
        more = numbers(r"^mixed: (\d+) turns, (\d+) thread-ms$", run(
            "setarch", "-R", "env", "TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1",
            programs / "quire_generate_test", "--gtest_filter=Mixed.*", "--gtest_repeat=5"))
        turns, worked = turns + more[0], worked + more[1]
    yield (f"16 threads that do everything at once ({programs.parent.name})",
           "`tests/generate/mixed_test.cc`",
           f"{turns:,} turns in {worked / 3.6e6:.2f} thread-hours: no wrong answer")


def memcheck(programs):
    numbers(r"ERROR SUMMARY: (0) errors", run(ROOT / "tests/memcheck/run.sh", programs / "quire_main_flow"))
    yield ("load, generate, snapshot, fork under valgrind", "`tests/memcheck`", "no error, no leak")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build/dev", type=pathlib.Path)
    parser.add_argument("--mixed", metavar="BUILD", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=1)
    asked = parser.parse_args()
    programs = (asked.build / "bin").resolve()
    load = ((asked.mixed or asked.build) / "bin").resolve()
    print("| what | how | result |\n| --- | --- | --- |")
    for rows in (bad_inputs(programs), faults(programs), kills(programs), memcheck(programs),
                 mixed(load, asked.minutes), fuzzing()):
        for row in rows:
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
