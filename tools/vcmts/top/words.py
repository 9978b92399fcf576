# SPDX-License-Identifier: BSD-3-Clause
"""Formats figures as short texts, and bars. Unknown values are a dash."""

import math

from rich.text import Text

UNKNOWN = "-"
SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
FULL, HALF, TRACK = "━╸─"  # characters of bars


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


def unit_of(seconds: float) -> tuple[float, str]:
    """The unit of a time: its seconds and its name."""
    return next((one for one in TIMES if seconds >= 0.9995 * one[0]), TIMES[-1])


def duration(seconds: float | None) -> str:
    """A time in at most six characters, such as 12.3us; "beyond" the last bound of a histogram."""
    if seconds is None:
        return UNKNOWN
    if math.isinf(seconds):
        return "beyond"
    scale, unit = unit_of(seconds)
    digits = f"{seconds / scale:.0f}" if unit == "ns" else three_digits(seconds / scale)
    return f"{digits}{unit}"


def at_most(seconds: float | None, least: float | None) -> str:
    """As duration(), but <256ns for a time of at most `least`, of which nothing finer is known."""
    if seconds is None or least is None or seconds > least or math.isinf(least):
        return duration(seconds)
    scale, unit = unit_of(least)
    tenths = math.ceil(round(10 * least / scale, 6))  # rounded up, so that it stays a bound
    return f"<{tenths / 10:g}{unit}" if tenths < 1000 else f"<{math.ceil(tenths / 10)}{unit}"


def share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1%}"


def clock(seconds: float) -> str:
    """An uptime, such as 3d 01:02:03; without days if there are none."""
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return (f"{days}d " if days else "") + f"{hours:02}:{minutes:02}:{left:02}"


def bar(part: float | None, width: int, style: str, *, blocks: bool) -> Text:
    """A bar of `width` characters on a dim track; without `blocks` in ASCII.

    Any part above 0 fills at least half a character."""
    share = max(0.0, min(1.0, part or 0.0))
    halves = max(1, round(2 * width * share)) if share > 0 else 0
    filled, track = FULL * (halves // 2) + HALF * (halves % 2), TRACK
    if not blocks:
        filled, track = "#" * round(width * share), "."
    return Text(filled, style=style).append(track * (width - len(filled)), style="dim")


def clip(text: str, width: int) -> str:
    """The text, or as many whole words of it as fit, and `..`."""
    if len(text) <= width:
        return text
    head = text[: max(0, width - 1)].rpartition(" ")[0].rstrip(" ,")
    return f"{head}.." if head else ""


def printable(text: str) -> str:
    """Replaces unprintable characters, such as escape sequences, by "?"."""
    return "".join(one if one.isprintable() else "?" for one in text)
