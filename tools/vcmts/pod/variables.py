# SPDX-License-Identifier: BSD-3-Clause
"""${NAME} and ${NAME[i]} in a text, by the environment: what device plugins tell a container."""

import re
from collections.abc import Mapping

from vcmts.secret import shown

REFERENCE = re.compile(r"(\$?)\$\{([^}]*)\}")
NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(\d{1,3})\])?")
ALLOWED = "${NAME} or ${NAME[0]}"


class WrongError(Exception):
    """Why a reference stands for nothing."""


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
            "does the pod ask for that resource?"
        )
    value = environment[name].strip()
    if not value:
        raise WrongError(f"found ${{{reference}}}, but the variable {name} is empty")
    return value if place is None else item(name, value, int(place))


def replaced(text: str, environment: Mapping[str, str]) -> str:
    """With values for all references; $${ stands for ${ itself. Raises WrongError at the first
    that has none."""

    def one(match: re.Match[str]) -> str:
        return match[0][1:] if match[1] else value_of(match[2], environment)

    return REFERENCE.sub(one, text)
