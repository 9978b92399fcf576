# SPDX-License-Identifier: BSD-3-Clause
"""Reads values out of a YAML tree whose scalars are all text, and names the place of a mistake."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

T = TypeVar("T")
Node = Mapping[str, object]


class ConfigError(ValueError):
    """The configuration does not say what the witness needs; the text names the place."""


def mapping(node: object, where: str) -> Node:
    if not isinstance(node, dict):
        raise ConfigError(f"{where}: found {node!r}, expected keys and values")
    return cast(Node, node)


def sequence(parent: Node, key: str, where: str) -> Sequence[object]:
    node = parent.get(key, [])
    if not isinstance(node, list):
        raise ConfigError(f"{where}.{key}: found {node!r}, expected a list")
    return node


def children(parent: Node, key: str, where: str) -> list[tuple[Node, str]]:
    nodes = sequence(parent, key, where)
    places = [f"{where}.{key}[{index}]" for index in range(len(nodes))]
    return [(mapping(node, place), place) for node, place in zip(nodes, places, strict=True)]


def read(
    node: Node, key: str, where: str, convert: Callable[[str], T], default: T | None = None
) -> T:
    text = node.get(key)
    if text is None and default is not None:
        return default
    if not isinstance(text, str):
        raise ConfigError(f"{where}.{key}: found {text!r}, expected a value")
    try:
        return convert(text)
    except (ValueError, KeyError, ArithmeticError) as error:
        raise ConfigError(f"{where}.{key}: found {text!r}: {error}") from error


def number(text: str) -> int:
    return int(text, 16) if text.lower().startswith("0x") else int(text)


def strings(parent: Node, key: str, where: str) -> list[str]:
    nodes = sequence(parent, key, where)
    texts = [node for node in nodes if isinstance(node, str)]
    if len(texts) != len(nodes):
        raise ConfigError(f"{where}.{key}: expected a list of values")
    return texts


def numbers(parent: Node, key: str, where: str) -> tuple[int, ...]:
    try:
        return tuple(number(text) for text in strings(parent, key, where))
    except ValueError as error:
        raise ConfigError(f"{where}.{key}: {error}") from error
