"""Write snippets.json: what transformers' Jinja environment makes of the templates in snippets.txt.

Usage: python make_snippets.py        (needs transformers and jinja2)

snippets.json:
  python, transformers, jinja2, now     versions; the moment strftime_now sees (ISO text)
  context     the variables that every template sees
  cases       list of {template, expected} or {template, error}; error is {kind, message}. kind raised:
              the template called raise_exception, the message must be equal; syntax: it must fail
              when compiled; failed: it must fail when rendered, the wording is Python's own
"""
import json
import platform
from datetime import datetime
from pathlib import Path

import jinja2
import transformers
from transformers.utils import chat_template_utils

HERE = Path(__file__).parent
NOW = datetime(2025, 3, 9, 8, 5, 7)  # a Sunday; day, month and hour of one digit

WEATHER = {
    "name": "weather",
    "description": "Say the <weather> & \"more\"",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city"},
            "days": {"type": "integer", "enum": [1, 2, 3], "default": 1},
        },
        "required": ["city"],
    },
}
CALL = {"name": "weather", "arguments": {"city": "Zürich", "days": 2, "ok": True, "x": None, "f": 1.0}}
CONTEXT = {
    "user": {"name": "Ann", "age": 41, "tags": ["a", "b"], "score": 1.5, "admin": True, "nick": None},
    "people": [
        {"name": "Ann", "age": 41, "city": "Rome", "address": {"zip": 30}, "nick": ""},
        {"name": "bob", "age": 25, "city": "oslo", "address": {"zip": 10}, "nick": "B"},
        {"name": "Cy", "age": 33, "city": "Rome", "address": {"zip": 20}},
    ],
    "tree": [
        {"name": "r", "children": [{"name": "a", "children": []}, {"name": "b", "children": [{"name": "c"}]}]},
        {"name": "s"},
    ],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What's the weather in Zürich?\nNow."},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": CALL}]},
        {"role": "tool", "tool_call_id": "c1", "name": "weather", "content": '{"t": 21.5}'},
        {"role": "assistant", "content": "21.5 °C"},
    ],
    "tools": [{"type": "function", "function": WEATHER}],
}


class Clock(datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def versions():
    return {
        "python": platform.python_version(),
        "transformers": transformers.__version__,
        "jinja2": jinja2.__version__,
        "now": NOW.isoformat(),
    }


def outcome(template):
    try:
        compiled = chat_template_utils._compile_jinja_template(template)
    except Exception as e:
        return {"error": {"kind": "syntax", "message": str(e)}}
    try:
        return {"expected": compiled.render(**json.loads(json.dumps(CONTEXT)))}
    except Exception as e:
        kind = "raised" if type(e) is jinja2.exceptions.TemplateError else "failed"
        return {"error": {"kind": kind, "message": str(e)}}


def templates():
    expressions = False
    for line in (HERE / "snippets.txt").read_text("utf-8").split("\n"):
        if line.startswith(("# ", "## ")):
            expressions = line.startswith("# ")
        elif line:
            printed = expressions and "{%" not in line and "{{" not in line
            yield ("{{ " + line + " }}" if printed else line).replace("⏎", "\n").replace("⇥", "\t")


def main():
    chat_template_utils.datetime = Clock
    cases = [{"template": t, **outcome(t)} for t in templates()]
    machine_bound = [c for c in cases if " at 0x" in c.get("expected", "")]
    assert not machine_bound, machine_bound
    whole = {**versions(), "context": CONTEXT}
    lines = ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases)
    head = json.dumps(whole, ensure_ascii=False, indent=0)[:-2]
    (HERE / "snippets.json").write_text(f'{head},\n"cases": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
