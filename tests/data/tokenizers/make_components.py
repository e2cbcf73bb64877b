"""Write small tokenizers that each use one component of tokenizer.json, with reference encodings.

Usage: make_components.py BASE OUT.json [SEED] [TEXTS]     (needs tokenizers)
BASE is a folder with metaspace-bpe-llama2, wordpiece-uncased and unigram-xlmr. OUT.json is a list of
  name       what is tried
  base       the folder whose tokenizer.json is the start
  change     the sections of it that are replaced; "model" holds single keys of the model
  cases      list of {text, ids, special, decoded}
"""
import json, random, sys, tempfile
from pathlib import Path
from tokenizers import Tokenizer

base, out = Path(sys.argv[1]), sys.argv[2]
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
count = int(sys.argv[4]) if len(sys.argv) > 4 else 12
WORDS = ("cache Page don't WE'LL it's 2024 3.14 1,000 ½ Ⅳ 机器学习 日本語 テスト café naïve Übung мир İzmir e\u0301 ﬁ ① 한국어 😀 👩‍💻 "
         "<tool> FOO aFOO <l> <r> <s> </s> [CLS] x_y a-b 'ſ K").split(" ")
SEPARATORS = [" ", " ", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", "", "", ".", ", ", "\u00a0", "\u3000", "\u0085", "\u200b", "!?", "-", "_"]


def text():
    return "".join(rng.choice(WORDS) + rng.choice(SEPARATORS) for _ in range(rng.randrange(1, 9)))


def regex(pattern):
    return {"Regex": pattern}


def split(pattern, behavior, invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def sequence(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


def byte_level(**kw):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True, **kw}


def metaspace(**kw):
    return {"type": "Metaspace", "replacement": "▁", **kw}


BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
PATTERNS = [r"\s+", r"\w+", r"\W", r"\b", r"\p{N}{1,2}+", r"\p{N}{2}?", r"[\p{L}&&[^\p{Han}]]+", r"[^\s\w]", r"\h+", r"^.", r".$",
            r"(?=(\d{3})+(?!\d))", r"\S+", r"[\s\d]+", r"\p{^L}", r"[[:upper:]]+", r"(?i:k|s)", r"\u0061", r"a{,2}", r"\p{Lu}?\p{Ll}+|\p{M}"]


def pre_tokenizers():
    for behavior in BEHAVIORS:
        for invert in (False, True):
            yield f"split ▁ {behavior} {invert}", split({"String": "▁"}, behavior, invert)
            yield f"split regex {behavior} {invert}", split(regex(r"\p{N}|▁+"), behavior, invert)
        yield f"punctuation {behavior}", {"type": "Punctuation", "behavior": behavior}
    for pattern in PATTERNS:
        yield f"split {pattern}", split(regex(pattern), "Isolated")
    yield "digits", {"type": "Digits", "individual_digits": False}
    yield "digits each", {"type": "Digits", "individual_digits": True}
    yield "whitespace", {"type": "Whitespace"}
    yield "whitespace split", {"type": "WhitespaceSplit"}
    yield "delimiter", {"type": "CharDelimiterSplit", "delimiter": "a"}
    yield "fixed length", {"type": "FixedLength", "length": 3}
    yield "bert", {"type": "BertPreTokenizer"}
    yield "byte level then digits", sequence(byte_level(add_prefix_space=True), {"type": "Digits", "individual_digits": True})
    yield "whitespace then metaspace first", sequence({"type": "WhitespaceSplit"}, metaspace(prepend_scheme="first"))
    for scheme in ("always", "first", "never"):
        for cut in (True, False):
            yield f"metaspace {scheme} {cut}", metaspace(prepend_scheme=scheme, split=cut)
    yield "metaspace old", metaspace(add_prefix_space=True, str_rep="▁")


def normalizers():
    for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "ByteLevel"):
        yield kind, {"type": kind}
    yield "NFD strip accents", {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]}
    for left, right in ((True, True), (True, False), (False, True)):
        yield f"strip {left} {right}", {"type": "Strip", "strip_left": left, "strip_right": right}
    yield "replace regex", {"type": "Replace", "pattern": regex(r"\s+|[aeiou]"), "content": "▁"}
    yield "replace", {"type": "Replace", "pattern": {"String": "a"}, "content": "the"}
    for flags in range(16):
        yield f"bert {flags}", {"type": "BertNormalizer", "clean_text": bool(flags & 1), "handle_chinese_chars": bool(flags & 2),
                                "strip_accents": bool(flags & 4), "lowercase": bool(flags & 8)}


