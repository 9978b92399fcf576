# SPDX-License-Identifier: BSD-3-Clause
"""Renders a report as one HTML file without external references and scripts."""

import base64
import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from vcmts.paths import TOOL
from vcmts.report.document import (
    Block,
    Card,
    Cards,
    Code,
    Details,
    Document,
    Download,
    Figure,
    Items,
    Section,
    Table,
    Text,
)

STYLE = Path(__file__).with_name("html.css")
SHORT = 22  # maximum characters of the cells in a column that does not wrap


def marked(text: str) -> str:
    """Escapes text, and marks `code`."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def card(one: Card) -> str:
    return (
        f'<div class="card"><dt>{marked(one.label)}</dt>'
        f'<dd class="value">{escape(one.value)} <span class="unit">{escape(one.unit)}</span></dd>'
        f'<dd class="note">{marked(one.note)}</dd></div>'
    )


def table(one: Table) -> str:
    short = [all(len(row[index]) <= SHORT for row in one.rows) for index in range(len(one.head))]
    kinds = [
        ' class="number"' if is_right else ' class="short"' if is_short else ""
        for is_right, is_short in zip(one.right, short, strict=True)
    ]
    head = "".join(
        f'<th scope="col"{kind}>{marked(cell)}</th>'
        for cell, kind in zip(one.head, kinds, strict=True)
    )
    named = escape(one.caption or "table")
    lines = [
        f'<p class="caption">{marked(one.caption)}</p>' if one.caption else "",
        f'<div class="table" tabindex="0" role="region" aria-label="{named}">',
        f'<table aria-label="{named}">',
        f"<thead><tr>{head}</tr></thead><tbody>",
    ]
    for row in one.rows:
        first = f'<th scope="row"{kinds[0]}>{marked(row[0])}</th>'
        rest = (f"<td{k}>{marked(cell)}</td>" for cell, k in zip(row[1:], kinds[1:], strict=True))
        lines.append(f"<tr>{first}{''.join(rest)}</tr>")
    return "\n".join([*lines, "</tbody></table></div>"])


def figure(one: Figure) -> str:
    start, rest = one.svg.split(">", 1)
    named = f'{start} aria-labelledby="{one.name}-title" aria-describedby="{one.name}-words">'
    return (
        f'<figure id="figure-{one.name}"><h3 id="{one.name}-title">{marked(one.title)}</h3>'
        f'{named}{rest}<figcaption id="{one.name}-words">{marked(one.words)}</figcaption></figure>'
    )


def download(one: Download) -> str:
    data = base64.b64encode(one.data).decode("ascii")
    name = escape(one.name)
    return (
        f'<p class="download"><a download="{name}" href="data:{one.kind};base64,{data}">{name}</a>'
        f" {marked(one.words)}</p>"
    )


def block(one: Block) -> str:
    match one:
        case Text(text):
            return f"<p>{marked(text)}</p>"
        case Items(lines):
            return "<ul>" + "".join(f"<li>{marked(line)}</li>" for line in lines) + "</ul>"
        case Cards(cards):
            return '<dl class="cards">' + "".join(card(one) for one in cards) + "</dl>"
        case Code(text):
            return f'<pre tabindex="0">{escape(text, quote=False)}</pre>'
        case Details(summary, blocks):
            inner = "\n".join(body(blocks))
            return f"<details><summary>{marked(summary)}</summary>\n{inner}\n</details>"
        case Table():
            return table(one)
        case Figure():
            return figure(one)
        case Download():
            return download(one)


def body(blocks: Sequence[Block]) -> Iterator[str]:
    """Renders blocks. Adjacent figures are side by side on wide screens."""
    for together, group in groupby(blocks, key=lambda one: isinstance(one, Figure)):
        parts = [block(one) for one in group]
        yield (
            '<div class="figures">\n' + "\n".join(parts) + "\n</div>"
            if together
            else "\n".join(parts)
        )


def section(one: Section) -> str:
    inner = "\n".join(body(one.blocks))
    return (
        f'<section aria-labelledby="{one.anchor}"><h2 id="{one.anchor}">{marked(one.title)}</h2>\n'
        f"{inner}\n</section>"
    )


def page(document: Document) -> str:
    links = "".join(f'<a href="#{s.anchor}">{marked(s.title)}</a>' for s in document.sections)
    sections = "\n".join(section(one) for one in document.sections)
    # The policy forbids scripts and external resources, whatever text a measurement contains.
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="vcmts report">
<title>{escape(document.title)}</title>
<link rel="icon" href="data:,">
<style>
{STYLE.read_text(encoding="utf-8")}</style>
</head>
<body>
<header><h1>{marked(document.title)}</h1><p>{marked(document.subtitle)}</p>
<nav aria-label="Sections">{links}</nav></header>
<main>
{sections}
</main>
<footer>Written by <code>{TOOL} report</code> of OpenVCMTS. Sizes and rates are of Ethernet frames
without CRC.</footer>
</body>
</html>
"""
