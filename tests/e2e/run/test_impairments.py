# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong on request: the commands of docs/impairments.md, and their mistakes."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import kept_up, proven
from e2e.running import Ended, environment, run
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
# Modems of the matrix do not wait for grants: what needs that is in test_run_grants.py.
ROWS = [kind for kind, target in TARGETS.items() if target != "ACCESS"]


def tool(words: str, *more: str, build: Path | None = None) -> Ended:
    own = {"VCMTS_BUILD": str(build)} if build else {}
    return run([sys.executable, "-m", "vcmts", *words.split(), *more], environment(**own))


def test_page_tells_every_kind() -> None:
    table = re.findall(r"^\| `([a-z-]+)` \| ", PAGE, re.MULTILINE)
    assert table == KINDS


def test_matrix(tmp_path: Path) -> None:
    [command] = [words for words in COMMANDS if words.startswith("impairments")]
    written = tmp_path / "matrix.json"
    done = tool(command, "--json", str(written))
    assert done.status == 0, done.stdout
    rows = json.loads(written.read_text())
    cells = [cell for row in rows for cell in row["cells"]]
    assert done.stdout.endswith(f"\n{len(cells)} cells, all equal\n")
    assert all(cell["expected"] == cell["counted"] for cell in cells)
    assert {row["impairment"].split(",")[0] for row in rows} == {*ROWS, "all"}
    for row in rows:
        assert row["hits"] > 20, row["impairment"]
        shown = [c for c in row["cells"] if c["expected"] or c["counted"]]
        found = re.findall(rf"^{row['impairment']} +{row['hits']} ", done.stdout, re.M)
        assert len(found) == len(shown)


def met(row: dict[str, Any], kind: str) -> set[str]:
    return {cell["name"] for cell in row["cells"] if cell["kind"] == kind and cell["counted"]}


def alone(*words: str) -> Ended:
    """The program that the tool starts, by itself."""
    return run([program("vcmts-impairments"), "--config", str(CONFIG), *words])


def test_other_numbers(tmp_path: Path) -> None:
    """Another seed hits others; each kind meets the names that the contract has for it. The rows
    are told as they are begun."""
    written = tmp_path / "matrix.json"
    done = alone("--packets", "3000", "--seed", "77", "--progress", "--json", str(written))
    assert done.status == 0, done.stdout
    rows = {row["impairment"]: row for row in json.loads(written.read_text())}
    told = re.findall(r"^progress (\d+) \d+ (.+)$", done.stderr, re.MULTILINE)
    assert told == [(str(number), row) for number, row in enumerate(rows)]
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
        assert reason in met(rows[kind], "drop"), kind
    assert "psp_reordered" in met(rows["psp-reorder"], "counter")
    assert "lost" not in met(rows["psp-reorder"], "packets")
    assert "corrupted" in met(rows["payload-error"], "packets")
    assert "foreign" in met(rows["wrong-key"], "frames")
    assert "corrupted" in met(rows["foreign-source, not verified"], "packets")


def test_rows_without_a_hit_are_named() -> None:
    done = alone("--packets", "3")
    assert done.status == 1
    cells, untried = done.stdout.splitlines()[-2:]
    assert cells.endswith("all equal")
    assert untried.startswith("no hit in so few packets: ")
    named = untried.partition(": ")[2].split("; ")
    rows = re.findall(r"^ *\d+ of \d+  (.+)$", done.stderr, re.MULTILINE)
    assert {row.split(",")[0] for row in rows} == {*ROWS, "all"}
    hits = dict(re.findall(r"^(\S.*?) +(\d+)  \w+ ", done.stdout, re.MULTILINE))
    assert [row for row in rows if hits[row] == "0"] == named != []


def test_what_the_tool_passes_on(tmp_path: Path) -> None:
    """Its numbers to the program, and the table and the status of that to the user."""
    stand_in = tmp_path / "bench" / "impairments" / "vcmts-impairments"
    stand_in.parent.mkdir(parents=True)
    stand_in.write_text('#!/bin/sh\necho "$@"\necho "a mistake" >&2\nexit 1\n')
    stand_in.chmod(0o755)
    done = tool("impairments --packets 3 --seed 77 --config x.yaml", build=tmp_path)
    assert (done.status, done.stderr) == (1, "a mistake\n")
    assert done.stdout == "--config x.yaml --packets 3 --seed 77 --progress\n"


@pytest.mark.parametrize("words", ["--packets 0", "--packets x", "--config nowhere.yaml"])
def test_mistakes(words: str) -> None:
    assert tool(f"impairments {words}").status == 2


def test_help_lists_the_kinds() -> None:
    done = run([program("vcmts-traffic"), "--help"])
    assert all(re.search(rf"^ +{kind} ", done.stdout, re.MULTILINE) for kind in KINDS)


@pytest.mark.run
def test_run_with_every_kind(tmp_path: Path) -> None:
    """All of it at the same time: each counter is foretold, and no sum of them differs."""
    written = tmp_path / "summary.json"
    shares = ",".join(f"{kind}=0.3%" for kind in ROWS)
    rates = "--rate 50Mbps --upstream-rate 100Mbps"
    done = tool(f"run --duration 1s {rates} --impair {shares}", "--json", str(written))
    summary = json.loads(written.read_text())
    assert set(summary["upstream"]["impairments"]) == set(ROWS) or not kept_up(summary)
    good = expected.as_expected(summary) and not summary["identities_broken"]
    assert good or not kept_up(summary), done.stdout
    assert done.status == 0 or not (good and proven({"downstream": summary["downstream"]}))
