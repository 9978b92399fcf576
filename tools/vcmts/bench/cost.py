# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench cost: measures cycles, memory and start time over the size of the service group.

It changes one number of the base profile at a time, and measures the base itself once.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from vcmts import configuration, watch
from vcmts.bench import common as bench_common
from vcmts.bench import fit
from vcmts.child import Stopped, stoppable, temporary_folder
from vcmts.console import out_console, print_line
from vcmts.jsons import Json
from vcmts.paths import notify, program
from vcmts.profile import crypto, size
from vcmts.profile.group import Profile, parse_name, write_profile
from vcmts.profile.size import Sizes
from vcmts.progress import Progress, progress
from vcmts.results import Measurement, now


@dataclass(frozen=True)
class Sweep:
    title: str
    values: tuple[int, ...]
    more: tuple[int, ...]  # added by --full


SWEEPS = {
    "modems": Sweep("modems", (300, 1000, 3000), (10000, 30000)),
    "filter_rules": Sweep("rules per filter group", (4, 22, 100), (1, 400)),
    "classifiers": Sweep("classifiers per modem", (4, 16, 64), (0, 256)),
    "service_flows": Sweep("service flows per modem, half of them active", (2, 8, 32), (4, 16)),
    "channels": Sweep("OFDM channels", (2, 6, 24), (1, 12, 48)),
    "flows": Sweep("concurrent flows of the downstream traffic", (1000, 10000, 100000), (1000000,)),
}
MISTAKE = 2  # exit status of a program for invalid arguments: all further points would fail too


@dataclass(frozen=True)
class Point:
    """A service group to measure. `sweeps`: keys of SWEEPS that it belongs to, with its values; not
    compared, so that sweeps share points."""

    profile: str
    sizes: Sizes
    flows: int | None = None  # of the traffic; None: the default
    sweeps: tuple[tuple[str, int], ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.profile}{size.size_options(self.sizes)}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        metavar="NAME",
        default="6ofdm-0sc-qam_300cms_aes",
        help="base profile, of which one number is changed at a time (default: %(default)s)",
    )
    parser.add_argument(
        "--what",
        dest="swept",
        action="append",
        choices=SWEEPS,
        help="number to change; may be repeated (default: all of them)",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="measure more values, up to 30,000 modems, which take about a minute to start",
    )
    crypto.add_arguments(parser)
    bench_common.add_arguments(parser, milliseconds=300, stored="bench-cost.json", runs=3)


def changed_name(base: Profile, *, ofdm: int | None = None, modems: int | None = None) -> str:
    """The name of the base profile with another number of OFDM channels or modems."""
    return (
        f"{base.ofdm if ofdm is None else ofdm}ofdm-{base.sc_qam}sc-qam_"
        f"{base.modems if modems is None else modems}cms_{crypto.name_ending(base.cipher)}"
        f"{'_2021' if base.name.endswith('_2021') else ''}"
    )


