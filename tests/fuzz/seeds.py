#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seeds.py FOLDER: the seed corpora of the fuzz targets, FOLDER/TARGET/*, made from tests/data."""

import json
import pathlib
import random
import shutil
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"

# Targets whose seeds are the files of a name.
BY_NAME = {
    "gguf": "*.gguf",
    "safetensors": "*.safetensors",
    "index": "*.index.json",
    "config": "config.json",
    "tokenizer_json": "tokenizer.json",
    "sentencepiece": "tokenizer.model",
}
LARGEST = 1 << 18  # bytes; mutations of larger files seldom reach anything


def files_named(pattern):
    for path in sorted(DATA.rglob(pattern)):
        if path.is_file() and path.stat().st_size <= LARGEST:
            yield path.read_bytes()


def templates():
    golden = json.loads((DATA / "templates" / "templates.json").read_text("utf-8"))
    for entry in golden["templates"] + golden["chat_templates"]:
        yield entry["template"].encode()
    for entry in json.loads((DATA / "templates" / "malformed.json").read_text("utf-8")):
        config = entry["files"].get("tokenizer_config.json", "")
        try:
            source = json.loads(config).get("chat_template")
        except ValueError:
            continue
        if isinstance(source, str):
            yield source.encode("utf-8", "surrogatepass")


def texts():
    for path in sorted(DATA.glob("tokenizers/*/golden.json")):
        for case in json.loads(path.read_text("utf-8"))["cases"]:
            yield case["text"].encode("utf-8", "surrogatepass")
    rng = random.Random(1)
    for size in (1, 7, 40, 300):
        yield rng.randbytes(size)


def edits():
    rng = random.Random(2)
    yield b""
    for count in (1, 2, 8):
        for _ in range(20):
            yield rng.randbytes(5 * count)
            yield rng.randbytes(5 * count - 2)


def main():
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    corpora = {target: files_named(pattern) for target, pattern in BY_NAME.items()}
    corpora.update(template=templates(), text=texts(), snapshot=edits())
    for target, seeds in corpora.items():
        folder = out / target
        folder.mkdir(parents=True)
        distinct = sorted(set(seeds))
        for number, seed in enumerate(distinct):
            (folder / f"{number:04}").write_bytes(seed)
        if not distinct:
            sys.exit(f"seeds: none for {target}")


if __name__ == "__main__":
    main()
