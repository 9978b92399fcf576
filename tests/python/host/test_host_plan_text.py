# SPDX-License-Identifier: BSD-3-Clause
"""Tests what `vcmts host plan` prints, and which files it names and writes."""

from pathlib import Path

import pytest

from python.host.host_steps import make_machine
from vcmts import cli


def test_plan_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, out = tmp_path / "machine", tmp_path / "plan"
    make_machine("server", root)
    options = ["host", "plan", "--groups", "2", "--machine", str(root), "-o", str(out)]
    assert cli.main(options) == 0
    text = capsys.readouterr().out
    assert text.startswith((out / "plan.md").read_text())
    for part in ("interface eno1: the default route", "| 0 |", "0000:3b:02.0", "grub.d", "2048 MB"):
        assert part in text, part
    listed = (
        f"\nwritten to {out}: plan.md, plan.json, files/\nreview it, then run `vcmts host apply"
    )
    assert listed in text and {path.name for path in out.iterdir()} == {
        "plan.md",
        "plan.json",
        "files",
    }
    assert cli.main(options) == 0  # it may be overwritten
    (out / "plan.json").unlink()
    assert cli.main(options) == 2
    assert "contains no plan" in capsys.readouterr().err


def test_printed_plan_names_no_file_that_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, here = tmp_path / "machine", tmp_path / "here"
    make_machine("server", root)
    here.mkdir()
    monkeypatch.chdir(here)
    assert cli.main(["host", "plan", "--groups", "2", "--machine", str(root)]) == 0
    text = capsys.readouterr().out
    assert list(here.iterdir()) == []
    assert "Nothing was written or changed. `vcmts host plan -o FOLDER` writes" in text
    assert "plan.json" not in text and "files/" not in text
    assert "## Files that apply installs" in text
