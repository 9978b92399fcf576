# SPDX-License-Identifier: BSD-3-Clause
"""The typed Python client of the control socket, from the OpenRPC document of vcmtsd."""

import json
import textwrap
from dataclasses import dataclass, field
from typing import Any

from vcmts.docs.picture import LICENCE

Schema = dict[str, Any]

WIDTH = 100
HEAD = f'''# {LICENCE}
# Written by `make docs` from `vcmtsd describe --rpc`
"""The methods of the control socket, each a function: what it takes and returns is typed.

A parameter that is None is left out. RefusedError tells why nothing was done, ClosedError that
vcmtsd has gone.
"""

from typing import Any, {{names}}

from vcmts.control.client import Client


def _given(**params: Any) -> dict[str, Any]:
    return {{{{key: value for key, value in params.items() if value is not None}}}}
'''
PLAIN = {"integer": "int", "boolean": "bool", "string": "str", "number": "float"}


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def camel(*words: str) -> str:
    """`modem.get` and `service_flows` as ModemGetServiceFlows."""
    parts = ".".join(words).replace("_", ".").split(".")
    return "".join(part.capitalize() for part in parts)


@dataclass
class Classes:
    """TypedDicts, those that others refer to first."""

    texts: list[str] = field(default_factory=list)

    def type_of(self, schema: Schema, *path: str) -> str:
        if "enum" in schema:
            return f"Literal[{', '.join(map(json.dumps, schema['enum']))}]"
        kind = schema["type"]
        if isinstance(kind, list):
            return " | ".join(self.type_of(schema | {"type": one}, *path) for one in kind)
        if kind == "array":
            return f"list[{self.type_of(schema['items'], *path)}]"
        if kind != "object":
            return PLAIN[kind]
        if "properties" in schema:
            return self.named(schema, *path)
        if "additionalProperties" not in schema:
            return "dict[str, Any]"
        return f"dict[str, {self.type_of(schema['additionalProperties'], *path)}]"

    def named(self, schema: Schema, *path: str) -> str:
        name, needed = camel(*path), schema.get("required", ())
        lines = [f"class {name}(TypedDict):"]
        for key, value in schema["properties"].items():
            typed = self.type_of(value, *path, key)
            lines += comment(value["description"])
            lines += broken(f"{key}: ", typed if key in needed else f"NotRequired[{typed}]", "    ")
        self.texts.append("\n".join(lines if len(lines) > 1 else [*lines, "    pass"]))
        return name


def comment(text: str) -> list[str]:
    lines = textwrap.wrap(text, WIDTH - len("    # "), break_on_hyphens=False)
    return [f"    # {line}" for line in lines]


def broken(head: str, typed: str, indent: str) -> list[str]:
    """A type that is too long for a line, as the formatter has it."""
    if len(indent + head + typed) <= WIDTH or "[" not in typed:
        return [f"{indent}{head}{typed}"]
    outer, inside = typed.removesuffix("]").split("[", 1)
    deeper = f"{indent}    "
    if outer == "Literal":
        inner = [f"{deeper}{word}," for word in inside.split(", ")]
    else:
        inner = broken("", inside, deeper)
    return [f"{indent}{head}{outer}[", *inner, f"{indent}]"]


def signature(params: list[Schema], result: str, verb: str, types: list[str]) -> list[str]:
    """Those that must be given stand first."""
    if not params:
        return [f"def {verb}(client: Client) -> {result}:"]
    lines = [f"def {verb}(", "    client: Client,", "    *,"]
    for param, typed in sorted(zip(params, types, strict=True), key=lambda p: not p[0]["required"]):
        lines += comment(param["schema"]["description"])
        line = f"    {param['name']}: {typed}{'' if param['required'] else ' | None = None'},"
        lines += line.replace(" | None", "\n    | None").split("\n") if len(line) > 100 else [line]
    return [*lines, f") -> {result}:"]


def function(method: Schema, classes: Classes) -> str:
    name, params = method["name"], method["params"]
    types = [classes.type_of(one["schema"], name, one["name"]) for one in params]
    result = classes.named(method["result"]["schema"], name)
    lines = signature(params, result, name.replace(".", "_"), types)
    lines += [f'    """{sentence(method["summary"])}"""']
    if params:
        given = (f"        {one['name']}={one['name']}," for one in params)
        lines += ["    params = _given(", *given, "    )"]
    called = f'client.call("{name}"{", **params" if params else ""})'
    return "\n".join([*lines, f"    result: {result} = {called}", "    return result"])


def render(document: Schema) -> str:
    classes = Classes()
    functions = [function(method, classes) for method in document["methods"]]
    parts = [*classes.texts, *functions]
    used = {name for name in ("Literal", "NotRequired") if any(name in part for part in parts)}
    names = ", ".join(sorted(used | {"TypedDict"}))
    return "\n\n\n".join([HEAD.format(names=names).rstrip(), *parts]) + "\n"
