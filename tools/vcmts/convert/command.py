# SPDX-License-Identifier: BSD-3-Clause
"""vcmts convert: the values of the reference's Helm charts, vcmtsd and pktgen, as ours."""

import argparse
import sys
from pathlib import Path

import yaml

from vcmts.convert import pktgen, vcmtsd
from vcmts.convert.reading import OF_THE_CHART, Notes, read
from vcmts.jsons import Json
from vcmts.paths import MistakeError

HEAD = "# Values of the chart deploy/helm/vcmts, from {source} by `vcmts convert`.\n"
KEYS = "# Keys of profiles are for tests; a group in service has a file in a Secret.\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "What has no counterpart is told on stderr, with the reason. Of vcmtsd, values for each "
        "release come out: groups whose pods ask for the same. Of pktgen, calls of vcmts-traffic."
    )
    parser.add_argument("values", metavar="FILE", type=Path, help="values.yaml of vcmtsd or pktgen")
    parser.add_argument(
        "--mode",
        choices=("separate", "shared"),
        default="separate",
        help="a pod for each group, as the reference has it, or one for the groups of a NUMA node "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        help="values-1.yaml and so on, one for each release, or traffic.sh; without, all to stdout",
    )


def text_of(values: Json, source: Path) -> str:
    dumped = yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=100)
    return HEAD.format(source=source.name) + KEYS + dumped


def written(arguments: argparse.Namespace, files: dict[str, str]) -> None:
    folder: Path | None = arguments.output
    if folder is None:
        sys.stdout.write("---\n".join(files.values()))
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)


def main(arguments: argparse.Namespace) -> int:
    notes = Notes()
    found = read(arguments.values)
    topology = found.map("topology")
    of_vcmtsd, of_pktgen = (key in topology.keys for key in ("vcmts_pods", "pktgen_pods"))
    if not of_vcmtsd and not of_pktgen:
        raise MistakeError(
            f"{arguments.values}:{topology.line}: topology: found neither vcmts_pods nor "
            "pktgen_pods, allowed: values of the reference's chart vcmtsd or pktgen"
        )
    files: dict[str, str] = {}
    if of_vcmtsd:
        made = vcmtsd.releases(topology, arguments.mode, notes)
        for number, values in enumerate(made, 1):
            files[f"values-{number}.yaml"] = text_of(values, arguments.values)
    if of_pktgen:
        lines = ["#!/bin/sh", *pktgen.calls(topology, notes)]
        files["traffic.sh"] = "\n".join(lines) + "\n"
    notes.leave(topology, {})
    notes.leave(found, OF_THE_CHART)
    written(arguments, files)
    for line in notes.lines():
        print(line, file=sys.stderr)
    return 0
