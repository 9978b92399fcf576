# SPDX-License-Identifier: BSD-3-Clause
"""The configuration in a report: cut where it repeats itself, and whole as a file to take out.

A published profile is known by its name and written again. A file of the user's own comes with
--config; its keys are masked, as reports are meant to be shared, and it is shown cut alone.
"""

import gzip
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vcmts.paths import TOOL, MistakeError
from vcmts.profile.group import write_profile
from vcmts.report.document import Block, Code, Download, Section, Text
from vcmts.report.runs import Run

SECRET = re.compile(r"\b((?:next_)?(?:key|iv)): *(\"[^\"]*\"|'[^']*'|[^\s,}#]+)")
ITEM = re.compile(r"( *)- ")
KEPT = 3  # items of a list that are shown, of long ones
LONG = 8


@dataclass(frozen=True)
class Configuration:
    name: str
    text: str
    own: bool  # a file of the user's, not a published profile


def given(path: str) -> Configuration:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no text"
        raise MistakeError(f"--config {path}: {why}") from error
    found = re.search(r"^name: *[\"']?([\w.-]+)", text, re.MULTILINE)
    name = found[1] if found else Path(path).stem
    return Configuration(name, SECRET.sub(r'\1: "masked"', text), own=True)


def published(name: str) -> Configuration | None:
    """The profile of this name, or None where it is none."""
    out = io.StringIO()
    try:
        write_profile(name, out)
    except MistakeError:
        return None
    return Configuration(name, out.getvalue(), own=False)


def shortened(text: str) -> str:
    """Of each long list the first items, with the number of those left out, in every depth."""
    return "\n".join(shown(text.splitlines()))


def blocks_at(lines: Sequence[str], indent: str) -> list[list[str]]:
    """The items of a list, each with the lines that belong to it."""
    items: list[list[str]] = []
    for line in lines:
        if line.startswith(f"{indent}- "):
            items.append([line])
        else:
            items[-1].append(line)
    return items


def shown(lines: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        start = ITEM.match(lines[at])
        if not start:
            yield lines[at]
            at += 1
            continue
        indent, end = start[1], at + 1
        while end < len(lines) and (
            lines[end].startswith((f"{indent}- ", f"{indent}  ")) or not lines[end].strip()
        ):
            end += 1
        items = blocks_at(lines[at:end], indent)
        # Long items are shown once: the others are like them.
        kept = len(items) if len(items) <= LONG else KEPT
        kept = 1 if len(items) > 1 and len(items[0]) > LONG else kept
        for item in items[:kept]:
            yield item[0]
            yield from shown(item[1:])
        if kept < len(items):
            yield f"{indent}# ... and {len(items) - kept} more"
        at = end


def part(name: str, own: Configuration | None) -> Iterator[Block]:
    found = own if own is not None and own.name == name else published(name)
    if found is None:
        yield Text(
            f"`{name}` is no published profile; `{TOOL} report --config FILE` shows a file here."
        )
        return
    lines = found.text.count("\n")
    digest = hashlib.sha256(found.text.encode()).hexdigest()[:16]
    if found.own:
        yield Text(
            f"`{name}`, the file given with --config, {lines:,} lines. Long lists are cut after "
            "their first items, and its keys are masked."
        )
    else:
        yield Text(
            f"`{name}`, as `{TOOL} profile {name}` writes it now: {lines:,} lines, SHA-256 "
            f"{digest}... Long lists are cut after their first items; the file holds all of it. "
            "Ports and cores are the profile's, those of the run were its own."
        )
        data = gzip.compress(found.text.encode(), mtime=0)
        words = f"the whole configuration, {len(found.text) / 1e6:.1f} MB, compressed"
        yield Download(f"{name}.yaml.gz", data, "application/gzip", words)
    yield Code(shortened(found.text))


def section(runs: Sequence[Run], own: Configuration | None) -> Section:
    out = Section("Configuration")
    for name in dict.fromkeys(profile for run in runs for profile in names(run)):
        out.blocks += part(name, own)
    return out


def names(run: Run) -> Iterator[str]:
    """Of the whole run; those of single results (cost) differ in one number each."""
    if run.kind != "scheduler":  # it makes its channels itself
        yield run.file["configuration"]
