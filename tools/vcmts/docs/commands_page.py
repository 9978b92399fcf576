# SPDX-License-Identifier: BSD-3-Clause
"""Generates the page on all commands and their options."""

import html
import re
from collections.abc import Iterator

from vcmts.docs import configdoc
from vcmts.manual.commands import Command, Group, Option
from vcmts.manual.pages import STATUS

HEAD = """# Commands

All commands of the tool `vcmts`, of `vcmtsd` and of `vcmts-traffic`, with their options. `COMMAND
--help` prints the same, and packages install it as manual pages. In a checkout, call `./vcmts`.
"""


def name_of(option: Option) -> str:
    return f"`{', '.join(option.names)}{option.joint}{option.value}`"


def escape(text: str) -> str:
    return re.sub(r"([*_\[])", r"\\\1", html.escape(text, quote=False))


def plain(text: str) -> str:
    """Escapes what Markdown takes for tags and emphasis, outside of `code`."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else escape(p) for p in parts)


def meaning(option: Option) -> str:
    text = plain(option.text)
    if option.unnamed_choices:
        names = ", ".join(f"`{choice}`" for choice in option.unnamed_choices)
        text += f"{': ' if text else ''}{names}"
    return text


def options(groups: tuple[Group, ...]) -> Iterator[str]:
    """A table per title; positional arguments and options without a title share one."""
    for title in dict.fromkeys(group.title for group in groups):
        if title:
            yield f"{title}:"
        together = (option for group in groups if group.title == title for option in group.options)
        rows = ((name_of(option), meaning(option)) for option in together)
        yield "\n".join(configdoc.table("option | meaning", rows))


def parts_of(command: Command, level: int) -> Iterator[str]:
    yield f"{'#' * level} {command.name}"
    if command.text:
        yield plain(command.text)
    yield from options(command.groups)
    if command.end:
        yield f"```text\n{command.end.strip()}\n```"
    for part in command.parts:
        yield from parts_of(part, level + 1)


def render(programs: dict[str, Command]) -> str:
    """The page. `programs`: their commands, by the program's name."""
    status = configdoc.table("exit status | meaning", STATUS.items())
    texts = [HEAD.strip(), "\n".join(status)]
    for program in programs.values():
        texts += parts_of(program, 2)
    return "\n\n".join(texts) + "\n"
