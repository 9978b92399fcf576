# SPDX-License-Identifier: BSD-3-Clause
"""Tests `make mutants-run` with a stub: list of mutants, and verdicts. Compiles nothing."""

from pathlib import Path

import pytest

from mutation.choose import MistakeError
from mutation.run_traffic import (
    DETECTED,
    INCONCLUSIVE,
    UNBUILT,
    UNDETECTED,
    Mutant,
    Run,
    RunResult,
    main,
    read_mutants,
    run_traffic,
    table,
)
from mutation.run_traffic import try_one as try_one
from mutation.trees import Tree
from vcmts.paths import CHECKOUT

TTL = Mutant("fields", "TTL", "a.c", "ttl =\n64;", "ttl = 63;")
GOOD = Run(0, "PASS: 1 of 1 packets proven")


@pytest.mark.parametrize("mutant", read_mutants(), ids=lambda mutant: mutant.rule)
def test_mutants_change_their_files(mutant: Mutant) -> None:
    source = (CHECKOUT / mutant.file).read_text(encoding="utf-8")
    assert mutant.apply(source) != source


def test_rules_have_unique_names() -> None:
    rules = [mutant.rule for mutant in read_mutants()]
    assert len(set(rules)) == len(rules)


def test_whitespace_is_ignored() -> None:
    assert TTL.apply("a;\n\tttl\n=  64;\n") == "a;\n\tttl = 63;\n"


@pytest.mark.parametrize("source", ["ttl = 6;", "ttl = 64; ttl = 64;"])
def test_text_must_occur_once(source: str) -> None:
    with pytest.raises(MistakeError, match="occurs"):
        TTL.apply(source)


class StubTree(Tree):
    """A tree whose programs succeed while the TTL is unchanged."""

    def ninja(self, targets: list[str], jobs: int = 1) -> bool:
        assert "src/vcmtsd" in targets
        return "63;;" not in (self.path / "a.c").read_text(encoding="utf-8")


def tree_of(folder: Path) -> StubTree:
    (folder / "a.c").write_text("ttl = 64;\n", encoding="utf-8")
    program = folder / "vcmts"
    program.write_text(
        "#!/bin/sh\ngrep -q 'ttl = 64' a.c && { echo PASS: 1 of 1 packets proven; exit 0; }\n"
        "echo FAIL: 1 lost; exit 1\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return StubTree(folder)


@pytest.mark.parametrize(
    ("becomes", "outcome"),
    [("ttl = 63;", DETECTED), ("ttl = 64; /* same */", UNDETECTED), ("ttl = 63;;", UNBUILT)],
)
def test_verdict_follows_from_run(tmp_path: Path, becomes: str, outcome: str) -> None:
    tree = tree_of(tmp_path)
    assert run_traffic(tree, "1s") == GOOD
    mutant = Mutant("fields", "TTL", "a.c", "ttl = 64;", becomes)
    verdict = try_one(mutant, tree, "1s", GOOD)
    assert (verdict.outcome, verdict.is_unexplained) == (outcome, outcome != DETECTED)
    assert (tmp_path / "a.c").read_text(encoding="utf-8") == "ttl = 64;\n"


def test_passed_run_is_repeated(tmp_path: Path) -> None:
    """On a busy machine a run may not check all kinds."""
    tree = tree_of(tmp_path)
    (tmp_path / "vcmts").write_text(
        "#!/bin/sh\necho run >> runs\n[ $(wc -l < runs) -lt 3 ] || exit 1\n", encoding="utf-8"
    )
    mutant = Mutant("fields", "TTL", "a.c", "ttl = 64;", "ttl = 63;")
    assert try_one(mutant, tree, "1s", GOOD).outcome == DETECTED
    (tmp_path / "runs").unlink()
    excused = Mutant("fields", "TTL", "a.c", "ttl = 64;", "ttl = 63;", passes="needs an hour")
    assert try_one(excused, tree, "1s", GOOD).outcome == UNDETECTED


def test_run_without_check_is_not_passed(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    (tmp_path / "vcmts").write_text(
        "#!/bin/sh\necho run >> runs\necho PASS: 1 of 1 packets proven\n"
        "echo vcmts: checks without anything to check in this run: privacy, delay >&2\n",
        encoding="utf-8",
    )
    mutant = Mutant("fields", "TTL", "a.c", "ttl = 64;", "ttl = 63;")
    verdict = try_one(mutant, tree, "1s", Run(0, "", frozenset({"privacy"})))
    assert (verdict.outcome, verdict.is_unexplained) == (INCONCLUSIVE, True)
    assert verdict.message == "nothing to check for: delay"
    assert len((tmp_path / "runs").read_text(encoding="utf-8").split()) == 6
    assert (
        try_one(mutant, tree, "1s", Run(0, "", frozenset({"privacy", "delay"}))).outcome
        == UNDETECTED
    )


def test_table_has_a_line_per_kind() -> None:
    excused = Mutant("rates", "late", "a.c", "x", "y", passes="needs an hour")
    verdicts = [
        RunResult(TTL, DETECTED),
        RunResult(TTL, UNDETECTED),
        RunResult(excused, UNDETECTED),
    ]
    lines = table(verdicts).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["fields", "2", "1"],
        ["rates", "1", "0"],
        ["all", "3", "1"],
    ]
    assert lines[4:] == ["undetected: TTL: no reason", "undetected: late: needs an hour"]
    assert not verdicts[2].is_unexplained
    assert "reason not needed: late" in table([RunResult(excused, DETECTED)])


def test_list_option_prints_mutants(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--rule", "TTL of DEPI"]) == 0
    assert capsys.readouterr().out == "header fields: TTL of DEPI (src/wire/l2tpv3.c)\n"
