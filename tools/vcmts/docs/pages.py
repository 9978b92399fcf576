# SPDX-License-Identifier: BSD-3-Clause
"""Generates pages of the site and files of the checkout from the output of vcmtsd.

It writes files of the checkout that are out of date.
"""

import argparse
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from vcmts import published
from vcmts.docs import (
    chart_values,
    commands_page,
    configdoc,
    control_page,
    counters_page,
    metrics_page,
    picture,
    published_page,
)
from vcmts.jsons import Json, format_json
from vcmts.manual.programs import programs
from vcmts.paths import CHECKOUT, MistakeError, notify, program

# Generated pages that are not in the checkout. Other pages link to these as if they were in docs/.
REFERENCE = (
    "commands.md",
    "configuration.md",
    "control.md",
    "counters.md",
    "metrics.md",
    "published.md",
)


@cache
def program_output(*command: str) -> str:
    """The output of a built program."""
    done = subprocess.run(
        [program(command[0]), *command[1:]], check=False, stdout=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise MistakeError(f"`{' '.join(command)}` ended with {done.returncode}")
    return done.stdout


def stage_of(row: Json) -> picture.Stage:
    return picture.Stage(
        name=row["name"],
        about=row["about"],
        dpdk=row["dpdk"],
        source=row.get("from", ""),
        gives=row.get("gives", ""),
        also=tuple(row.get("also", ())),
    )


def stage_lists(direction: Json) -> list[picture.StageList]:
    return [
        picture.StageList(
            entry["name"],
            [stage_of(row) for row in entry["stages"]],
            {queue["name"]: queue["about"] for queue in entry["queues"]},
        )
        for entry in direction["lists"]
    ]


def describe() -> Any:
    """Stages, counters and metrics of vcmtsd."""
    return json.loads(program_output("vcmtsd", "describe"))


def files() -> dict[Path, str]:
    """Generated files of the checkout, by path."""
    description = describe()
    schema = json.loads(program_output("vcmtsd", "schema"))
    return {
        **chart_values.pages(schema),
        Path("config/schema.json"): format_json(schema) + "\n",
        Path("docs/pipeline.svg"): picture.draw(stage_lists(description["downstream"])),
        Path("docs/pipeline-upstream.svg"): picture.draw(stage_lists(description["upstream"])),
    }


def reference() -> dict[Path, str]:
    """The pages of REFERENCE, by name."""
    description = describe()
    methods = json.loads(program_output("vcmtsd", "describe", "--rpc"))
    texts = (
        commands_page.render(programs(program("vcmtsd"), program("vcmts-traffic"))),
        configdoc.render(json.loads(program_output("vcmtsd", "schema"))),
        control_page.render(methods),
        counters_page.render(description),
        metrics_page.render(description["metrics"]),
        published_page.render(published.load()),
    )
    return {Path(name): text for name, text in zip(REFERENCE, texts, strict=True)}


def update(root: Path, content: dict[Path, str], check: bool) -> list[Path]:
    """Writes the files that differ, unless `check`. Returns their names."""
    stale = []
    for name, text in content.items():
        path = root / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    return stale


def main() -> int:
    parser = argparse.ArgumentParser(prog="devtools/docs", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit status 1 if out of date"
    )
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="also write the pages there")
    arguments = parser.parse_args()
    check: bool = arguments.check
    try:
        stale = update(CHECKOUT, files(), check)
        if arguments.into:
            stale += update(arguments.into, reference(), check)
    except MistakeError as mistake:
        notify(str(mistake))
        return 2
    for name in stale:
        print(f"{name}: {'out of date, run `make docs`' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
