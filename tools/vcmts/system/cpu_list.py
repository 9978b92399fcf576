# SPDX-License-Identifier: BSD-3-Clause
"""Parses CPU lists of the kernel: `1,3-5`, `0-15:1/2`, `8-N`, `all`.

See Documentation/admin-guide/kernel-parameters.rst and lib/bitmap-str.c. The kernel ignores an
argument whose list has any error.
"""

import re
from collections.abc import Iterator

LIST = re.compile(r"[^\s,]+")
REGION = re.compile(
    r"(?:(?P<all>all)|(?P<first>N|[0-9]{1,9})(?:-(?P<last>N|[0-9]{1,9}))?)"
    r"(?::(?P<used>N|[0-9]{1,9})/(?P<group>N|[0-9]{1,9}))?"
)
FLAGS = ("nohz", "domain", "managed_irq")  # flags of isolcpus=
MAX_CPUS = 1 << 16


class ListError(ValueError):
    """Invalid CPU list."""


def number(text: str | None, last: int | None, usual: int) -> int:
    if text is None:
        return usual
    if text != "N":
        return int(text)
    if last is None:
        raise ListError
    return last


def region(text: str, last: int | None) -> Iterator[int]:
    """The CPUs of a range, or the first `used` CPUs of each `group` in it."""
    found = REGION.fullmatch("all" + text[3:] if text[:3].lower() == "all" else text)
    if found is None or (found["used"] and not (found["all"] or found["last"])):
        raise ListError
    first = 0 if found["all"] else number(found["first"], last, 0)
    end = number("N" if found["all"] else found["last"], last, first)
    group = number(found["group"], last, end + 1)
    used = number(found["used"], last, end + 1)
    if first > end or group == 0 or used > group or end > (MAX_CPUS if last is None else last):
        raise ListError
    for start in range(first, end + 1, group):
        yield from range(start, min(start + used, end + 1))


def cpus(text: str, last: int | None = None) -> tuple[int, ...]:
    """Parses a list, in the order of the text. `last`: the host's last possible CPU, which N means;
    None if unknown. Raises ListError."""
    return tuple(dict.fromkeys(cpu for part in LIST.findall(text) for cpu in region(part, last)))


def cpus_or_none(text: str, last: int | None = None) -> tuple[int, ...]:
    """Parses a list; empty if it is invalid, such as the kernel's `(null)`."""
    try:
        return cpus(text, last)
    except ListError:
        return ()


def isolcpus(value: str, last: int | None) -> tuple[frozenset[str], tuple[int, ...]]:
    """The flags and CPUs of isolcpus=. As in kernel/sched/isolation.c, every word that begins with
    a letter is a flag, also `all`; unknown flags are skipped."""
    flags: set[str] = set()
    while value[:1].isascii() and value[:1].isalpha():
        word, comma, value = value.partition(",")
        if re.fullmatch("[A-Za-z_]+", word) is None:
            return frozenset(), ()
        if comma and word in FLAGS:
            flags.add(word)
    return frozenset(flags or {"domain"}), cpus_or_none(value, last)
