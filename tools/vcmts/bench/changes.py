# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench changes: measures how changes of the configuration affect traffic."""

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.table import Table

from vcmts import watch
from vcmts.bench import common as bench_common
from vcmts.child import Stopped, stoppable, temporary_folder
from vcmts.console import figures_table, out_console
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify, program
from vcmts.profile import command as profile_command
from vcmts.profile import crypto
from vcmts.progress import progress
from vcmts.results import Measurement, now

PROFILE = "6ofdm-0sc-qam_300cms_aes"
# Rings that vcmts-bench-changes creates as ports, so that an added group finds them by name.
DEVICES = ("--network", "net_ring_bench_net0_0", "--rphy", "net_ring_bench_rphy0_0")
LOW_RATE = 500  # Mbps of all groups
LOW_UPSTREAM_RATE = 50
LIMITS = {"changes": (1, 100000), "share": (1, 100), "groups": (2, 28)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    bench_common.add_only(parser, [*CASES], "CASE")
    parser.add_argument(
        "--profile", default=PROFILE, metavar="NAME", help="of all groups (default: %(default)s)"
    )
    parser.add_argument(
        "--groups",
        type=int,
        default=28,
        metavar="N",
        help="service groups of the cases reload and many (default: %(default)s)",
    )
    parser.add_argument(
        "--changes", type=int, default=1000, metavar="N", help="per second (default: %(default)s)"
    )
    parser.add_argument(
        "--share",
        type=int,
        default=90,
        metavar="PERCENT",
        help="load, of the maximum rate, which is measured first (default: %(default)s)",
    )
    crypto.add_arguments(parser)
    bench_common.add_arguments(parser, milliseconds=2000, stored="bench-changes.json")


def write_profile(path: Path, name: str, *words: str) -> Path:
    parser = argparse.ArgumentParser()
    profile_command.add_arguments(parser)
    profile_command.main(parser.parse_args([name, *words, "-o", str(path)]))
    return path


def split_files(whole: Path) -> tuple[Path, Path, Path]:
    """Splits a server's file into one per group: new server's file, one group's, a changed copy."""
    head, items = whole.read_text(encoding="utf-8").split("service_groups:\n", 1)
    texts = re.split(r"(?m)^  - ", items)[1:]
    for number, text in enumerate(texts):
        lines = (line[4:] for line in f"    {text}".splitlines())
        whole.with_name(f"group-{number}.yaml").write_text("\n".join(lines) + "\n")
    listed = "".join(f"  - file: group-{number}.yaml\n" for number in range(len(texts)))
    server = whole.with_name("server.yaml")
    server.write_text(f"{head}service_groups:\n{listed}")
    one = whole.with_name(f"group-{len(texts) // 2}.yaml")
    return server, one, write_changed_copy(one)


def write_changed_copy(path: Path) -> Path:
    """Writes a copy of a group's file in which the first modem has another cpe_limit."""
    text = path.read_text(encoding="utf-8")
    other = path.with_suffix(".other")
    more = re.sub(r"cpe_limit: (\d+)", lambda m: f"cpe_limit: {int(m[1]) + 1}", text, count=1)
    other.write_text(more)
    return other


@dataclass(frozen=True)
class Bench:
    """Calls vcmts-bench-changes."""

    given: argparse.Namespace
    folder: Path
    tell: watch.OnProgress
    stopped: Stopped

    def profile(self, name: str, *words: str) -> Path:
        words += tuple(crypto.given_options(self.given))
        return write_profile(self.folder / f"{name}.yaml", self.given.profile, *words)

    def __call__(self, what: str, config: Path, *words: str) -> list[Json]:
        """The results of all runs with host, groups and rate. Raises MistakeError on failure."""
        given = self.given
        command = [str(program("vcmts-bench-changes")), "--what", what, "--config", str(config)]
        command += ["--runs", str(given.runs), "--milliseconds", str(given.milliseconds)]
        command += ["--changes", str(given.changes), "--share", str(given.share), *words]
        status, report = bench_common.run_benchmark(command, self.folder, self.tell, self.stopped)
        if report is None or status != 0:
            raise MistakeError(f"vcmts-bench-changes --what {what} ended with status {status}")
        about = {key: report[key] for key in ("host", "groups", "rate_gbps")}
        return [{**run, **about} for run in report["results"]]


def measure_changes(bench: Bench) -> list[Json]:
    return bench("changes", bench.profile("one"))


def measure_add(bench: Bench) -> list[Json]:
    return bench("coming", bench.profile("two", "--groups", "2", *DEVICES))


def low_rate(rate: int = LOW_RATE) -> tuple[str, ...]:
    return ("--rate", str(rate), "--upstream-rate", str(LOW_UPSTREAM_RATE))


def measure_reload(bench: Bench) -> list[Json]:
    server, one, other = split_files(bench.profile("many", "--groups", str(bench.given.groups)))
    return bench("reload", server, "--file", str(one), "--other", str(other), *low_rate())


def measure_many(bench: Bench) -> list[Json]:
    many = bench.profile("many", "--groups", str(bench.given.groups))
    return bench("plain", bench.profile("one"), *low_rate()) + bench("plain", many, *low_rate())


def measure_cores(bench: Bench) -> list[Json]:
    layout = ("--layout", "combined", "--cores", "0,1", "--main-core", "0")
    two = bench.profile("cores", "--groups", "2", *layout)
    return bench("plain", bench.profile("one")) + bench("plain", two)


@dataclass(frozen=True)
class Figure:
    """A figure with one value per run, and its goal."""

    what: str
    values: list[float]
    at_most: float | None = None
    at_least: float | None = None

    @property
    def goal(self) -> str:
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "-" if self.at_least is None else f">= {self.at_least:g}"

    @property
    def verdict(self) -> str:
        middle = median(self.values)
        if self.at_most is not None:
            return "reached" if middle <= self.at_most else "missed"
        if self.at_least is not None:
            return "reached" if middle >= self.at_least else "missed"
        return "-"

    def as_json(self) -> Json:
        return {
            "what": self.what,
            "median": median(self.values),
            "min": min(self.values),
            "max": max(self.values),
            "goal": self.goal,
            "verdict": self.verdict,
            "values": self.values,
        }


def select(runs: list[Json], what: str, groups: int | None = None) -> list[Json]:
    return [r for r in runs if r["what"] == what and groups in (None, r["groups"])]


def ratios(above: list[float], below: list[float]) -> list[float]:
    """Ratios of corresponding runs; [0] if no run below is positive."""
    return [a / b for a, b in zip(above, below, strict=True) if b > 0] or [0.0]


def p99_9(runs: list[Json]) -> list[float]:
    return [run["latency_us"]["p99_9"] for run in runs]


def cycles(runs: list[Json]) -> list[float]:
    return [run["cycles_per_packet"] for run in runs]


def stage_cycles(runs: list[Json]) -> list[float]:
    return [run["stage_cycles_per_packet"] for run in runs]


def longest_steps(runs: list[Json]) -> list[float]:
    return [max((s["max"] for s in run["steps_us"].values()), default=0.0) for run in runs]


def pauses(runs: list[Json]) -> list[float]:
    return [float(run["rounds_us"]["above_100"]) for run in runs]


def lost(runs: list[Json]) -> list[float]:
    return [float(run["lost"] + run["wrong"]) for run in runs]


def figures_changes(runs: list[Json], given: argparse.Namespace) -> Iterator[Figure]:
    plain, busy = select(runs, "plain"), select(runs, "changes")
    rates = [run["changes_per_second"] for run in busy]
    yield Figure("changes per second", rates, at_least=0.99 * given.changes)
    yield Figure("packets lost or wrong", lost(busy), at_most=0)
    yield Figure("latency at 99.9 %, us, without changes", p99_9(plain))
    yield Figure("latency at 99.9 %, us, with changes", p99_9(busy))
    yield Figure("latency, with over without", ratios(p99_9(busy), p99_9(plain)), at_most=1.5)
    yield Figure("cycles per packet, with over without", ratios(cycles(busy), cycles(plain)))
    yield Figure("longest step of a worker, us", longest_steps(busy), at_most=50)
    for kind in busy[0]["requests"]:
        requests = [run["requests"][kind] for run in busy]
        yield Figure(f"{kind}: response time, us", [a["answer_us"]["p50"] for a in requests])
        yield Figure(f"{kind}: work, us", [a["work_us"]["p50"] for a in requests])
        yield Figure(f"{kind}: refused", [float(a["refused"]) for a in requests], at_most=0)


def figures_add(runs: list[Json], given: argparse.Namespace) -> Iterator[Figure]:
    del given
    plain, busy = select(runs, "plain"), select(runs, "coming")
    yield Figure("time to add a group, ms", [median(r["coming_ms"]) for r in busy], at_most=150)
    yield Figure("work of that, ms", [median(r["coming_work_ms"]) for r in busy])
    yield Figure("packets lost or wrong", lost(busy), at_most=0)
    yield Figure("longest step of a worker, us", longest_steps(busy), at_most=100)
    yield Figure("rounds above 100 us, without", pauses(plain))
    yield Figure("rounds above 100 us, with", pauses(busy))


def figures_reload(runs: list[Json], given: argparse.Namespace) -> Iterator[Figure]:
    del given
    busy = select(runs, "reload")
    yield Figure("time to reload, ms", [median(r["reload_ms"]) for r in busy], at_most=50)
    yield Figure("work of that, ms", [median(r["reload_work_ms"]) for r in busy])
    yield Figure("packets lost or wrong", lost(busy), at_most=0)
    yield Figure("longest step of a worker, us", longest_steps(busy), at_most=50)


def figures_many(runs: list[Json], given: argparse.Namespace) -> Iterator[Figure]:
    one, many = select(runs, "plain", 1), select(runs, "plain", given.groups)
    yield Figure("cycles per packet, one group", stage_cycles(one))
    yield Figure(f"cycles per packet, {given.groups} groups", stage_cycles(many))
    ratio = ratios(stage_cycles(many), stage_cycles(one))
    yield Figure("ratio, many over one", ratio, at_most=1.3)
    idle = ratios(cycles(many), cycles(one))
    yield Figure("ratio, including pipelines without packets", idle)


def figures_cores(runs: list[Json], given: argparse.Namespace) -> Iterator[Figure]:
    del given
    one, two = select(runs, "plain", 1), select(runs, "plain", 2)
    yield Figure("cycles per packet, one group on one core", cycles(one))
    yield Figure("cycles per packet, two groups on two cores", cycles(two))
    doubled = [2 * ratio for ratio in ratios(cycles(one), cycles(two))]
    yield Figure("packets per second, two over one", doubled, at_least=1.9)


@dataclass(frozen=True)
class Case:
    title: str
    measure: Callable[[Bench], list[Json]]
    figures: Callable[[list[Json], argparse.Namespace], Iterator[Figure]]


CASES = {
    "changes": Case("single changes during traffic", measure_changes, figures_changes),
    "coming": Case("a group is added beside one with traffic", measure_add, figures_add),
    "reload": Case("reload with one changed modem", measure_reload, figures_reload),
    "many": Case("many groups at a low rate", measure_many, figures_many),
    "cores": Case("two groups on two cores", measure_cores, figures_cores),
}


def table(case: str, found: list[Figure]) -> Table:
    heads = ("", "median", "min", "max", "goal", "")
    out = figures_table(heads, title=CASES[case].title, texts=("",))
    for figure in found:
        values = (median(figure.values), min(figure.values), max(figure.values))
        out.add_row(figure.what, *(f"{v:,.2f}" for v in values), figure.goal, figure.verdict)
    return out


def main(given: argparse.Namespace) -> int:
    bench_common.check_options(given, LIMITS)
    cases = bench_common.selected_parts(CASES, given)
    started, results, host, status = now(), [], None, 0
    verdicts: list[tuple[str, str]] = []
    console = out_console()
    with temporary_folder() as folder, stoppable() as stopped:
        for case in cases:
            with progress(f"bench changes: {case}", 1) as shown:
                bench = Bench(given, folder, watch.whole_progress(shown), stopped)
                try:
                    runs = CASES[case].measure(bench)
                except MistakeError as mistake:
                    notify(str(mistake))
                    status = 1
            if stopped.by_signal or status != 0:
                break
            host = runs[0]["host"]
            found = list(CASES[case].figures(runs, given))
            results.append(
                {"case": case, "figures": [f.as_json() for f in found], "measured": runs}
            )
            console.print(table(case, found))
            verdicts += [(f"{f.what} ({CASES[case].title})", f.verdict) for f in found]
        if host is None:
            return bench_common.no_results(stopped, status)
        measurement = Measurement(
            kind="changes",
            command=bench_common.command_line(),
            configuration=crypto.profile_of(given),
            host=host,
            results=results,
            started=started,
        )
        status = bench_common.store(measurement, given.json, stopped, status)
    return bench_common.end_with_verdict(status, verdicts)
