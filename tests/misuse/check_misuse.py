#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_misuse.py COMPILER INCLUDE: the compiler refuses what each file of this folder does wrong.

A file names in its line `// refused: REGEX` what the compiler says, and marks with `// misuse` the
line that it is about: with that line it must not compile, and say so; without, it must.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def compile_text(command, text):
    outcome = subprocess.run(command, input=text, capture_output=True, text=True, check=False,
                             env={**os.environ, "LC_ALL": "C"})
    return outcome.returncode == 0, outcome.stderr


def faults(command, path):
    text = path.read_text(encoding="utf-8")
    refused = re.search(r"^// refused: (.+)$", text, re.MULTILINE)
    right = "".join(line for line in text.splitlines(True) if "// misuse" not in line)
    if not refused or right == text:
        yield f"{path.name}: has no `// refused: REGEX`, or no line marked `// misuse`"
        return
    compiles, said = compile_text(command, text)
    if compiles:
        yield f"{path.name}: compiles"
    elif not re.search(refused[1], said):
        yield f"{path.name}: expected '{refused[1]}', the compiler said\n{said}"
    compiles, said = compile_text(command, right)
    if not compiles:
        yield f"{path.name}: does not compile without its misuse either:\n{said}"


def main(compiler, include):
    paths = sorted(pathlib.Path(__file__).parent.glob("*.cc"))
    language = ["-std=c++20", "-Werror=unused-result", f"-I{include}", "-x"]
    with tempfile.TemporaryDirectory() as folder:
        everything = pathlib.Path(folder, "everything.h")  # compiled once for all of them
        everything.write_text("#include <quire/quire.h>\n", encoding="utf-8")
        subprocess.run([compiler, *language, "c++-header", everything], check=True)
        command = [compiler, *language, "c++", "-fsyntax-only", "-include", everything, "-"]
        wrong = [fault for path in paths for fault in faults(command, path)]
    print("\n".join(wrong) or f"{len(paths)} misuses are refused")
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
