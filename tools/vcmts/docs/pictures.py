# SPDX-License-Identifier: BSD-3-Clause
"""Draws the site's pictures of simulations, if a program is newer than its picture."""

import subprocess
import sys
from pathlib import Path

from vcmts.paths import CHECKOUT, MistakeError, notify, program

FOLDER = CHECKOUT / "build-docs" / "pictures"
# File names, the program whose results they show, and the command of `vcmts` that draws them.
Drawn = tuple[tuple[str, ...], str, tuple[str, ...]]
PICTURES: tuple[Drawn, ...] = (
    (
        ("scheduler-pie.svg", "scheduler-pie-rates.svg"),
        "vcmts-simulate",
        ("simulate", "--plot", str(FOLDER / "scheduler-pie.svg")),
    ),
    (
        ("upstream-simulation.svg",),
        "vcmts-simulate-upstream",
        ("simulate", "--upstream", "--plot", str(FOLDER / "upstream-simulation.svg")),
    ),
    (
        ("power-model.svg",),
        "vcmtsd",
        ("power", "simulate", "--plot", str(FOLDER / "power-model.svg")),
    ),
)
NAMES = tuple(name for names, _, _ in PICTURES for name in names)


def drawn() -> list[Path]:
    """Existing pictures."""
    return [FOLDER / name for name in NAMES if (FOLDER / name).exists()]


def is_older(names: tuple[str, ...], than: Path) -> bool:
    """Whether one of the pictures is older than a file, or missing."""
    limit = than.stat().st_mtime
    paths = [FOLDER / name for name in names]
    return any(not path.exists() or path.stat().st_mtime < limit for path in paths)


def draw() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for names, maker, command in PICTURES:
        if is_older(names, program(maker)):
            tool = [sys.executable, "-m", "vcmts", *command]
            print(f"drawing {', '.join(names)}", flush=True)
            if subprocess.run(tool, check=False, stdout=subprocess.DEVNULL).returncode != 0:
                raise MistakeError(f"`./vcmts {' '.join(command)}` failed")


def main() -> int:
    try:
        draw()
    except MistakeError as mistake:
        notify(str(mistake))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
