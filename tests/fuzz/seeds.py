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


def call(path, body):
    return f"{path}\n{json.dumps(body, ensure_ascii=False)}".encode()


USER = {"role": "user", "content": "Hi there"}
PART = {"type": "text", "text": "Some text", "cache_control": {"type": "ephemeral", "ttl": "5m"}}
CHAT, TEXTS, VECTORS, MESSAGES = (
    "v1/chat/completions", "v1/completions", "v1/embeddings", "v1/messages")


def calls():
    """Every endpoint, every field that one of them reads."""
    chat = {"model": "tiny", "messages": [{"role": "system", "content": [PART]}, USER],
            "max_tokens": 3}
    more = {"temperature": 0.7, "top_p": 0.9, "top_k": 5, "min_p": 0.01, "seed": 7, "n": 2,
            "stop": ["x", "\n"], "repetition_penalty": 1.1, "logprobs": True, "top_logprobs": 2,
            "user": "u", "cache_salt": "s", "ignore_eos": True}
    tools = {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}
    yield from (call(CHAT, body) for body in (
        chat, chat | more, chat | tools, chat | {"stream": True},
        chat | {"stream": True, "stream_options": {"include_usage": True}, "n": 2},
        chat | {"semantic": True}, chat | {"messages": [USER, {"role": "assistant", "content": "é"},
                                                         {"role": "tool", "content": "1"}, USER]}))
    text = {"model": "tiny", "prompt": "Once", "max_tokens": 3}
    yield from (call(TEXTS, body) for body in (
        text, text | {"prompt": [5, 6, 7]}, text | {"prompt": ["a", "b"], "echo": True},
        text | {"logprobs": 2, "stop": "e"}, text | {"stream": True, "suffix": ""}))
    yield call(VECTORS, {"model": "tiny-embedder", "input": ["one", "two"]})
    yield call(VECTORS, {"input": "one", "encoding_format": "base64", "dimensions": 8})
    message = {"model": "tiny", "max_tokens": 3, "system": [PART],
               "messages": [{"role": "user", "content": [PART, PART | {"text": "More"}]}]}
    yield from (call(MESSAGES, body) for body in (
        message, message | {"stream": True}, message | {"system": "Be brief.", "temperature": 0},
        message | {"stop_sequences": ["x"], "top_k": 3, "metadata": {"user_id": "u"}}))
    yield call(f"{MESSAGES}/count_tokens", {"model": "tiny", "messages": [USER]})
    yield from (path.encode() for path in ("", "health", "metrics", "v1/models", "v1/models/tiny"))


def bad_calls():
    chat = {"model": "tiny", "messages": [USER], "max_tokens": 3}
    wrong = ({"messages": []}, {"messages": None}, {"messages": "Hi"}, {"messages": [7]},
             {"messages": [{"role": "pirate", "content": "Arr"}]}, {"messages": [{"role": "user"}]},
             {"messages": [{"role": "user", "content": [{"type": "image"}]}]}, {"max_tokens": -1},
             {"max_tokens": 1 << 70}, {"max_tokens": 1.5}, {"temperature": -1}, {"temperature": "hot"},
             {"top_p": 2}, {"n": 0}, {"n": 1 << 40}, {"stop": [1]}, {"seed": "x"},
             {"max_tokens": 1 << 20}, {"logit_bias": {"5": 1}}, {"model": 7})
    for path in (CHAT, MESSAGES):
        yield from (call(path, chat | change) for change in wrong[:8])
        yield from (path.encode() + b"\n" + body for body in (
            b"", b"{", b"[]", b"null", b"7", b'"x"', b"{}", b"\xff", b"[" * 100_000,
            b'{"messages":' * 5_000))
    yield from (call(CHAT, chat | change) for change in wrong[8:])
    text = {"model": "tiny", "prompt": "Once", "max_tokens": 3}
    yield from (call(TEXTS, text | change) for change in (
        {"prompt": None}, {"prompt": []}, {"prompt": [-1]}, {"prompt": [1 << 40]},
        {"prompt": {"a": 1}}, {"logprobs": 1 << 20}, {"stream": 3}))
    yield from (call(VECTORS, {"input": given}) for given in (None, 7, {}, [None], [[]]))
    yield from (b"nowhere", b"v1/chat/completions", b"health\n{}", b"\n{}")


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
    yield from {"snapshot": edits, "server": bad_calls}.get(target, tuple)()
    pattern, broken = BREAKABLE.get(target, (None, None))
    for path in sorted(DATA.glob(pattern))[:MOST_BROKEN] if pattern else ():
        whole = path.read_bytes().strip() if broken is broken_json else path.read_bytes()
        yield from cuts(whole)
        yield from broken(whole)


def main():
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    corpora = {target: files_named(pattern) for target, pattern in BY_NAME.items()}
    corpora.update(template=templates(), text=texts(), snapshot=[b""], server=calls())
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