def change_number(base: Profile, sweep_key: str, value: int) -> Point:
    """The base with the number of a sweep changed to `value`. `sweep_key`: a key of SWEEPS."""
    name, sizes = base.name, base.sizes
    match sweep_key:
        case "modems":
            return Point(changed_name(base, modems=value), sizes)
        case "channels":
            return Point(changed_name(base, ofdm=value), sizes)
        case "filter_rules":
            rules = None if value == base.filters.rules else value
            return Point(name, replace(sizes, filter_rules=rules))
        case "classifiers":
            return Point(name, replace(sizes, classifiers=value))
        case "service_flows":
            return Point(name, replace(sizes, flows=value, active_flows=(value + 1) // 2))
    return Point(name, sizes, flows=value)


def base_values(base: Profile, sweep_key: str) -> set[int]:
    """The base's own value of a sweep; empty for the traffic's flows, which no profile sets."""
    values = {
        "modems": base.modems,
        "filter_rules": base.filters.rules,
        "classifiers": base.sizes.classifiers,
        "service_flows": base.sizes.flows,
        "channels": base.ofdm,
    }
    return {values[sweep_key]} if sweep_key in values else set()


def points(base: Profile, keys: list[str], full: bool) -> list[Point]:
    """The points to measure, each once, in order of modems. `keys`: of SWEEPS. Each sweep
    includes the base's own value, if it has one."""
    sweeps: dict[Point, list[tuple[str, int]]] = {}
    for key in keys:
        sweep = SWEEPS[key]
        for value in sorted(
            {*sweep.values, *(sweep.more if full else ()), *base_values(base, key)}
        ):
            sweeps.setdefault(change_number(base, key, value), []).append((key, value))
    modems = {point: parse_name(point.profile, sizes=point.sizes).modems for point in sweeps}
    return [
        replace(point, sweeps=tuple(sweeps[point]))
        for point in sorted(sweeps, key=lambda point: modems[point])
    ]


def selected_sweeps(arguments: argparse.Namespace) -> list[str]:
    """The keys of the selected sweeps."""
    return list(dict.fromkeys(arguments.swept or SWEEPS))


def results_of(point: Point, report: Json) -> Iterator[Json]:
    """Yields a result per sweep of the point, and per direction."""
    memory, start = report["memory"], report["start"]
    for what, value in point.sweeps:
        for one in report["results"]:
            yield {
                "what": what,
                "value": value,
                "profile": str(point),
                **{key: one[key] for key in ("direction", "mix", "cycles_per_packet")},
                **{key: one[key] for key in ("min", "max", "runs", "stages")},
                "memory_bytes": memory["total"],
                "memory_bytes_per_modem": memory["per_modem"],
                "memory": memory,
                "start_seconds": start["total"],
                "start": start,
            }


def memory_fit(results: list[Json]) -> Json | None:
    """Fits a line to memory over modems: fixed bytes, and bytes per modem. None: too few points."""
    by_modems = {r["value"]: r["memory"] for r in results if r["what"] == "modems"}
    found = fit.line((modems, memory["total"]) for modems, memory in by_modems.items())
    if found is None:
        return None
    return {"fixed_bytes": found.fixed, "bytes_per_modem": found.slope, "r2": found.r2}


def table(sweep_key: str, results: list[Json]) -> Table:
    """The table of a sweep, with one row per value."""
    out = Table()
    columns = ("down", "up", "MB", "kB/modem", "start s", "load", "sessions", "tables")
    for column in (sweep_key.replace("_", " "), *columns):
        out.add_column(column, justify="right", no_wrap=True)
    for value in sorted({r["value"] for r in results}):
        ways = {r["direction"]: r for r in results if r["value"] == value}
        one = next(iter(ways.values()))
        cycles = [
            f"{ways[way]['cycles_per_packet']:.0f}" if way in ways else "-"
            for way in ("downstream", "upstream")
        ]
        start = [f"{one['start'][key]:.2f}" for key in ("load", "sessions", "tables")]
        out.add_row(
            f"{value:,}",
            *cycles,
            f"{one['memory_bytes'] / 1e6:.0f}",
            f"{one['memory_bytes_per_modem'] / 1e3:.1f}",
            f"{one['start_seconds']:.2f}",
            *start,
        )
    return out


def show(report: Json, console: Console) -> None:
    for what, sweep in SWEEPS.items():
        results = [r for r in report["results"] if r["what"] == what]
        if results:
            title = f"{sweep.title}: reference cycles per packet, memory, start-up"
            print_line(console, title)
            console.print(table(what, results))
    memory = report.get("memory_fit")
    if memory is not None:
        console.print(
            f"memory: {memory['fixed_bytes'] / 1e6:.0f} MB per service group and "
            f"{memory['bytes_per_modem'] / 1e3:.1f} kB per modem",
            highlight=False,
        )
    console.print(bench_common.machine_line(report))


def print_each_once() -> watch.OnMessage:
    """Returns a function that prints a message; later ones with only other digits are omitted."""
    printed: set[str] = set()

    def say(line: str) -> None:
        kind = "".join(c for c in line if not c.isdigit())
        if kind not in printed:
            printed.add(kind)
            watch.print_to_stderr(line)

    return say


def measure(
    arguments: argparse.Namespace,
    point: Point,
    folder: Path,
    on_progress: watch.OnProgress,
    stopped: Stopped,
    on_message: watch.OnMessage,
) -> tuple[int, Json | None]:
    """Measures a point; the sweep `flows` only downstream. Returns the exit status and the report
    of vcmts-bench. The report is None without results, even if the status is 0."""
    config = folder / "sg.yaml"
    with config.open("w", encoding="utf-8") as out:
        write_profile(
            point.profile,
            out,
            cores=configuration.group_cores(),
            sizes=point.sizes,
            provider=crypto.provider_of(arguments),
        )
    command = [str(program("vcmts-bench")), "--config", str(config), "--published"]
    command += ["--runs", str(arguments.runs), "--milliseconds", str(arguments.milliseconds)]
    if point.flows is not None:
        command += ["--flows", str(point.flows), "--direction", "downstream"]
    return bench_common.run_benchmark(command, folder, on_progress, stopped, on_message)


def measure_all(
    arguments: argparse.Namespace,
    todo: list[Point],
    shown: Progress,
    folder: Path,
    stopped: Stopped,
) -> tuple[int, Measurement | None]:
    """Measures all points, skipping those that fail. Ends after a signal, or a MISTAKE without
    results.

    Returns the last exit status other than 0, else 0; and the results, None if there are none.
    """
    measurement, failed, say, started = None, 0, print_each_once(), now()
    for number, point in enumerate(todo):
        shown.at(number, str(point))
        status, report = measure(
            arguments, point, folder, watch.part_progress(shown, number), stopped, say
        )
        if report is not None:
            if measurement is None:
                measurement = Measurement(
                    kind="cost",
                    command=bench_common.command_line(),
                    configuration=crypto.profile_of(arguments),
                    host=report["host"],
                    started=started,
                )
            measurement.results += results_of(point, report)
        if status != 0:
            failed = status
        if stopped.by_signal or (status == MISTAKE and report is None):
            break
        if status != 0:
            notify(f"{point}: not or only partly measured; the reason is printed above")
    return failed, measurement


def main(arguments: argparse.Namespace) -> int:
    bench_common.check_options(arguments)
    crypto.provider_of(arguments)
    todo = points(
        parse_name(crypto.profile_of(arguments)), selected_sweeps(arguments), arguments.full
    )
    with temporary_folder() as folder, stoppable() as stopped:
        with progress("bench cost", len(todo)) as shown:
            status, measurement = measure_all(arguments, todo, shown, folder, stopped)
        if measurement is None:
            return bench_common.no_results(stopped, status)
        memory = memory_fit(measurement.results)
        if memory is not None:
            measurement.more["memory_fit"] = memory
        show(measurement.as_json(), out_console())
        return bench_common.store(measurement, arguments.json, stopped, status)
