# SPDX-License-Identifier: BSD-3-Clause
"""Splits a server's configuration file into one configuration per service group."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vcmts.witness.config import config_of
from vcmts.witness.model import Config
from vcmts.witness.nodes import ConfigError
from vcmts.witness.tree import TreeError, load_tree

Json = dict[str, Any]
SERVER_KEYS = ("service_groups", "name", "max_groups")
MERGED = ("ports", "rphy", "threads", "upstream")


def group_document(whole: Mapping[str, Any], item: Mapping[str, Any]) -> Json:
    """The configuration of a group: the keys of the server merged with those of the group."""
    common = {key: value for key, value in whole.items() if key not in SERVER_KEYS}
    merged = common | dict(item)
    for key in MERGED:
        if key in common and key in item:
            merged[key] = common[key] | item[key]
    return merged


def _select_groups(text: str, indexes: Sequence[int]) -> str | None:
    """Removes other groups from the text, as parsing takes a second per group. Returns None if the
    text is not formatted as by `vcmts profile`."""
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
    if max(indexes) >= len(items):
        return None
    return "".join(lines[:first] + [line for index in indexes for line in items[index]])


def _with_file(item: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """The item merged with the file that it names, whose path is relative to `folder`."""
    if "file" not in item:
        return item
    try:
        text = (folder / item["file"]).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{item['file']}: {error.strerror}") from error
    own = {key: value for key, value in item.items() if key != "file"}
    return group_document(load_tree(text), own)


def _groups(text: str, folder: Path) -> list[Config]:
    try:
        whole = load_tree(text)
        listed = whole.get("service_groups") if isinstance(whole, dict) else None
        if listed is None:
            return [config_of(whole)]
        if not isinstance(listed, list):
            raise ConfigError("service_groups is no list")
        return [config_of(group_document(whole, _with_file(item, folder))) for item in listed]
    except TreeError as error:
        raise ConfigError(str(error)) from error


def parse_groups(text: str, indexes: Sequence[int], folder: Path) -> dict[int, Config]:
    """Parses the groups with these indexes from the text of a file in `folder`.
    Raises ConfigError."""
    only = _select_groups(text, indexes) if indexes else None
    if only is not None:
        return dict(zip(indexes, _groups(only, folder), strict=True))
    groups = _groups(text, folder)
    if any(index >= len(groups) for index in indexes):
        raise ConfigError(f"{len(groups)} service groups, but windows of group {max(indexes)}")
    return {index: groups[index] for index in indexes}
