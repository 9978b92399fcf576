# SPDX-License-Identifier: BSD-3-Clause
"""The configuration in a report: shortened to read, and complete as a download.

A published profile is generated from its name. A file of the user comes from --config; its keys are
masked, as reports may be shared, and there is no download.
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
KEPT = 3  # items to show of a long list
LONG = 8  # maximum items of a list that is shown completely


@dataclass(frozen=True)
class Configuration:
    name: str
    text: str
    own: bool  # a file of the user's, not a published profile


def read_configuration(path: str) -> Configuration:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise MistakeError(f"--config {path}: {why}") from error
    found = re.search(r"^name: *[\"']?([\w.-]+)", text, re.MULTILINE)
    name = found[1] if found else Path(path).stem
    return Configuration(name, SECRET.sub(r'\1: "masked"', text), own=True)


def published(name: str) -> Configuration | None:
    """The published profile of this name; None if there is none."""
    out = io.StringIO()
    try:
        write_profile(name, out)
    except MistakeError:
        return None
    return Configuration(name, out.getvalue(), own=False)


def shorten(text: str) -> str:
    """Shortens all long lists to their first items, with the number of omitted ones."""
    return "\n".join(shortened_lines(text.splitlines()))


def split_items(lines: Sequence[str], indent: str) -> list[list[str]]:
    """The items of a list, each with its lines."""
    items: list[list[str]] = []
    for line in lines:
        if line.startswith(f"{indent}- "):
            items.append([line])
        else:
            items[-1].append(line)
    return items


def shortened_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yields the lines of shortened YAML."""
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
        items = split_items(lines[at:end], indent)
        # Of long items show only one: the others are similar.
        kept = len(items) if len(items) <= LONG else KEPT
        kept = 1 if len(items) > 1 and len(items[0]) > LONG else kept
        for item in items[:kept]:
            yield item[0]
            yield from shortened_lines(item[1:])
        if kept < len(items):
            yield f"{indent}# ... and {len(items) - kept} more"
        at = end


def configuration_blocks(name: str, own: Configuration | None) -> Iterator[Block]:
    found = own if own is not None and own.name == name else published(name)
    if found is None:
        yield Text(
            f"`{name}` is not a published profile; `{TOOL} report --config FILE` adds its file."
        )
        return
    lines = found.text.count("\n")
    digest = hashlib.sha256(found.text.encode()).hexdigest()[:16]
    if found.own:
        yield Text(
            f"`{name}`, the file of --config, {lines:,} lines. Long lists are shortened to their "
            "first items, and keys are masked."
        )
    else:
        yield Text(
            f"`{name}`, as `{TOOL} profile {name}` writes it now: {lines:,} lines, SHA-256 "
            f"{digest}... Long lists are shortened to their first items; the file is complete. "
            "Ports and cores are those of the profile; the measurement used others."
        )
        data = gzip.compress(found.text.encode(), mtime=0)
        words = f"the whole configuration, {len(found.text) / 1e6:.1f} MB, compressed"
        yield Download(f"{name}.yaml.gz", data, "application/gzip", words)
    yield Code(shorten(found.text))


def section(runs: Sequence[Run], own: Configuration | None) -> Section:
    out = Section("Configuration")
    for name in dict.fromkeys(profile for run in runs for profile in names(run)):
        out.blocks += configuration_blocks(name, own)
    return out


def names(run: Run) -> Iterator[str]:
    """A run's configuration; single results of `cost` change one number of it."""
    if run.kind != "scheduler":  # has no configuration
        yield run.file["configuration"]
