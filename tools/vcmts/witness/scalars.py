# SPDX-License-Identifier: BSD-3-Clause
"""Words of a service group's YAML: numbers with units, choices, truth values."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from vcmts.witness.nodes import number

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


def truth(text: str) -> bool:
    return one_of("true", "false")(text) == "true"


def one_of(*allowed: str) -> Callable[[str], str]:
    def convert(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"allowed: {', '.join(allowed)}")
        return text

    return convert
