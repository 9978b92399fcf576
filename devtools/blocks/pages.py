# SPDX-License-Identifier: BSD-3-Clause
"""Reads code blocks and commands of pages.

Blocks of `sh` run. A block `sh serving` starts a program that runs while the blocks `sh beside`
after it do. Other blocks do not run here: `text` shows output.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# How a command begins. A block of another kind must not have such lines, unless a test runs it.
COMMAND = re.compile(r"(?:\./vcmts|build/|make|sudo|vcmts|podman|kubectl|devtools/)(?: |\S*/)")
NAMED = re.compile(r"(?:\./vcmts |make )")
SHELL, SERVING, BESIDE = "sh", "sh serving", "sh beside"
RUN = (SHELL, SERVING, BESIDE)
FIRST = ("README.md", "docs/first-run.md")


@dataclass(frozen=True)
class Command:
    """A command of a page; `kind` is the text after the ``` of its block."""

    page: str
    kind: str
    text: str


def pages() -> list[str]:
    """README.md and the pages of docs/, in the order in which a user reads them."""
    others = sorted(f"docs/{path.name}" for path in (CHECKOUT / "docs").glob("*.md"))
    return [*FIRST, *(page for page in others if page not in FIRST)]


def block_commands(block: str) -> list[str]:
    """The commands of a block, without comments; joins continued lines. A block with a here
    document is one command."""
    if "<<" in block:
        return [block.rstrip()]
    lines = (re.sub(r"(?:^|\s)#\s.*$", "", line) for line in block.splitlines())
    joined = "\n".join(lines).replace("\\\n", " ")
    return [" ".join(line.split()) for line in joined.splitlines() if line.strip()]


def page_commands(page: str, text: str) -> list[Command]:
    """The commands of the blocks that run, in order."""
    return [
        Command(page, kind, command)
        for kind, block in FENCE.findall(text)
        if kind in RUN
        for command in block_commands(block)
    ]


def inline_commands(page: str, text: str) -> list[Command]:
    """Commands in backquotes in sentences."""
    words = re.findall(r"`([^`\n]+)`", FENCE.sub("", text))
    return [Command(page, "inline", word) for word in words if NAMED.match(word)]


def unrun_commands(text: str) -> Iterator[str]:
    """Lines of blocks that do not run although they look like commands."""
    for kind, block in FENCE.findall(text):
        if kind not in RUN:
            yield from (line for line in block_commands(block) if COMMAND.match(line))
