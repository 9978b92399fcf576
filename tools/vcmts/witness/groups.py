# SPDX-License-Identifier: BSD-3-Clause
"""The service groups of a server's file, each as a file of its own."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vcmts.witness.config import load_tree, parse_config
from vcmts.witness.model import Config
from vcmts.witness.nodes import ConfigError

Json = dict[str, Any]
OF_SERVER = ("service_groups", "name", "max_groups")
MERGED = ("ports", "rphy", "threads", "upstream")


def alone(whole: Mapping[str, Any], item: Mapping[str, Any]) -> Json:
    """The group as a file of its own: what the server has for all, and what it has itself."""
    common = {key: value for key, value in whole.items() if key not in OF_SERVER}
    merged = common | dict(item)
    for key in MERGED:
        if key in common and key in item:
            merged[key] = common[key] | item[key]
    return merged


def _only(text: str, places: Sequence[int]) -> str | None:
    """The file with these groups alone, as a reader of YAML takes a second for each; None where it
    is not written as `vcmts profile` writes it."""
    lines = text.splitlines(keepends=True)
    if "service_groups:\n" not in lines:
        return None
    first = lines.index("service_groups:\n") + 1
    items: list[list[str]] = []
    for line in lines[first:]:
        if line.startswith("  - "):
            items.append([])
        elif not items or not line.startswith("    "):
            return None
        items[-1].append(line)
    if max(places) >= len(items):
        return None
    return "".join(lines[:first] + [line for place in places for line in items[place]])


def _own(item: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """With what the file has that the item names, relative to the server's."""
    if "file" not in item:
        return item
    try:
        text = (folder / item["file"]).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{item['file']}: {error.strerror}") from error
    own = {key: value for key, value in item.items() if key != "file"}
    return alone(load_tree(text), own)


def _groups(text: str, folder: Path) -> list[Config]:
    whole = load_tree(text)
    listed = whole.get("service_groups") if isinstance(whole, dict) else None
    if listed is None:
        return [parse_config(text)]
    if not isinstance(listed, list):
        raise ConfigError("service_groups is no list")
    return [parse_config(json.dumps(alone(whole, _own(item, folder)))) for item in listed]


def parse_groups(text: str, places: Sequence[int], folder: Path) -> dict[int, Config]:
    """Those at these places in a file of one service group or several, which lies in `folder`.
    Raises ConfigError."""
    only = _only(text, places) if places else None
    if only is not None:
        return dict(zip(places, _groups(only, folder), strict=True))
    groups = _groups(text, folder)
    if any(place >= len(groups) for place in places):
        raise ConfigError(f"{len(groups)} service groups, and windows of others")
    return {place: groups[place] for place in places}
