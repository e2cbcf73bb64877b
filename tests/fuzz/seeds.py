#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seeds.py FOLDER: the seed corpora of the fuzz targets, FOLDER/TARGET/*, made from tests/data.

Those named bad-* are valid files with one thing broken that no reader may let pass.
"""

import json
import pathlib
import random
import shutil
import struct
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
MOST_BROKEN = 8  # valid files of a target to break


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
    for count in (1, 2, 8):
        for _ in range(20):
            yield rng.randbytes(5 * count)
            yield rng.randbytes(5 * count - 2)


def cuts(whole):
    for sixteenths in (0, 4, 8, 12, 15):
        yield whole[:len(whole) * sixteenths // 16]


def broken_json(whole):
    yield from (whole.replace(b":", b" ", 1), whole.replace(b'"', b"'", 1), whole.replace(b",", b",,", 1))
    yield from (whole + b"}", b"[" + whole + b"]", b"\xff" + whole, whole[:-1] + b"]")


def with_number(whole, offset, number):
    return whole[:offset] + struct.pack("<Q", number) + whole[offset + 8:]


def broken_safetensors(whole):
    size = struct.unpack_from("<Q", whole)[0]  # of the header
    yield from (with_number(whole, 0, wrong) for wrong in (0, size - 1, size + 1, 1 << 40, 1 << 63))
    yield from (whole + b"\0", whole[:8] + b"[" + whole[9:])


def broken_gguf(whole):
    yield from (b"GGUX" + whole[4:], whole[:4] + b"\xff" * 4 + whole[8:], b"\0" + whole)
    tensors, keys = struct.unpack_from("<QQ", whole, 8)
    for offset, number in ((8, tensors), (16, keys)):
        yield from (with_number(whole, offset, wrong) for wrong in (number + 1, 1 << 40, 1 << 63))


def broken_sentencepiece(whole):
    # The first piece: its wire type, its length.
    yield from (b"\x0f" + whole[1:], whole[:1] + b"\xff" * 9 + whole[2:])


# Valid files, and what breaks them.
BREAKABLE = {
    "gguf": ("malformed/gguf/ok-*.gguf", broken_gguf),
    "safetensors": ("malformed/safetensors/ok-*/model.safetensors", broken_safetensors),
    "index": ("malformed/index/ok-*/model.safetensors.index.json", broken_json),
    "config": ("malformed_config/ok-*/config.json", broken_json),
    "tokenizer_json": ("tokenizers/*/tokenizer.json", broken_json),
    "sentencepiece": ("tokenizers/*/tokenizer.model", broken_sentencepiece),
}


def bad_inputs(target):
    if target == "snapshot":
        yield from edits()
    pattern, broken = BREAKABLE.get(target, (None, None))
    for path in sorted(DATA.glob(pattern))[:MOST_BROKEN] if pattern else ():
        whole = path.read_bytes().strip() if broken is broken_json else path.read_bytes()
        yield from cuts(whole)
        yield from broken(whole)


def main():
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    corpora = {target: files_named(pattern) for target, pattern in BY_NAME.items()}
    corpora.update(template=templates(), text=texts(), snapshot=[b""])
    for target, seeds in corpora.items():
        folder = out / target
        folder.mkdir(parents=True)
        for prefix, inputs in (("", seeds), ("bad-", bad_inputs(target))):
            for number, seed in enumerate(sorted(set(inputs))):
                (folder / f"{prefix}{number:04}").write_bytes(seed)
        if not any(folder.iterdir()):
            sys.exit(f"seeds: none for {target}")


if __name__ == "__main__":
    main()
