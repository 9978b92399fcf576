# SPDX-License-Identifier: BSD-3-Clause
"""vcmts compare: compares the figures of two measurements, with statistical significance."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from vcmts import options, version
from vcmts.compare import figures as compare_figures
from vcmts.compare.figures import Figure, Words
from vcmts.compare.statistics import CHANCE, Comparison, compare_samples
from vcmts.console import figures_table, print_line, wide_console
from vcmts.jsons import Json
from vcmts.output import is_stdout, write_json
from vcmts.paths import MistakeError
from vcmts.report.document import number
from vcmts.report.runs import read_runs
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
    comparison: Comparison

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
        if self.comparison.verdict != "differs":
            return self.comparison.verdict
        more = self.b.sample.value > self.a.sample.value
        return self.words.more if more else self.words.less


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A.json", help="stored by `vcmts bench` or `vcmts report`")
    parser.add_argument("b", metavar="B.json", help="what is said to differ from it")
    options.add_json(parser, "the differences")
    parser.add_argument("--all", action="store_true", help="show details too: stages, memory, ...")


def runs_by_kind(path: str) -> dict[tuple[str, int], Json]:
    """The measurements of a file, by kind and index within the kind."""
    found: dict[tuple[str, int], Json] = {}
    for _, run in read_runs([path]):
        index = sum(kind == run["kind"] for kind, _ in found)
        found[run["kind"], index] = run
    return found


def common_kinds(a: str, b: str) -> list[tuple[str, Json, Json]]:
    """The kinds that both files have, with both measurements. Raises MistakeError if none."""
    of_a, of_b = runs_by_kind(a), runs_by_kind(b)
    both = [(key[0], run, of_b[key]) for key, run in of_a.items() if key in of_b]
    if not both:
        kinds = (" and ".join(dict.fromkeys(kind for kind, _ in one)) for one in (of_a, of_b))
        first, second = kinds
        raise MistakeError(
            f"nothing to compare: {a} has {first}, {b} has {second}; both must have the same kind"
        )
    return both


def host_fact(host: Json, path: Sequence[str]) -> Any:
    value: Any = host
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def setting_differences(kind: str, a: Json, b: Json) -> Iterator[str]:
    """Yields a line per setting that differs."""
    for key in SETTINGS:
        if key in a and key in b and a[key] != b[key]:
            left, right = format_value(a[key]), format_value(b[key])
            yield f"{kind}, {key.replace('_', ' ')}: {left} and {right}"
    full = [sum((file.get("zero_loss_gbps") or {}).values()) for file in (a, b)]
    if all(full) and abs(full[0] / full[1] - 1) > DRIFT:
        yield f"{kind}, 100 % load: {full[0]:.2f} and {full[1]:.2f} Gbps"


def format_value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def condition_differences(kind: str, a: Json, b: Json) -> Iterator[str]:
    """Yields a line per difference of the conditions, which may explain differing figures."""
    if a["configuration"] != b["configuration"]:
        yield f"configuration: {a['configuration']} and {b['configuration']}"
    yield from setting_differences(kind, a, b)
    for name, path in HOST:
        left, right = host_fact(a["host"], path), host_fact(b["host"], path)
        if left is not None and right is not None and left != right:
            yield f"{name}: {left} and {right}"
    clocks = a["host"].get("core_hz", 0), b["host"].get("core_hz", 0)
    if all(clocks) and abs(clocks[0] / clocks[1] - 1) > DRIFT:
        left, right = (f"{hz / 1e9:.2f} GHz" for hz in clocks)
        yield f"core clock, measured: {left} and {right}"
    for letter, file in (("A", a), ("B", b)):
        if not file["complete"]:
            yield f"{letter} was interrupted: {kind} is incomplete"
        if host_fact(file["host"], ("software", "dirty")) is True:
            yield f"{letter} was measured with uncommitted changes of the source"
        disturbed = sum(bool(result.get("disturbed")) for result in file["results"])
        if disturbed:
            yield f"{letter}: a polling thread lost its core in {disturbed} results"


def pairs(kind: str, a: Json, b: Json) -> Iterator[Pair]:
    of_b = compare_figures.figures_by_name(b)
    for name, figure in compare_figures.figures_by_name(a).items():
        if name in of_b:
            comparison = compare_samples(figure.sample, of_b[name].sample)
            yield Pair(kind, name, figure.words, figure, of_b[name], comparison)


def unpaired(a: Json, b: Json) -> Iterator[str]:
    """Yields a line for the figures that only one of both has."""
    of_a, of_b = compare_figures.figures_by_name(a), compare_figures.figures_by_name(b)
    for letter, one, other in (("A", of_a, of_b), ("B", of_b, of_a)):
        names = [name for name, f in one.items() if name not in other and not f.detail]
        if names:
            listed = "; ".join(names[:4]) + (
                f"; and {len(names) - 4} more" if len(names) > 4 else ""
            )
            yield f"only in {letter}: {listed}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:+.1f} %"


def chance(comparison: Comparison) -> str:
    """The probability of such a difference by chance, or the method if it is unknown."""
    if comparison.chance is None:
        return comparison.method
    share = 100 * comparison.chance
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
            chance(pair.comparison),
        )
    return out


def as_json(arguments: argparse.Namespace, found: Sequence[Pair], notes: Sequence[str]) -> Json:
    return {
        "schema": SCHEMA,
        "kind": "comparison",
        "version": version.facts(),
        "a": arguments.a,
        "b": arguments.b,
        "warnings": list(notes),
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
                "method": pair.comparison.method,
                "chance": pair.comparison.chance,
            }
            for pair in found
        ],
    }


def show(found: Sequence[Pair], notes: Sequence[str], console: Console) -> None:
    for line in notes:
        print_line(console, f"note: {line}")
    for kind, unit in dict.fromkeys((pair.kind, pair.words.unit) for pair in found):
        print_line(console, f"{kind}, {unit}")
        own = [pair for pair in found if (pair.kind, pair.words.unit) == (kind, unit)]
        console.print(table(own))
    tested = sum(pair.comparison.chance is not None for pair in found)
    words = (
        "A verdict means: A and B differ by more than their runs do. It does not name the cause."
    )
    if tested:
        words += f" Of {tested} figures tested, about {CHANCE * tested:.1f} differ by chance alone."
    print_line(console, words)


def main(arguments: argparse.Namespace) -> int:
    found: list[Pair] = []
    notes: list[str] = []
    for kind, a, b in common_kinds(arguments.a, arguments.b):
        found += pairs(kind, a, b)
        notes += [*condition_differences(kind, a, b), *unpaired(a, b)]
    notes = list(dict.fromkeys(notes))
    if arguments.json:
        write_json(arguments.json, as_json(arguments, found, notes))
    if is_stdout(arguments.json):
        return 0
    shown = [pair for pair in found if arguments.all or not pair.a.detail]
    if not shown:
        raise MistakeError(
            f"nothing to compare: no figure is both in {arguments.a} and in {arguments.b}"
        )
    show(shown, notes, wide_console())
    return 0
