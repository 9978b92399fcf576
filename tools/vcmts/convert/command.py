# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts convert`: converts values.yaml of the reference's Helm charts.

Values of its chart vcmtsd become values of deploy/helm/vcmts, one file per release. Values of its
chart pktgen become a script that calls vcmts-traffic.
"""

import argparse
import sys
from pathlib import Path

import yaml

from vcmts.convert import pktgen, vcmtsd
from vcmts.convert.reading import CHART_KEYS, Notes, read
from vcmts.jsons import Json
from vcmts.paths import MistakeError
from vcmts.streams import whole_file

HEAD = "# Values of the chart deploy/helm/vcmts, from {source} by `vcmts convert`.\n"
KEYS = "# Keys of profiles are for tests; a group in service has a file in a Secret.\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Values without counterpart are listed on stderr with the reason. Values of vcmtsd give a "
        "file per release, which has groups with equal pods. Values of pktgen give calls of "
        "vcmts-traffic."
    )
    parser.add_argument("values", metavar="FILE", type=Path, help="values.yaml of vcmtsd or pktgen")
    parser.add_argument(
        "--mode",
        choices=("separate", "shared"),
        default="separate",
        help="a pod per group, as in the reference, or a pod per NUMA node (default: %(default)s)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        help="write values-1.yaml, values-2.yaml, .. per release, or traffic.sh (default: stdout)",
    )


def values_text(values: Json, source: Path) -> str:
    dumped = yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=100)
    return HEAD.format(source=source.name) + KEYS + dumped


def write_files(arguments: argparse.Namespace, files: dict[str, str]) -> None:
    folder: Path | None = arguments.output
    if folder is None:
        sys.stdout.write("---\n".join(files.values()))
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        with whole_file(folder / name) as part:
            part.write_text(text, encoding="utf-8")
        print(folder / name)


def main(arguments: argparse.Namespace) -> int:
    notes = Notes()
    found = read(arguments.values)
    topology = found.map("topology")
    has_vcmtsd, has_pktgen = (key in topology.keys for key in ("vcmts_pods", "pktgen_pods"))
    if not has_vcmtsd and not has_pktgen:
        raise MistakeError(
            f"{arguments.values}:{topology.line}: topology: neither vcmts_pods nor "
            "pktgen_pods; needed: values of the reference's chart vcmtsd or pktgen"
        )
    files: dict[str, str] = {}
    if has_vcmtsd:
        made = vcmtsd.releases(topology, arguments.mode, notes)
        for number, values in enumerate(made, 1):
            files[f"values-{number}.yaml"] = values_text(values, arguments.values)
    if has_pktgen:
        lines = ["#!/bin/sh", *pktgen.calls(topology, notes)]
        files["traffic.sh"] = "\n".join(lines) + "\n"
    notes.add_unused(topology, {})
    notes.add_unused(found, CHART_KEYS)
    write_files(arguments, files)
    for line in notes.lines():
        print(line, file=sys.stderr)
    return 0
