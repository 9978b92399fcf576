# SPDX-License-Identifier: BSD-3-Clause
"""Renders a report as Markdown, with its figures as SVG files."""

from collections.abc import Iterator, Sequence

from vcmts.report.document import (
    Block,
    Cards,
    Code,
    Details,
    Document,
    Download,
    Figure,
    Items,
    Table,
    Text,
)

# The dark colours that a figure in HTML gets from the page; the light ones are its fallbacks.
DARK = (
    "<style>@media (prefers-color-scheme: dark) "
    "{ svg { --ink: #e6eaed; --soft: #9ba6b0; --line: #39424a; --paper: #14181c } }</style>"
)


def plain(text: str) -> str:
    """Escapes text, except `code`."""
    parts = text.split("`")
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def cell(text: str) -> str:
    return plain(text).replace("|", "\\|").replace("\n", " ")


def table(one: Table) -> Iterator[str]:
    if one.caption:
        yield f"**{plain(one.caption)}**\n"
    yield "| " + " | ".join(cell(text) for text in one.head) + " |"
    yield "| " + " | ".join("---:" if is_right else "---" for is_right in one.right) + " |"
    for row in one.rows:
        yield "| " + " | ".join(cell(text) for text in row) + " |"
    yield ""


def fenced(text: str) -> Iterator[str]:
    """A fenced code block; the fence is longer than any in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    yield f"{fence}\n{text.rstrip()}\n{fence}\n"


def block(one: Block, folder: str) -> Iterator[str]:
    match one:
        case Text(text):
            yield f"{plain(text)}\n"
        case Items(lines):
            yield "\n".join(f"- {plain(line)}" for line in lines) + "\n"
        case Cards(cards):
            rows = [(card.label, f"{card.value} {card.unit}", card.note) for card in cards]
            yield from table(Table("", ("figure", "", "of what"), rows))
        case Code(text):
            yield from fenced(text)
        case Details(summary, blocks):
            yield f"<details><summary>{plain(summary)}</summary>\n"
            yield from body(blocks, folder)
            yield "</details>\n"
        case Table():
            yield from table(one)
        case Figure(name, title, text, _):
            words = plain(text)
            yield f"**{plain(title)}**\n\n![{words}]({folder}/{name}.svg)\n\n{words}\n"
        case Download(name, _, _, text):
            yield f"{plain(name)} ({plain(text)}) is in the HTML and JSON files.\n"


def body(blocks: Sequence[Block], folder: str) -> Iterator[str]:
    for one in blocks:
        yield from block(one, folder)


def page(document: Document, folder: str) -> str:
    lines = [f"# {plain(document.title)}\n", f"{plain(document.subtitle)}\n"]
    for section in document.sections:
        lines.append(f"## {plain(section.title)}\n")
        lines += body(section.blocks, folder)
    return "\n".join(lines)


def all_figures(blocks: Sequence[Block]) -> Iterator[Figure]:
    for one in blocks:
        if isinstance(one, Figure):
            yield one
        elif isinstance(one, Details):
            yield from all_figures(one.blocks)


def pictures(document: Document) -> Iterator[tuple[str, str]]:
    """Yields the name and content of each figure's file."""
    for section in document.sections:
        for one in all_figures(section.blocks):
            head, rest = one.svg.split(">", 1)
            yield f"{one.name}.svg", f"{head}>{DARK}{rest}"
