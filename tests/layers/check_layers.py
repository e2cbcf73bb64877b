#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_layers.py ROOT: the rules of this source tree that a compiler does not check.

Prints one line for each violation, and exits 1 if there is any. The table of who may include whom
is read from src/README.md; a folder may list only folders above it, so the layers have no cycle.
"""
import os
import pathlib
import re
import sys

MAX_LINES = 400
MAX_PUBLIC_HEADER_LINES = 200
BANNED_FOLDERS = {"util", "utils", "common", "helpers", "base", "misc"}
BANNED_HEADERS = {"torch/torch.h", "ATen/ATen.h"}
# The library never prints, never ends the process and never reads the environment.
BANNED_CALLS = re.compile(r"std::(?:cout|cerr|clog)\b|\b(?:v?f?printf|puts|abort|_?exit|getenv)\s*\(")
COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
TABLE_ROW = re.compile(r"^\| *([a-z_]+) *\|([a-z_ ]*)\|", re.MULTILINE)


def read_table(root, report):
    """The folders of src/ and what each may include, itself included."""
    allowed = {}
    readme = root / "src/README.md"
    for folder, others in TABLE_ROW.findall(readme.read_text(encoding="utf-8")):
        if folder == "folder":  # the heading
            continue
        for other in others.split():
            if other not in allowed:
                report(readme, f"{folder} lists {other}, which is not a row above it")
        allowed[folder] = {folder, *others.split()}
    for path in sorted((root / "src").iterdir()):
        if path.is_dir() and path.name not in allowed:
            report(path, "has no row in the table of src/README.md")
    return allowed


def check_include(root, path, mark, name, allowed, report):
    area, folder = path.relative_to(root).parts[:2]
    if name in BANNED_HEADERS:
        report(path, f"includes <{name}>: one <ATen/ops/x.h> for each operator instead")
    if name.startswith("quire/"):
        if mark == '"':
            report(path, f'includes "{name}": public headers go in angle brackets')
        if not (root / "include" / name).is_file():
            report(path, f"includes <{name}>, which is no public header")
    elif area == "include":
        if mark == '"' or "/" in name or "." in name:
            report(path, f"includes {name}: public headers include only <quire/…> and C++'s own")
    elif mark == '"' and area == "examples":
        places = (path.parent, root / area / folder, root / area)
        if not any((place / name).is_file() for place in places):
            report(path, f'includes "{name}": examples use public headers only')
    elif mark == '"':
        below = name.split("/")[0]
        if below in allowed:
            if below not in allowed.get(folder, allowed):
                report(path, f'includes "{name}", but the table does not let {folder} do so')
        elif area == "src" or ".." in name:
            report(path, f'includes "{name}", which does not begin with a folder of src/')


def check_file(root, path, allowed, report):
    text = path.read_text(encoding="utf-8")
    area = path.relative_to(root).parts[0]
    lines = text.count("\n")
    limit = MAX_PUBLIC_HEADER_LINES if area == "include" else MAX_LINES
    if lines > limit:
        report(path, f"has {lines} lines; {limit} are allowed")
    if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
        report(path, "does not begin with the SPDX line")
    for mark, name in INCLUDE.findall(text):
        check_include(root, path, mark, name, allowed, report)
    if area in ("src", "include"):
        code = COMMENT_OR_STRING.sub(lambda match: "\n" * match[0].count("\n"), text)
        for match in BANNED_CALLS.finditer(code):
            line = code.count("\n", 0, match.start()) + 1
            report(path, f"line {line} calls {match[0].strip(' (')}: not in a library")


def check(root):
    """The violations below `root`, as lines of text."""
    root = pathlib.Path(root)
    violations = []

    def report(path, problem):
        violations.append(f"{path.relative_to(root)}: {problem}")

    allowed = read_table(root, report)
    for area in ("include", "src", "tests", "examples", "bench"):
        for folder, folders, files in os.walk(root / area):
            for name in BANNED_FOLDERS.intersection(folders):
                report(pathlib.Path(folder, name), "says nothing: name a folder for what it does")
            for name in files:
                if name.endswith((".h", ".cc")):
                    check_file(root, pathlib.Path(folder, name), allowed, report)
    return violations


if __name__ == "__main__":
    found = check(sys.argv[1])
    print("\n".join(found))
    sys.exit(1 if found else 0)
