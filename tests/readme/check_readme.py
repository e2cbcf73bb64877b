#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_readme.py ROOT PROGRAMS: README.md does what it says.

Every block marked ```sh is run by bash in a scratch copy of the tree, with the folder PROGRAMS first
on PATH; a command that ends with another status than 0 is a failure. The only commands not run are
those that ELSEWHERE names, and each of them is listed in the output; what can be said of them
without running them (scripts, presets) is checked. In the text, `quire COMMAND --option` must be a
command and an option that there are, and paths and links must lead somewhere.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ELSEWHERE = [
    (r"examples/quickstart\.sh|tests/run\.sh|cmake/setup\.sh|cmake\b|ctest\b",
     "sets up, builds or tests: what this test is a part of"),
    (r"(c|g)\+\+ .*pkg-config", "tests/consumers does this with what it installs"),
    (r"sudo\b|apt-get\b|git clone\b", "needs root or a network"),
    (r"quire serve\b|curl .*(localhost|127\.0\.0\.1)", "goes on until it is ended: tests/server"),
]
TIMEOUT_S = 600


def blocks(text):
    return re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(block):
    """The block's commands with their comments; lines that go on are one command."""
    found, open_command = [], ""
    for line in block.splitlines():
        open_command += line + "\n"
        code = re.sub(r"\s+#.*$", "", line).rstrip()
        if code and not code.endswith(("\\", "|", "&&")):
            found.append(open_command)
            open_command = ""
    return found + ([open_command] if open_command.strip() else [])


def elsewhere(command):
    for pattern, reason in ELSEWHERE:
        if re.match(pattern, command.strip()):
            return reason
    return None


def check_unrun(root, command):
    """What can be wrong with a command that is not run."""
    words = re.sub(r"\s+#.*$", "", command, flags=re.MULTILINE).split()
    script = root / words[0]
    if "/" in words[0] and not (script.is_file() and script.stat().st_mode & 0o100):
        yield f"{words[0]}: there is no such program"
    for option, preset in zip(words, words[1:]):
        if option == "--preset":
            presets = json.loads((root / "CMakePresets.json").read_text())
            kind = {"ctest": "testPresets", "cmake": "configurePresets"}[words[0]]
            if preset not in [p["name"] for p in presets[kind]]:
                yield f"{preset}: there is no such preset"


def run_block(root, programs, block):
    kept = []
    for command in commands(block):
        reason = elsewhere(command)
        if reason:
            print(f"not run: {command.strip()}\n         ({reason})")
            yield from check_unrun(root, command)
        else:
            kept.append(command)
    if not kept:
        return
    script = "".join(kept)
    print(f"run:     {script.strip()}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch, "tree")
        shutil.copytree(root, tree, symlinks=True, ignore=shutil.ignore_patterns("build", ".git"))
        outcome = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f'PATH="{programs}:$PATH"\n{script}'], cwd=tree,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=TIMEOUT_S)
    print("         " + outcome.stdout.strip()[-2000:].replace("\n", "\n         "))
    if outcome.returncode != 0:
        yield f"ended with status {outcome.returncode}:\n{script}"


def help_of(programs, *words):
    return subprocess.run([f"{programs}/quire", *words, "--help"], capture_output=True, text=True,
                          check=False).stdout


def check_spans(programs, text):
    """`quire COMMAND --option`, wherever it stands in the text."""
    names = re.findall(r"^  ([a-z]+) ", help_of(programs).split("Subcommands:")[-1], re.MULTILINE)
    for span in re.findall(r"`quire ([a-z][^`]*)`", " ".join(text.split("\n"))):
        name, *words = span.split()
        if name not in names:
            yield f"quire {name}: there is no such command"
            continue
        known = set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", help_of(programs, name)))
        for word in words:
            if word.startswith("-") and word not in known:
                yield f"quire {name} has no option {word}"


def check_paths(root, text):
    folders = "|".join(sorted(p.name for p in root.iterdir() if p.is_dir() and p.name != "build"))
    spans = re.findall(rf"`((?:{folders})/[\w./-]*)[^`]*`", text)
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    for path in spans + links:
        if not (root / path).exists():
            yield f"{path}: there is no such file"


def check(root, programs):
    text = (root / "README.md").read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    faults = [*check_spans(programs, prose), *check_paths(root, prose)]
    found = blocks(text)
    if not found:
        faults.append("README.md has no ```sh block")
    for block in found:
        faults += run_block(root, programs, block)
    return faults


if __name__ == "__main__":
    wrong = check(pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve()))
    print("\n".join(f"FAULT: {fault}" for fault in wrong))
    sys.exit(1 if wrong else 0)
