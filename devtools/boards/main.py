# SPDX-License-Identifier: BSD-3-Clause
"""Generates the dashboards in deploy/grafana, or checks that they are up to date."""

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
from vcmts.jsons import format_json

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"

# The SDK writes these keys for every variable, but Grafana's schema has them for intervals only.
INTERVAL_KEYS = ("auto", "auto_count", "auto_min")


def text_of(board: Dashboard) -> str:
    """The dashboard as JSON, without keys of the SDK that Grafana's schema lacks."""
    tree: dict[str, Any] = json.loads(JSONEncoder(sort_keys=True).encode(board))
    for variable in tree["templating"]["list"]:
        for name in INTERVAL_KEYS:
            variable.pop(name, None)
    for panel in tree["panels"]:
        panel.pop("transparent", None)
        panel.pop("repeatDirection", None)
    return format_json(tree) + "\n"


def files() -> dict[Path, str]:
    """The generated text of each dashboard, by its path."""
    boards = {"system": system(), "group": group(), "cores": cores()}
    return {DEPLOY / "grafana" / f"{name}.json": text_of(board) for name, board in boards.items()}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="devtools/dashboards", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit status 1 if one differs"
    )
    draw = "draw them as PNG files from a run of this length"
    parser.add_argument("--draw", metavar="SECONDS", type=int, help=draw)
    options = parser.parse_args(arguments)
    check: bool = options.check
    if options.draw is not None:
        draw_all(options.draw)
        return 0
    different = 0
    for path, text in files().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        different += 1
        if not check:
            path.write_text(text, encoding="utf-8")
        result = "out of date; run `make dashboards`" if check else "written"
        print(f"{path.relative_to(DEPLOY)}: {result}")
    return 1 if check and different else 0