def decoders():
    replace = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    for name, parts in {"strip ends": [replace, {"type": "Strip", "content": " ", "start": 1, "stop": 2}], "fuse strip": [replace, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 2, "stop": 1}],
                        "regex": [{"type": "Replace", "pattern": regex("[▁e]"), "content": "-"}, {"type": "ByteFallback"}], "ctc": [{"type": "CTC", "pad_token": "e", "word_delimiter_token": "▁", "cleanup": True}],
                        "suffix": [{"type": "BPEDecoder", "suffix": "e"}], "word piece": [replace, {"type": "WordPiece", "prefix": "##", "cleanup": True}], "metaspace": [metaspace(prepend_scheme="first", split=True)],
                        "byte level": [{"type": "ByteFallback"}, byte_level()]}.items():
        yield name, {"type": "Sequence", "decoders": parts}
    yield "none", None


def added(i, content, **kw):
    return {"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False, **kw}


def changes():
    llama = "metaspace-bpe-llama2"
    for name, part in pre_tokenizers():
        yield name, llama, {"pre_tokenizer": part}
        yield name + ", no normalizer", llama, {"pre_tokenizer": part, "normalizer": None}
    for name, part in normalizers():
        yield "normalizer " + name, llama, {"normalizer": part}
    for name, part in decoders():
        yield "decoder " + name, llama, {"decoder": part}
    for fuse in (True, False):
        for fallback in (True, False):
            yield f"bpe {fuse} {fallback}", llama, {"model": {"fuse_unk": fuse, "byte_fallback": fallback}}
    yield "bpe ignore merges", llama, {"model": {"ignore_merges": True}, "pre_tokenizer": metaspace(prepend_scheme="always")}
    yield "bpe suffix", llama, {"model": {"end_of_word_suffix": "e", "merges": []}, "pre_tokenizer": {"type": "Whitespace"}}
    yield "bpe prefix", llama, {"model": {"continuing_subword_prefix": "t", "merges": []}}
    n = len(json.load(open(base / llama / "tokenizer.json"))["model"]["vocab"])
    keep = json.load(open(base / llama / "tokenizer.json"))["added_tokens"]
    for flags in range(16):
        kw = dict(single_word=bool(flags & 1), lstrip=bool(flags & 2), rstrip=bool(flags & 4), normalized=bool(flags & 8))
        tokens = keep + [added(n, "FOO", **kw), added(n + 1, "<tool>", **kw), added(n + 2, "<l>", **kw), added(n + 3, " ", **kw), added(n + 4, "FOO<l>", **kw), added(n + 5, "é", special=True, **kw)]
        yield f"added {flags}", llama, {"added_tokens": tokens}
        yield f"added {flags}, lower case", llama, {"added_tokens": tokens, "normalizer": {"type": "Lowercase"}}
    pair = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    yield "post roberta", llama, {"post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": True, "add_prefix_space": False}}
    yield "post sequence", llama, {"post_processor": {"type": "Sequence", "processors": [byte_level(), {"type": "TemplateProcessing", "single": pair, "pair": pair + [{"Sequence": {"id": "B", "type_id": 1}}],
          "special_tokens": {"<s>": {"id": "<s>", "ids": [1, 2], "tokens": ["<s>", "</s>"]}}}]}}
    yield "wordpiece short", "wordpiece-uncased", {"model": {"max_input_chars_per_word": 4}}
    yield "wordpiece split", "wordpiece-uncased", {"pre_tokenizer": {"type": "Whitespace"}, "normalizer": None}
    yield "unigram whole text", "unigram-xlmr", {"pre_tokenizer": None, "normalizer": None}
    yield "unigram never", "unigram-xlmr", {"pre_tokenizer": metaspace(prepend_scheme="never", split=False)}


result = []
for name, folder, change in changes():
    tj = json.load(open(base / folder / "tokenizer.json"))
    for key, value in change.items():
        tj[key] = {**tj[key], **value} if key == "model" else value
    tokenizer = Tokenizer.from_str(json.dumps(tj))
    cases = []
    for _ in range(count):
        t = text()
        ids = tokenizer.encode(t, add_special_tokens=False).ids
        try:
            decoded = tokenizer.decode(ids, skip_special_tokens=False)
        except BaseException:      # the reference's Strip panics where a token is shorter than what it strips
            continue
        cases.append(dict(text=t, ids=ids, special=tokenizer.encode(t).ids, decoded=decoded))
    result.append(dict(name=name, base=folder, change=change, cases=cases))
with open(out, "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(r, ensure_ascii=False) for r in result) + "\n]\n")
print(len(result), "tokenizers,", sum(len(r["cases"]) for r in result), "cases")
