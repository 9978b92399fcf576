# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench WHAT` around programs of known capacity: the command, and what it stores."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from python.bench import simulated_programs
from vcmts import cli

Json = dict[str, Any]
GBPS = 1e9


@dataclass
class Bench:
    """Runs the command; its exit status. `how` is what the programs do, as simulated_programs has
    it."""

    what: str
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *words: str, cores: int = 2, facts: Json | None = None, **how: Any) -> int:
        build = simulated_programs.write(self.folder, facts, **{"capacity": 5 * GBPS, **how})
        self.monkeypatch.setenv("VCMTS_BUILD", str(build))
        self.monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
        return cli.main(["bench", self.what, "--json", str(self.path), *words])

    @property
    def path(self) -> Path:
        return self.folder / "out.json"

    def stored(self) -> Json:
        found: Json = json.loads(self.path.read_text())
        return found

    def result(self) -> Json:
        """The first one."""
        found: Json = self.stored()["results"][0]
        return found

    def told(self) -> tuple[str, str]:
        """On stdout and stderr, since it was asked before."""
        out, err = self.capsys.readouterr()
        return out, err

    def refuses(self, message: str, *words: str, **how: Any) -> None:
        """Status 2, one line, and no output."""
        assert self(*words, **how) == 2
        out, err = self.told()
        assert message in err and err.count("\n") == 1 and out == ""


@pytest.fixture
def bench(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Bench:
    """Of the module's WHAT."""
    return Bench(request.module.WHAT, tmp_path, monkeypatch, capsys)
