# SPDX-License-Identifier: BSD-3-Clause
"""Runs `vcmts bench WHAT` with simulated programs of known capacity, and reads what it stores."""

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
    """Runs the command, and returns its exit status. `behaviour` is that of simulated_programs."""

    what: str
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(
        self, *arguments: str, cores: int = 2, facts: Json | None = None, **behaviour: Any
    ) -> int:
        build = simulated_programs.write(self.folder, facts, **{"capacity": 5 * GBPS, **behaviour})
        self.monkeypatch.setenv("VCMTS_BUILD", str(build))
        self.monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
        return cli.main(["bench", self.what, "--json", str(self.path), *arguments])

    @property
    def path(self) -> Path:
        return self.folder / "out.json"

    def stored(self) -> Json:
        file: Json = json.loads(self.path.read_text())
        return file

    def result(self) -> Json:
        """Returns the first result."""
        first: Json = self.stored()["results"][0]
        return first

    def output(self) -> tuple[str, str]:
        """Returns stdout and stderr since the last call."""
        out, err = self.capsys.readouterr()
        return out, err

    def expect_error(self, message: str, *arguments: str, **behaviour: Any) -> None:
        """Expects status 2, one line with the message, and no output."""
        assert self(*arguments, **behaviour) == 2
        out, err = self.output()
        assert message in err and err.count("\n") == 1 and out == ""


@pytest.fixture
def bench(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Bench:
    """A bench of the kind WHAT of the test's module."""
    return Bench(request.module.WHAT, tmp_path, monkeypatch, capsys)
