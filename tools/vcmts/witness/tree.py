# SPDX-License-Identifier: BSD-3-Clause
"""Parses YAML or JSON to a tree of dictionaries and lists whose scalars are text.

The tree is built from the parser's events: PyYAML's constructors, which create a node per value and
search its type, take five times as long for a service group with 300 modems.
"""

import json
from typing import Any

import yaml

# libyaml is seven times as fast.
PARSER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class TreeError(ValueError):
    """The text is not YAML, or nested too deeply."""


class _Builder:
    """Builds the tree of one document. An alias refers to the value of its anchor."""

    def __init__(self, text: str) -> None:
        self.next = PARSER(text).get_event
        self.anchors: dict[str, Any] = {}

    def document(self) -> Any:
        """The tree of the only document; None if there is none."""
        self.next()  # the stream's start
        if type(self.next()) is yaml.StreamEndEvent:
            return None
        tree = self.value(self.next())
        self.next()  # the document's end
        if type(self.next()) is not yaml.StreamEndEvent:
            raise TreeError("not YAML: found another document, expected one")
        return tree

    def value(self, event: Any) -> Any:
        kind = type(event)
        if kind is yaml.AliasEvent:
            if event.anchor not in self.anchors:
                raise TreeError(f"not YAML: found undefined or recursive alias {event.anchor!r}")
            return self.anchors[event.anchor]
        if kind is yaml.ScalarEvent:
            value = event.value
        elif kind is yaml.MappingStartEvent:
            value = self.mapping()
        else:
            value = self.sequence()
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def mapping(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while type(event := self.next()) is not yaml.MappingEndEvent:
            key = self.value(event)
            if type(key) is not str:
                raise TreeError(f"not YAML: found the key {key!r}, expected text")
            found[key] = self.value(self.next())
        return found

    def sequence(self) -> list[Any]:
        found: list[Any] = []
        while type(event := self.next()) is not yaml.SequenceEndEvent:
            found.append(self.value(event))
        return found


def _as_text(node: object) -> object:
    """Converts the scalars of a JSON tree to text, as YAML's are."""
    if isinstance(node, dict):
        return {key: _as_text(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_as_text(value) for value in node]
    return node if isinstance(node, str) else json.dumps(node)


def load_tree(text: str) -> Any:
    """Parses JSON or YAML to a tree whose scalars are text. Raises TreeError."""
    try:
        try:
            return _as_text(json.loads(text, parse_int=str, parse_float=str, parse_constant=str))
        except json.JSONDecodeError:
            return _Builder(text).document()
    except (yaml.YAMLError, RecursionError) as error:
        raise TreeError(f"not YAML: {error}") from error
