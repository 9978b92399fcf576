# SPDX-License-Identifier: BSD-3-Clause
"""Impairments of docs/impairments.md: `vcmts impairments` and `vcmts run --impair`."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import all_proven, ran_undisturbed
from e2e.running import Completed, environment, run
from vcmts.impairments import CONFIG
from vcmts.paths import CHECKOUT, program
from vcmts.run import expected

PAGE = (CHECKOUT / "docs" / "impairments.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```sh\n\./vcmts (.*)\n```", PAGE, re.MULTILINE)
TARGETS = dict(
    re.findall(
        r'^IMPAIRMENT\(\w+, "([^"]+)", (\w+),',
        (CHECKOUT / "traffic" / "impairments" / "impairment.def").read_text(),
        re.M,
    )
)
KINDS = list(TARGETS)
# Modems of the matrix do not wait for grants: test_run_grants.py tests target ACCESS.
MATRIX = [kind for kind, target in TARGETS.items() if target != "ACCESS"]


def run_command(words: str, *options: str, build: Path | None = None) -> Completed:
    variables = {"VCMTS_BUILD": str(build)} if build else {}
    return run([sys.executable, "-m", "vcmts", *words.split(), *options], environment(**variables))


def test_page_lists_every_kind() -> None:
    table = re.findall(r"^\| `([a-z-]+)` \| ", PAGE, re.MULTILINE)
    assert table == KINDS


def test_matrix_counts_equal_expected(tmp_path: Path) -> None:
    [command] = [words for words in COMMANDS if words.startswith("impairments")]
    path = tmp_path / "matrix.json"
    done = run_command(command, "--json", str(path))
    assert done.status == 0, done.stdout
    rows = json.loads(path.read_text())["rows"]
    cells = [cell for row in rows for cell in row["cells"]]
    verdict = f"PASS: {len(cells):,} counts of {len(rows)} impairments are as expected"
    assert done.stdout.endswith(f"\n{verdict}\n")
    assert all(cell["expected"] == cell["counted"] for cell in cells)
    assert {row["impairment"].split(",")[0] for row in rows} == {*MATRIX, "all"}
    for row in rows:
        assert row["hits"] > 20, row["impairment"]
        sums = rf"^{row['impairment']} +{row['hits']} +{len(row['cells'])} +0$"
        assert len(re.findall(sums, done.stdout, re.M)) == 1


def counted_names(row: dict[str, Any], kind: str) -> set[str]:
    return {cell["name"] for cell in row["cells"] if cell["kind"] == kind and cell["counted"]}


def run_program(*words: str) -> Completed:
    """Runs vcmts-impairments without the tool."""
    return run([program("vcmts-impairments"), "--config", str(CONFIG), *words])


def test_kinds_are_counted_under_documented_names(tmp_path: Path) -> None:
    """Another seed: each kind is counted under the documented names. The program prints its
    progress."""
    path = tmp_path / "matrix.json"
    done = run_program(
        *("--packets", "3000", "--seed", "77"), "--verbose", "--progress", "--json", str(path)
    )
    assert done.status == 0, done.stdout
    rows = {row["impairment"]: row for row in json.loads(path.read_text())["rows"]}
    for name, row in rows.items():
        shown = [c for c in row["cells"] if c["expected"] or c["counted"]]
        assert len(re.findall(rf"^{name} +{row['hits']}  \w", done.stdout, re.M)) == len(shown)
    progress = re.findall(r"^progress (\d+) \d+ (.+)$", done.stderr, re.MULTILINE)
    assert progress == [(str(number), row) for number, row in enumerate(rows)]
    for kind, reason in {
        "psp-loss": "burst_gap",
        "psp-duplicate": "psp_duplicate",
        "psp-late": "psp_late",
        "segment-missing": "frame_gap",
        "segment-header-error": "segment_hcs",
        "unknown-sid": "unknown_sid",
        "burst-truncated": "frame_pointer",
        "trailer-error": "burst_trailer",
        "uepi-header-error": "burst_header",
        "header-error": "frame_hcs",
        "crc-error, CRC verified": "frame_crc",
        "payload-error, CRC verified": "frame_crc",
        "wrong-key, CRC verified": "frame_crc",
        "unknown-key": "key_unknown",
        "clear": "privacy_missing",
        "foreign-source": "source_address",
    }.items():
        assert reason in counted_names(rows[kind], "drop"), kind
    assert "psp_reordered" in counted_names(rows["psp-reorder"], "counter")
    assert "lost" not in counted_names(rows["psp-reorder"], "packets")
    assert "corrupted" in counted_names(rows["payload-error"], "packets")
    assert "foreign" in counted_names(rows["wrong-key"], "frames")
    assert "corrupted" in counted_names(rows["foreign-source, not verified"], "packets")


def test_kinds_without_hit_are_reported() -> None:
    done = run_program("--packets", "3")
    assert done.status == 1
    without_hit, verdict = done.stdout.splitlines()[-2:]
    assert without_hit.startswith("no hit, use more packets: ")
    names = without_hit.partition(": ")[2].split("; ")
    rows = re.findall(r"^ *\d+ of \d+  (.+)$", done.stderr, re.MULTILINE)
    assert {row.split(",")[0] for row in rows} == {*MATRIX, "all"}
    hits = dict(re.findall(r"^(\S.*?) +(\d+) +\d+ +\d+$", done.stdout, re.MULTILINE))
    assert [row for row in rows if hits[row] == "0"] == names != []
    assert re.fullmatch(
        rf"FAIL: 0 of [\d,]+ counts differ, {len(names)} of {len(rows)} impairments hit nothing",
        verdict,
    )


def test_tool_passes_numbers_and_status(tmp_path: Path) -> None:
    """The tool passes numbers to the program, and returns its output and status."""
    script = tmp_path / "bench" / "impairments" / "vcmts-impairments"
    script.parent.mkdir(parents=True)
    script.write_text('#!/bin/sh\necho "$@"\necho "a mistake" >&2\nexit 1\n')
    script.chmod(0o755)
    done = run_command("impairments --packets 3 --seed 77 --config x.yaml", build=tmp_path)
    assert (done.status, done.stderr) == (1, "a mistake\n")
    assert done.stdout == "--config x.yaml --packets 3 --seed 77 --progress\n"


@pytest.mark.parametrize("words", ["--packets 0", "--packets x", "--config nowhere.yaml"])
def test_invalid_arguments_are_rejected(words: str) -> None:
    assert run_command(f"impairments {words}").status == 2


def test_help_lists_the_kinds() -> None:
    done = run([program("vcmts-traffic"), "--help"])
    assert all(re.search(rf"^ +{kind} ", done.stdout, re.MULTILINE) for kind in KINDS)


@pytest.mark.run
def test_run_with_all_kinds_counts_as_expected(tmp_path: Path) -> None:
    """All impairments at a time: each counter has the predicted value, and all identities hold."""
    path = tmp_path / "summary.json"
    shares = ",".join(f"{kind}=0.3%" for kind in MATRIX)
    rates = "--rate 50Mbps --upstream-rate 100Mbps"
    done = run_command(f"run --duration 1s {rates} --impair {shares}", "--json", str(path))
    summary = json.loads(path.read_text())
    assert set(summary["upstream"]["impairments"]) == set(MATRIX) or not ran_undisturbed(summary)
    good = expected.as_expected(summary) and not summary["identities_broken"]
    assert good or not ran_undisturbed(summary), done.stdout
    assert done.status == 0 or not (good and all_proven({"downstream": summary["downstream"]}))
