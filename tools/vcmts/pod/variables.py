# SPDX-License-Identifier: BSD-3-Clause
"""Replaces ${NAME} and ${NAME[i]} by environment variables, which device plugins set."""

import re
from collections.abc import Mapping

from vcmts.secret import shown

REFERENCE = re.compile(r"(\$?)\$\{([^}]*)\}")
NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(\d{1,3})\])?")
ALLOWED = "${NAME} or ${NAME[0]}"


class WrongError(Exception):
    """An error in the mounted files or the container, in one line."""


def item(name: str, listed: str, place: int) -> str:
    items = [part.strip() for part in listed.split(",")]
    if place >= len(items):
        raise WrongError(
            f"found ${{{name}[{place}]}}, allowed: 0 to {len(items) - 1}, as {name} has "
            f"{len(items)} item{'s' if len(items) != 1 else ''}"
        )
    if not items[place]:
        raise WrongError(f"found ${{{name}[{place}]}}, but that item of {name} is empty")
    return items[place]


def value_of(reference: str, environment: Mapping[str, str]) -> str:
    match = NAME.fullmatch(reference)
    if match is None:
        raise WrongError(f"found ${{{shown(reference)}}}, allowed: {ALLOWED}")
    name, place = match[1], match[2]
    if name not in environment:
        raise WrongError(
            f"found ${{{reference}}}, but the variable {name} is not set: "
            "does the pod request that resource?"
        )
    value = environment[name].strip()
    if not value:
        raise WrongError(f"found ${{{reference}}}, but the variable {name} is empty")
    return value if place is None else item(name, value, int(place))


def replaced(text: str, environment: Mapping[str, str]) -> str:
    """Replaces all references; $${ stands for ${. Raises WrongError for one without a value."""

    def one(match: re.Match[str]) -> str:
        return match[0][1:] if match[1] else value_of(match[2], environment)

    return REFERENCE.sub(one, text)
