# SPDX-License-Identifier: BSD-3-Clause
"""The texts of `help` in the shell, 80 columns wide."""

import textwrap
from collections.abc import Iterator, Sequence

from vcmts.jsons import Json
from vcmts.shell.arguments import members, usage
from vcmts.shell.grammar import Method

WIDTH, INDENT = 80, 36
BUILT_IN = {
    "help [COMMAND]": "lists commands, or describes one; so does `?` at the end of a line",
    "group [ID]": "selects the service group of the commands that follow; without ID: none",
    "quit": "ends the shell, as does Ctrl-D",
}


def entry(name: str, text: str, at: int = INDENT) -> Iterator[str]:
    """A name with a text beside it, or below it if the name is long."""
    first, *more = textwrap.wrap(text, WIDTH - at) or [""]
    if len(name) > at - 2:
        yield f"  {name}"
        yield f"{' ' * at}{first}"
    else:
        yield f"  {name}".ljust(at) + first
    yield from (" " * at + line for line in more)


def commands(known: Sequence[Method]) -> Iterator[str]:
    """A list of commands by their first word."""
    for verb in dict.fromkeys(method.words[0] for method in known):
        for method in known:
            if method.words[0] == verb:
                yield from entry(usage(method), method.about)


def overview(known: Sequence[Method]) -> Iterator[str]:
    """All commands, with those of the shell itself."""
    yield from commands(known)
    yield ""
    for name, text in BUILT_IN.items():
        yield from entry(name, text)
    yield ""
    yield "The beginning of a word is enough if no other word has it: `sh fl 12`."
    yield "Parameters are KEY=VALUE or KEY VALUE; values are as in the configuration."


def meaning(schema: Json) -> str:
    """A description with the allowed values, or the values without a name of their own."""
    allowed = schema.get("x-allowed", "")
    text = str(schema.get("description", ""))
    default = schema.get("default")
    text += f": {allowed}" if allowed and schema.get("type") != "object" else ""
    return text if default is None else f"{text} (default: {str(default).lower()})"


def description(method: Method) -> Iterator[str]:
    """A command with its parameters."""
    yield f"{usage(method)}    (method {method.name})"
    yield from textwrap.wrap(method.about, WIDTH)
    for title, keys in (("parameters", method.params), ("keys", members(method))):
        if title == "parameters":
            keys = {name: schema for name, schema in keys.items() if name != method.map_param}
        if keys:
            yield f"\n{title}:"
        for name, schema in keys.items():
            yield from entry(name, meaning(schema), 26)
    for refusal in method.refusals:
        yield from ("", *textwrap.wrap(f"refused: {refusal}", WIDTH))
