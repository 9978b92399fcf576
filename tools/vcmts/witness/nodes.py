# SPDX-License-Identifier: BSD-3-Clause
"""Reads values from a YAML tree whose scalars are text. Errors name the path of the key."""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TypeVar, cast

T = TypeVar("T")
Node = Mapping[str, object]


class ConfigError(ValueError):
    """The configuration is invalid; the text begins with the path of the key."""


def mapping(node: object, path: str) -> Node:
    if not isinstance(node, dict):
        raise ConfigError(f"{path}: found {node!r}, expected keys and values")
    return cast(Node, node)


def sequence(parent: Node, key: str, path: str) -> Sequence[object]:
    node = parent.get(key, [])
    if not isinstance(node, list):
        raise ConfigError(f"{path}.{key}: found {node!r}, expected a list")
    return node


def children(parent: Node, key: str, path: str) -> list[tuple[Node, str]]:
    """The maps of a list, each with its path; none if the key is missing."""
    nodes = sequence(parent, key, path)
    paths = [f"{path}.{key}[{index}]" for index in range(len(nodes))]
    return [(mapping(node, child), child) for node, child in zip(nodes, paths, strict=True)]


def read(
    node: Node, key: str, path: str, convert: Callable[[str], T], default: T | None = None
) -> T:
    """The converted value of a key; `default` if the key is missing. Raises ConfigError."""
    text = node.get(key)
    if text is None and default is not None:
        return default
    if not isinstance(text, str):
        raise ConfigError(f"{path}.{key}: found {text!r}, expected a value")
    try:
        return convert(text)
    except (ValueError, KeyError, ArithmeticError) as error:
        raise ConfigError(f"{path}.{key}: found {text!r}: {error}") from error


def number(text: str) -> int:
    return int(text, 16) if text.lower().startswith("0x") else int(text)


def strings(parent: Node, key: str, path: str) -> list[str]:
    nodes = sequence(parent, key, path)
    texts = [node for node in nodes if isinstance(node, str)]
    if len(texts) != len(nodes):
        raise ConfigError(f"{path}.{key}: expected a list of values")
    return texts


def numbers(parent: Node, key: str, path: str) -> tuple[int, ...]:
    try:
        return tuple(number(text) for text in strings(parent, key, path))
    except ValueError as error:
        raise ConfigError(f"{path}.{key}: {error}") from error


SIZE_PREFIXES = {"": 1, "k": 10**3, "Ki": 2**10, "M": 10**6, "Mi": 2**20, "G": 10**9, "Gi": 2**30}
TIME_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
SIZE_UNITS = {
    f"{prefix}{suffix}": factor for prefix, factor in SIZE_PREFIXES.items() for suffix in ("", "B")
}
RATE_UNITS = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}


def quantity(text: str, units: Mapping[str, int]) -> int:
    parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)", text)
    if parts is None or parts[2] not in units:
        raise ValueError(f"not a number with a unit of {', '.join(units)}")
    value = Decimal(parts[1]) * units[parts[2]]
    if value != int(value):
        raise ValueError("not a whole number of the smallest unit")
    return int(value)


def time_ns(text: str) -> int:
    return quantity(text, TIME_UNITS)


def size(text: str) -> int:
    return number(text) if text.startswith("0x") else quantity(text, SIZE_UNITS)


def rate(text: str) -> int:
    return quantity(text, RATE_UNITS)


def boolean(text: str) -> bool:
    return choice("true", "false")(text) == "true"


def choice(*allowed: str) -> Callable[[str], str]:
    def convert(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"allowed: {', '.join(allowed)}")
        return text

    return convert
