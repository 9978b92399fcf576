# SPDX-License-Identifier: BSD-3-Clause
"""Writes the dashboards, or says which differ."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from boards.cores import cores
from boards.draw import draw_all
from boards.group import group
from boards.system import system
from vcmts.jsons import laid_out

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"

# What the SDK writes of every variable, and Grafana's own schema knows of intervals only.
OF_INTERVALS = ("auto", "auto_count", "auto_min")


def text_of(made: Dashboard) -> str:
    tree: dict[str, Any] = json.loads(JSONEncoder(sort_keys=True).encode(made))
    for variable in tree["templating"]["list"]:
        for name in OF_INTERVALS:
            variable.pop(name, None)
    for panel in tree["panels"]:
        panel.pop("transparent", None)
        panel.pop("repeatDirection", None)
    return laid_out(tree) + "\n"


def files() -> dict[Path, str]:
    made = {"system": system(), "group": group(), "cores": cores()}
    return {DEPLOY / "grafana" / f"{name}.json": text_of(one) for name, one in made.items()}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="devtools/dashboards", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when one differs")
    parser.add_argument(
        "--draw", metavar="SECONDS", type=int, help="draw them from a run of so many seconds"
    )
    given = parser.parse_args(arguments)
    check: bool = given.check
    if given.draw is not None:
        draw_all(given.draw)
        return 0
    different = 0
    for path, text in files().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        different += 1
        if not check:
            path.write_text(text, encoding="utf-8")
        said = "differs, run `make dashboards`" if check else "written"
        print(f"{path.relative_to(DEPLOY)}: {said}")
    return 1 if check and different else 0
