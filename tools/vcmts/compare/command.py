# SPDX-License-Identifier: BSD-3-Clause
"""vcmts compare: compares the figures of two measurements, with statistical significance."""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from vcmts.compare import figures as compare_figures
from vcmts.compare.figures import Figure, Words
from vcmts.compare.statistics import CHANCE, Judged, judge
from vcmts.console import figures_table, say, wide_console
from vcmts.jsons import Json
from vcmts.paths import MistakeError
from vcmts.report.document import number
from vcmts.report.runs import opened
from vcmts.results import SCHEMA

DRIFT = 0.02  # relative difference of the core clock, or of the rate of 100 % load, to warn of
# Settings of a measurement: figures with different settings are not comparable.
SETTINGS = (
    "transport",
    "trial_seconds",
    "resolution",
    "accepted_loss",
    "confirmations",
    "upstream_share",
    "prove",
    "mix",
    "upstream_mix",
)
HOST = (
    ("processor", ("cpu",)),
    ("TSC", ("tsc_hz",)),
    ("huge pages", ("huge_pages",)),
    ("CPUs", ("cpus",)),
    ("kernel", ("kernel", "release")),
    ("kernel options", ("kernel", "options")),
    ("isolated CPUs", ("kernel", "isolated_cpus")),
    ("hypervisor", ("hypervisor", "detected")),
    ("DPDK", ("software", "dpdk")),
    ("intel-ipsec-mb", ("software", "intel_ipsec_mb")),
    ("compiler", ("software", "compiler")),
    ("-march", ("software", "march")),
    ("profile-guided", ("software", "profile_guided")),
    ("commit", ("software", "commit")),
)


@dataclass(frozen=True)
class Pair:
    """A figure that both files have."""

    kind: str
    name: str
    words: Words
    a: Figure
    b: Figure
    judged: Judged

    @property
    def difference(self) -> float | None:
        """The difference as a share of a; None if a is 0."""
        a, b = self.a.sample.value, self.b.sample.value
        return (b - a) / a if a else None

    @property
    def between(self) -> tuple[float, float] | None:
        """The range of the difference between single runs; None if it is unknown."""
        a, b = self.a.sample, self.b.sample
        if min(a.least, a.most) <= 0 or max(a.runs, b.runs) < 2:
            return None
        return b.least / a.most - 1, b.most / a.least - 1

    @property
    def verdict(self) -> str:
        if self.judged.verdict != "differs":
            return self.judged.verdict
        more = self.b.sample.value > self.a.sample.value
        return self.words.more if more else self.words.less


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A.json", help="stored by `vcmts bench` or `vcmts report`")
    parser.add_argument("b", metavar="B.json", help="what is said to differ from it")
    parser.add_argument("--json", action="store_true", help="write JSON to standard output")
    parser.add_argument("--all", action="store_true", help="show details too: stages, memory, ...")


def by_kind(path: str) -> dict[tuple[str, int], Json]:
    """The measurements of a file, by kind and index within the kind."""
    found: dict[tuple[str, int], Json] = {}
    for _, run in opened([path]):
        index = sum(kind == run["kind"] for kind, _ in found)
        found[run["kind"], index] = run
    return found


def common(a: str, b: str) -> list[tuple[str, Json, Json]]:
    """The kinds that both files have, with both measurements. Raises MistakeError if none."""
    ours, theirs = by_kind(a), by_kind(b)
    both = [(key[0], run, theirs[key]) for key, run in ours.items() if key in theirs]
    if not both:
        kinds = (" and ".join(dict.fromkeys(kind for kind, _ in one)) for one in (ours, theirs))
        first, second = kinds
        raise MistakeError(
            f"nothing to compare: {a} has {first}, {b} has {second}; both must have the same kind"
        )
    return both


def at(host: Json, path: Sequence[str]) -> Any:
    value: Any = host
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def settings(kind: str, a: Json, b: Json) -> Iterator[str]:
    """Yields a line per setting that differs."""
    for key in SETTINGS:
        if key in a and key in b and a[key] != b[key]:
            yield f"{kind}, {key.replace('_', ' ')}: {told(a[key])} and {told(b[key])}"
    full = [sum((file.get("zero_loss_gbps") or {}).values()) for file in (a, b)]
    if all(full) and abs(full[0] / full[1] - 1) > DRIFT:
        yield f"{kind}, 100 % load: {full[0]:.2f} and {full[1]:.2f} Gbps"


