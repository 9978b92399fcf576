# SPDX-License-Identifier: BSD-3-Clause
"""Replaces ${NAME} and ${NAME[i]} by environment variables, which device plugins set."""

import re
from collections.abc import Mapping

from vcmts.secret import hide_keys

REFERENCE = re.compile(r"(\$?)\$\{([^}]*)\}")
NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(\d{1,3})\])?")
ALLOWED = "${NAME} or ${NAME[0]}"


class PodError(Exception):
    """An error in the mounted files or the container, in one line."""


def list_item(name: str, listed: str, index: int) -> str:
    items = [part.strip() for part in listed.split(",")]
    if index >= len(items):
        raise PodError(
            f"found ${{{name}[{index}]}}, allowed: 0 to {len(items) - 1}, as {name} has "
            f"{len(items)} item{'s' if len(items) != 1 else ''}"
        )
    if not items[index]:
        raise PodError(f"found ${{{name}[{index}]}}, but that item of {name} is empty")
    return items[index]


def value_of(reference: str, environment: Mapping[str, str]) -> str:
    match = NAME.fullmatch(reference)
    if match is None:
        raise PodError(f"found ${{{hide_keys(reference)}}}, allowed: {ALLOWED}")
    name, index = match[1], match[2]
    if name not in environment:
        raise PodError(
            f"found ${{{reference}}}, but the variable {name} is not set: "
            "does the pod request that resource?"
        )
    value = environment[name].strip()
    if not value:
        raise PodError(f"found ${{{reference}}}, but the variable {name} is empty")
    return value if index is None else list_item(name, value, int(index))


def replace_references(text: str, environment: Mapping[str, str]) -> str:
    """Replaces all references; $${ stands for ${. Raises PodError for one without a value."""

    def one(match: re.Match[str]) -> str:
        return match[0][1:] if match[1] else value_of(match[2], environment)

    return REFERENCE.sub(one, text)
