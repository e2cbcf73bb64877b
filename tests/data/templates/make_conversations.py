"""Write conversations.json: what transformers renders with the whole templates beside this script.

Usage: python make_conversations.py        (needs transformers and jinja2)

conversations.json:
  python, transformers, jinja2, now     versions; the moment strftime_now sees (ISO text)
  templates, conversations, variants    by name; a variant is {tools, documents, kwargs,
                                        add_generation_prompt, continue_final_message}, absent: not given
  cases     list of {template, conversation, variant, expected} or {…, error}, error as in snippets.json;
            bos_token is <s>, eos_token </s>
"""
import copy
import json

import jinja2
from make_snippets import HERE, NOW, Clock, versions
from transformers.utils import chat_template_utils

ARGUMENTS = {"city": "Zürich", "days": 3, "ok": True, "note": None, "f": 0.5, "list": [1, "a", {"b": []}]}


def call(name, arguments, call_id):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool(name, description, properties, **more):
    parameters = {"type": "object", "properties": properties, **more}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def message(role, content, **more):
    return {"role": role, "content": content, **more}


SYSTEM = message("system", 'Be "brief" & <kind>.\nSecond line')
ASK = message("user", "  What is 2+2?\n")
ANSWER = message("assistant", "It is 4. ")
CALLS = message("assistant", None, tool_calls=[call("get_weather", ARGUMENTS, "abc123def")])
TWO_CALLS = message(
    "assistant", "Let me look.", tool_calls=[call("get_weather", '{"city": "Oslo"}', "c1"), call("add", {"a": 1, "b": 2.0}, "c2")]
)
RESULT = message("tool", '{"t": 21}', tool_call_id="abc123def", name="get_weather")
TWO_RESULTS = [message("tool", "cold", tool_call_id="c1"), message("tool", "3", tool_call_id="c2")]
PARTS = message("user", [{"type": "text", "text": "look "}, {"type": "image"}, {"type": "text", "text": "here"}])
REASONED = message("assistant", "Sure", reasoning_content="\nbecause\n")
CONVERSATIONS = {
    "question": [SYSTEM, ASK],
    "two turns": [SYSTEM, ASK, ANSWER, ASK],
    "only system": [SYSTEM],
    "empty": [],
    "call": [SYSTEM, ASK, CALLS, RESULT, ANSWER],
    "two calls": [ASK, TWO_CALLS, *TWO_RESULTS, ANSWER, ASK],
    "calls last": [ASK, CALLS],
    "parts": [SYSTEM, PARTS, ANSWER],
    "unknown part": [message("user", [{"type": "video"}])],
    "reasoning": [ASK, REASONED, ASK, message("assistant", "Well", thinking="why")],
    "reasoning and calls": [ASK, {**REASONED, "tool_calls": CALLS["tool_calls"]}, RESULT, REASONED],
    "unknown role": [message("critic", "x")],
    "no content": [{"role": "user"}],
    "named": [message("user", "日本\u2028\u00a0 👍🏽\t\r\n ﬁ", name='A"b&')],
    "orphan": [ASK, message("tool", "from nowhere")],
}
PLAIN_TOOLS = [
    tool(
        "get_weather",
        "Weather of a city.\nSecond line <b>.",
        {
            "city": {"type": "string", "description": 'The "city"\nor town'},
            "days": {"type": "integer", "default": 3, "minimum": 1},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "deep": {
                "type": "object",
                "properties": {"x": {"type": ["number", "null"]}, "y": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
                "required": ["x"],
            },
        },
        required=["city"],
    ),
    tool("add", "Add", {"a": {"type": "number", "description": "a"}, "b": {"type": "number"}}, required=["a", "b"]),
]
ODD_TOOLS = [
    tool("nothing", "", {}),
    {
        "name": "flat",
        "description": "Flat é",
        "parameters": {
            "type": "object",
            "properties": {
                "p": {"$ref": "#/definitions/q"},
                "m": {"type": "array", "items": {"oneOf": [{"type": "boolean"}, {"type": "string"}]}, "nullable": True},
                "any": {},
                "map": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
            "definitions": {"q": {"type": "string", "format": "date", "pattern": '^a"b$'}},
        },
    },
]
VARIANTS = {
    "plain": {},
    "prompt and tools": {"tools": PLAIN_TOOLS, "add_generation_prompt": True},
    "odd tools": {"tools": ODD_TOOLS, "kwargs": {"enable_thinking": False, "thinking": False, "effort": "low"}},
    "documents": {
        "documents": [{"title": "T1", "text": 'doc é "one"'}, {"title": "T2", "n": 1.0}],
        "add_generation_prompt": True,
        "kwargs": {"effort": "nope"},
    },
    "continued": {"continue_final_message": True},
}


def outcome(source, conversation, variant):
    options = copy.deepcopy(variant)
    try:
        rendered, _ = chat_template_utils.render_jinja_template(
            conversations=[chat_template_utils._normalize_chat_messages(copy.deepcopy(conversation))],
            chat_template=source,
            bos_token="<s>",
            eos_token="</s>",
            **options.pop("kwargs", {}),
            **options,
        )
        return {"expected": rendered[0]}
    except Exception as e:
        kind = "raised" if type(e) is jinja2.exceptions.TemplateError else "failed"
        return {"error": {"kind": kind, "message": str(e)}}


def main():
    chat_template_utils.datetime = Clock
    templates = {p.stem: p.read_text("utf-8") for p in sorted(HERE.glob("*.jinja"))}
    cases = [
        {"template": t, "conversation": c, "variant": v, **outcome(source, conversation, variant)}
        for t, source in templates.items()
        for c, conversation in CONVERSATIONS.items()
        for v, variant in VARIANTS.items()
    ]
    whole = {**versions(), "templates": templates, "conversations": CONVERSATIONS, "variants": VARIANTS}
    lines = ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases)
    head = json.dumps(whole, ensure_ascii=False)[:-1]
    (HERE / "conversations.json").write_text(f'{head},\n"cases": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
