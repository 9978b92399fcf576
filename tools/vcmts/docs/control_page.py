# SPDX-License-Identifier: BSD-3-Clause
"""Generates the page on the control socket from vcmtsd's OpenRPC document."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from vcmts.docs.configdoc import allowed, default, sentence, table
from vcmts.jsons import Json

HEAD = Path(__file__).with_name("control.md.in")
EXAMPLES = Path(__file__).with_name("control_examples.yaml")
CODES = {
    -32700: "invalid JSON. If the input is no object or array, or has more than 32 levels, "
    "`vcmtsd` disconnects the client",
    -32600: "invalid request object, an array of 0 or more than 64 requests, or more than 1 MiB. "
    "After more than 1 MiB, `vcmtsd` disconnects the client",
    -32601: "unknown method",
    -32602: "a parameter is missing, unknown or invalid. The message has its name, the value found "
    "and what is allowed",
    -32603: "no memory left. Nothing was changed, unless the message states that the request was "
    "or may have been done",
    -32000: "the request cannot be done. The message has the object, the key and the reason. "
    "Nothing was changed",
}


def kind(schema: Json) -> str:
    if "enum" in schema:
        return "text"
    found = schema["type"]
    if isinstance(found, list):
        return " or ".join(kind(schema | {"type": one}) for one in found)
    if found == "array":
        item = kind(schema["items"])
        return f"list of {item}s" if "list of" not in item else f"list of lists{item[4:]}"
    return {"string": "text", "object": "map"}.get(str(found), str(found))


def cell(name: str, *, needed: bool) -> str:
    return f"**`{name}`**" if needed else f"`{name}`"


def allowed_text(schema: Json) -> str:
    """The allowed values as text; "" if the type is sufficient."""
    if schema["type" if "type" in schema else "enum"] in ("boolean", "object"):
        return ""
    return allowed(schema).replace(", see below", "")


def parts(schema: Json, path: str) -> Iterator[tuple[str, Json, bool]]:
    """Members of a map and of nested maps, with dotted names."""
    for name, value in schema.get("properties", {}).items():
        key_path, inner = f"{path}{name}", value
        yield key_path, value, name in schema.get("required", ())
        if value.get("type") == "array":
            key_path, inner = f"{key_path}[]", value["items"]
        if inner.get("additionalProperties"):
            yield f"{key_path}.NAME", inner["additionalProperties"], True
        yield from parts(inner, f"{key_path}.")


def params_table(method: Json) -> Iterator[str]:
    rows = []
    for param in method["params"]:
        whole = {"properties": {param["name"]: param["schema"]}}
        for key_path, schema, needed in parts(whole, ""):
            must = param["required"] if key_path == param["name"] else needed
            cells = (cell(key_path, needed=must), kind(schema), schema["description"])
            rows.append((*cells, allowed_text(schema), default(schema)))
    yield from table("parameter | type | meaning | allowed | default", rows)


def result_table(schema: Json) -> Iterator[str]:
    rows = [
        (cell(key_path, needed=needed), kind(value), value["description"])
        for key_path, value, needed in parts(schema, "")
    ]
    yield from table("member | type | meaning", rows)


def example(schema: Json) -> Any:
    if "examples" in schema:
        return schema["examples"][0]
    if "default" in schema:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    if named := re.search('such as "([^"]+)"', schema.get("x-allowed", "")):
        return named[1]
    if schema["type"] == "array":
        return [example(schema["items"])]
    if "properties" in schema:
        return {name: example(value) for name, value in schema["properties"].items()}
    if item := schema.get("additionalProperties"):
        return {"service_group" if item.get("type") == "string" else "received": example(item)}
    return {"integer": schema.get("minimum", 0), "boolean": False}.get(str(schema["type"]), "")


def word(name: str, value: Any) -> str:
    """A parameter as a shell word."""
    text = value if isinstance(value, str) else json.dumps(value)
    quoted = f"'{text}'" if set(text) & set(' {}[]"') else text
    return f"{name}={quoted}"


def examples(method: Json) -> list[Json]:
    """Examples of control_examples.yaml; otherwise one with the required parameters."""
    listed: dict[str, list[Json]] = yaml.safe_load(EXAMPLES.read_text(encoding="utf-8"))
    given = {p["name"]: example(p["schema"]) for p in method["params"] if p["required"]}
    return listed.get(method["name"], [{"params": given}])


def example_lines(method: Json, shown: Json) -> Iterator[str]:
    """The command, and the request with its answer."""
    name, params = method["name"], shown["params"]
    words = [name, *(word(key, value) for key, value in params.items())]
    request = {"jsonrpc": "2.0", "method": name, "params": params, "id": 1}
    answer = {"jsonrpc": "2.0", "result": example(method["result"]["schema"]), "id": 1}
    answer["result"] |= shown.get("result", {})
    if "done" in shown:
        answer["result"]["done"] = shown["done"]
    if "about" in shown:
        yield f"{shown['about']}\n"
    yield f"```\n./vcmts control {' '.join(words)}\n```\n"
    yield f"```json\n{json.dumps(request)}\n{json.dumps(answer, indent=2)}\n```\n"


def section(method: Json) -> Iterator[str]:
    yield f"\n### `{method['name']}`\n"
    yield f"{sentence(method['summary'])}.\n"
    if method["params"]:
        yield from (*params_table(method), "")
    else:
        yield "This method has no parameters.\n"
    yield from (*result_table(method["result"]["schema"]), "")
    for error in method["errors"]:
        yield f"Error {error['code']}: {error['message']}.\n"
    for shown in examples(method):
        yield from example_lines(method, shown)


def render(document: Json) -> str:
    methods = document["methods"]
    rows = [(f"[`{m['name']}`](#{m['name'].replace('.', '')})", m["summary"]) for m in methods]
    codes = [(str(code), text) for code, text in CODES.items()]
    words = {
        "ERRORS": "\n".join(table("code | meaning", codes)),
        "METHODS": "\n".join(table("method | description", rows)),
        "EACH": "\n".join(line for method in methods for line in section(method)),
    }
    text = HEAD.read_text(encoding="utf-8")
    for name, value in words.items():
        text = text.replace(f"@{name}@", value)
    return text