def told(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def warnings(kind: str, a: Json, b: Json) -> Iterator[str]:
    """Yields a line per difference of the conditions, which may explain differing figures."""
    if a["configuration"] != b["configuration"]:
        yield f"configuration: {a['configuration']} and {b['configuration']}"
    yield from settings(kind, a, b)
    for name, path in HOST:
        left, right = at(a["host"], path), at(b["host"], path)
        if left is not None and right is not None and left != right:
            yield f"{name}: {left} and {right}"
    clocks = a["host"].get("core_hz", 0), b["host"].get("core_hz", 0)
    if all(clocks) and abs(clocks[0] / clocks[1] - 1) > DRIFT:
        left, right = (f"{hz / 1e9:.2f} GHz" for hz in clocks)
        yield f"core clock, measured: {left} and {right}"
    for letter, file in (("A", a), ("B", b)):
        if not file["complete"]:
            yield f"{letter} was interrupted: {kind} is incomplete"
        if at(file["host"], ("software", "dirty")) is True:
            yield f"{letter} was measured with uncommitted changes of the source"
        disturbed = sum(bool(result.get("disturbed")) for result in file["results"])
        if disturbed:
            yield f"{letter}: a polling thread lost its core in {disturbed} results"


def pairs(kind: str, a: Json, b: Json) -> Iterator[Pair]:
    theirs = compare_figures.of(b)
    for name, figure in compare_figures.of(a).items():
        if name in theirs:
            judged = judge(figure.sample, theirs[name].sample)
            yield Pair(kind, name, figure.words, figure, theirs[name], judged)


def alone(a: Json, b: Json) -> Iterator[str]:
    """Yields a line for the figures that only one of both has."""
    ours, theirs = compare_figures.of(a), compare_figures.of(b)
    for letter, one, other in (("A", ours, theirs), ("B", theirs, ours)):
        names = [name for name, f in one.items() if name not in other and not f.detail]
        if names:
            few = "; ".join(names[:4]) + (f"; and {len(names) - 4} more" if len(names) > 4 else "")
            yield f"only in {letter}: {few}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:+.1f} %"


def chance(judged: Judged) -> str:
    """The probability of such a difference by chance, or the method if it is unknown."""
    if judged.chance is None:
        return judged.method
    share = 100 * judged.chance
    if share < 0.01:
        return "< 0.01 %"
    return f"{share:.2g} %" if share < 10 else f"{share:.0f} %"


def table(found: Sequence[Pair]) -> Table:
    texts = ("B is", "by chance")
    out = figures_table(("", "A", "B", "difference", "runs allow", *texts), texts=texts)
    for pair in found:
        between = pair.between
        out.add_row(
            pair.name,
            number(pair.a.sample.value),
            number(pair.b.sample.value),
            percent(pair.difference),
            "-" if between is None else f"{percent(between[0])} to {percent(between[1])}",
            pair.verdict,
            chance(pair.judged),
        )
    return out


def as_json(arguments: argparse.Namespace, found: Sequence[Pair], told: Sequence[str]) -> Json:
    return {
        "schema": SCHEMA,
        "kind": "comparison",
        "a": arguments.a,
        "b": arguments.b,
        "warnings": list(told),
        "figures": [
            {
                "kind": pair.kind,
                "figure": pair.name,
                "unit": pair.words.unit,
                "a": pair.a.sample.value,
                "b": pair.b.sample.value,
                "difference": pair.difference,
                "between": pair.between,
                "verdict": pair.verdict,
                "method": pair.judged.method,
                "chance": pair.judged.chance,
            }
            for pair in found
        ],
    }


def show(found: Sequence[Pair], told: Sequence[str], console: Console) -> None:
    for line in told:
        say(console, f"note: {line}")
    for kind, unit in dict.fromkeys((pair.kind, pair.words.unit) for pair in found):
        say(console, f"{kind}, {unit}")
        own = [pair for pair in found if (pair.kind, pair.words.unit) == (kind, unit)]
        console.print(table(own))
    tested = sum(pair.judged.chance is not None for pair in found)
    words = (
        "A verdict means: A and B differ by more than their runs do. It does not name the cause."
    )
    if tested:
        words += f" Of {tested} figures tested, about {CHANCE * tested:.1f} differ by chance alone."
    say(console, words)


def main(arguments: argparse.Namespace) -> int:
    found: list[Pair] = []
    told: list[str] = []
    for kind, a, b in common(arguments.a, arguments.b):
        found += pairs(kind, a, b)
        told += [*warnings(kind, a, b), *alone(a, b)]
    told = list(dict.fromkeys(told))
    if arguments.json:
        print(json.dumps(as_json(arguments, found, told), indent=1))
        return 0
    shown = [pair for pair in found if arguments.all or not pair.a.detail]
    if not shown:
        raise MistakeError(
            f"nothing to compare: no figure is both in {arguments.a} and in {arguments.b}"
        )
    show(shown, told, wide_console())
    return 0
