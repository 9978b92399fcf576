# SPDX-License-Identifier: BSD-3-Clause
"""vcmts report: writes measurements as one self-contained HTML file, Markdown and JSON."""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from vcmts import results, version
from vcmts.jsons import Json
from vcmts.output import replace_file
from vcmts.paths import MistakeError
from vcmts.power import machine as power_machine
from vcmts.power.model import Machine
from vcmts.progress import progress
from vcmts.report import appendix as report_appendix
from vcmts.report import configuration as report_configuration
from vcmts.report import figures
from vcmts.report import goals as report_goals
from vcmts.report import growth as report_growth
from vcmts.report import host as report_host
from vcmts.report import html as report_html
from vcmts.report import markdown as report_markdown
from vcmts.report import power as report_power
from vcmts.report import published as report_published
from vcmts.report import sections as report_sections
from vcmts.report import summary as report_summary
from vcmts.report import watts as report_watts
from vcmts.report.document import Document, Section
from vcmts.report.runs import Run, read_runs, with_letters
from vcmts.results import SCHEMA
from vcmts.terminal import print_wrapped

Maker = Callable[[Sequence[Run]], Section]
FIGURES: tuple[Maker, ...] = (
    report_summary.section,
    report_goals.section,
    report_sections.throughput,
    report_sections.cycles,
    report_growth.latency,
    report_power.section,
    report_growth.scaling,
    report_growth.scheduler,
    report_published.section,
)
APPENDIX: tuple[Maker, ...] = (report_appendix.commands, report_appendix.raw)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="measurement of `vcmts bench`")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="report.html",
        help="HTML file; Markdown with figures, and JSON, are written beside it with the same name "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="the measured configuration, if it is not a profile"
    )
    parser.add_argument(
        "--power",
        metavar="FILE",
        help="description of the machine, for modelled watts (docs/power.md)",
    )


def document(
    runs: Sequence[Run],
    own: report_configuration.Configuration | None,
    machine: Machine | None = None,
) -> Document:
    makers: list[Maker] = [*FIGURES, report_host.section]
    if machine is not None:
        makers.insert(-1, lambda runs: report_watts.section(runs, machine))
    makers.append(lambda runs: report_configuration.section(runs, own))
    makers += APPENDIX
    sections = []
    with progress("report", len(makers)) as bar:
        for maker in makers:
            section = maker(runs)
            if section.blocks:
                sections.append(section)
            bar.advance(text=section.title)
    first = min(runs, key=lambda run: run.file["started"])
    cpus = dict.fromkeys(run.host["cpu"] for run in runs)
    configurations = dict.fromkeys(
        run.file["configuration"] for run in runs if run.kind != "scheduler"
    )
    words = [", ".join(cpus), ", ".join(configurations), f"measured {first.file['started'][:10]}"]
    commit = first.host.get("software", {}).get("commit", "")
    words.append(f"commit {commit[:12]}" if len(commit) >= 40 else "")
    return Document("What this machine carries", " · ".join(w for w in words if w), sections)


def report_json(runs: Sequence[Run]) -> Json:
    """The JSON of a report: complete measurements, to make it again or compare it."""
    return {
        "schema": SCHEMA,
        "kind": "report",
        "version": version.facts(),
        "written": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
        "files": [run.name for run in runs],
        "runs": [run.file for run in runs],
    }


def without_duplicates(found: Sequence[tuple[str, Json]]) -> list[tuple[str, Json]]:
    """Removes duplicates: `bench-*.json` also matches a report with the same measurements."""
    different: list[tuple[str, Json]] = []
    for name, file in found:
        if all(file != other for _, other in different):
            different.append((name, file))
    return different


def outputs(path: str) -> tuple[Path, Path, Path, Path]:
    """The paths of HTML, Markdown, JSON, and the folder of the figures. Raises MistakeError."""
    html = Path(path)
    if html.suffix not in (".html", ".htm"):
        raise MistakeError(f"-o {path}: found {html.suffix or 'no suffix'}, allowed: .html")
    if not html.parent.is_dir():
        raise MistakeError(f"-o {path}: folder {html.parent} does not exist; create it")
    folder = html.with_name(f"{html.stem}-figures")
    return html, html.with_suffix(".md"), html.with_suffix(".json"), folder


def refuse_own_input(written: Path, files: Sequence[str]) -> None:
    """Raises MistakeError if the JSON of the report would overwrite a measurement."""
    for path in files:
        if Path(path).resolve() == written.resolve() and results.read(path)["kind"] != "report":
            raise MistakeError(f"-o: would overwrite {path}; choose another name")


def main(arguments: argparse.Namespace) -> int:
    html, markdown, raw, folder = outputs(arguments.output)
    figures.load()
    runs = with_letters(without_duplicates(read_runs(arguments.files)))
    refuse_own_input(raw, arguments.files)
    own = report_configuration.read_configuration(arguments.config) if arguments.config else None
    machine = power_machine.read(Path(arguments.power)) if arguments.power else None
    made = document(runs, own, machine)
    folder.mkdir(exist_ok=True)
    replace_file(html, report_html.page(made))
    for name, text in report_markdown.pictures(made):
        replace_file(folder / name, text)
    replace_file(markdown, report_markdown.page(made, folder.name))
    replace_file(raw, json.dumps(report_json(runs), indent=1) + "\n")
    print_wrapped(f"{html}, and as {markdown} ({folder}/) and {raw}")
    return 0
