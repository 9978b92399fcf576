# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench WHAT` around programs of known capacity: the command, and what it stores."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from python.bench import simulated_programs
from vcmts import cli

Json = dict[str, Any]
Bench = Callable[..., int]
GBPS = 1e9


def runner(what: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Runs the command; its exit status. `how` is what the programs do, as simulated_programs has
    it."""

    def run(*words: str, cores: int = 2, facts: Json | None = None, **how: Any) -> int:
        build = simulated_programs.write(folder, facts, **{"capacity": 5 * GBPS, **how})
        monkeypatch.setenv("VCMTS_BUILD", str(build))
        monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
        path = str(folder / "out.json")
        return cli.main(["bench", what, "--json", path, *words])

    return run


def stored(folder: Path) -> Json:
    found: Json = json.loads((folder / "out.json").read_text())
    return found
