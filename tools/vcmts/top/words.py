# SPDX-License-Identifier: BSD-3-Clause
"""Formats figures as short texts, and bars. Unknown values are a dash."""

import math

UNKNOWN = "-"
SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
BLOCKS = " ▏▎▍▌▋▊▉█"


def three_digits(value: float) -> str:
    """Formats a value with three digits: 1.23, 12.3, 123."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def scaled(value: float | None) -> tuple[str, str]:
    """The digits and the SI prefix of a value."""
    if value is None or not math.isfinite(value):
        return UNKNOWN, ""
    for scale, letter in SCALES:
        if value >= 0.9995 * scale:
            return three_digits(value / scale), letter
    return f"{value:.0f}" if value == round(value) else three_digits(value), ""


def short(value: float | None) -> str:
    """A value in at most five characters, such as 98.1k."""
    return "".join(scaled(value))


def bits(value: float | None) -> str:
    digits, letter = scaled(value)
    return digits if digits == UNKNOWN else f"{digits} {letter}bps"


def per_second(value: float | None) -> str:
    return UNKNOWN if value is None else f"{short(value)}/s"


def integer(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f}"


def duration(seconds: float | None) -> str:
    """A time in at most six characters, such as 12.3us; "beyond" the last bound of a histogram."""
    if seconds is None:
        return UNKNOWN
    if math.isinf(seconds):
        return "beyond"
    for scale, unit in TIMES:
        if seconds >= 0.9995 * scale or unit == "us":
            return f"{three_digits(seconds / scale)}{unit}"
    return UNKNOWN


def share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1%}"


def clock(seconds: float) -> str:
    """An uptime, such as 3d 01:02:03; without days if there are none."""
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return (f"{days}d " if days else "") + f"{hours:02}:{minutes:02}:{left:02}"


def bar(part: float | None, width: int, *, blocks: bool) -> str:
    """A bar of `width` characters; with `blocks` in eighths of a character, else ASCII."""
    filled = max(0.0, min(1.0, part or 0.0)) * width
    if not blocks:
        return ("#" * round(filled)).ljust(width, ".")
    eighths = round(8 * filled)
    full, rest = divmod(eighths, 8)
    return (BLOCKS[8] * full + (BLOCKS[rest] if rest else "")).ljust(width)


def printable(text: str) -> str:
    """Replaces unprintable characters, such as escape sequences, by "?"."""
    return "".join(one if one.isprintable() else "?" for one in text)
