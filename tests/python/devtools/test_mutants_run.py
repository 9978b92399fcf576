# SPDX-License-Identifier: BSD-3-Clause
"""make mutants-run: its list fits the sources, and runs are judged. Nothing is compiled."""

from pathlib import Path

import pytest

from mutation.choose import MistakeError
from mutation.judge import (
    PASSED,
    SEEN,
    UNBUILT,
    UNJUDGED,
    Judged,
    Mutant,
    Run,
    judge,
    main,
    read_mutants,
    table,
)
from mutation.judge import try_one as tried
from mutation.trees import Tree
from vcmts.paths import CHECKOUT

TTL = Mutant("fields", "TTL", "a.c", "ttl =\n64;", "ttl = 63;")
GOOD = Run(0, "every packet proven")


@pytest.mark.parametrize("mutant", read_mutants(), ids=lambda mutant: mutant.rule)
def test_each_changes_its_file(mutant: Mutant) -> None:
    source = (CHECKOUT / mutant.file).read_text(encoding="utf-8")
    assert mutant.apply(source) != source


def test_rules_have_names_of_their_own() -> None:
    rules = [mutant.rule for mutant in read_mutants()]
    assert len(set(rules)) == len(rules)


def test_spaces_and_line_ends_do_not_matter() -> None:
    assert TTL.apply("a;\n\tttl\n=  64;\n") == "a;\n\tttl = 63;\n"


@pytest.mark.parametrize("source", ["ttl = 6;", "ttl = 64; ttl = 64;"])
def test_a_text_that_does_not_stand_once_is_a_mistake(source: str) -> None:
    with pytest.raises(MistakeError, match="stands"):
        TTL.apply(source)


class Fake(Tree):
    """Its programs are good as long as the TTL is."""

    def ninja(self, targets: list[str], jobs: int = 1) -> bool:
        assert "src/vcmtsd" in targets
        return "63;;" not in (self.path / "a.c").read_text(encoding="utf-8")


def tree_of(place: Path) -> Fake:
    (place / "a.c").write_text("ttl = 64;\n", encoding="utf-8")
    program = place / "vcmts"
    program.write_text(
        "#!/bin/sh\ngrep -q 'ttl = 64' a.c && { echo every packet proven; exit 0; }\n"
        "echo NOT every packet proven; exit 1\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return Fake(place)


@pytest.mark.parametrize(
    ("becomes", "outcome"),
    [("ttl = 63;", SEEN), ("ttl = 64; /* same */", PASSED), ("ttl = 63;;", UNBUILT)],
)
def test_a_run_judges(tmp_path: Path, becomes: str, outcome: str) -> None:
    tree = tree_of(tmp_path)
    assert judge(tree, "1s") == GOOD
    mutant = Mutant("fields", "TTL", "a.c", "ttl = 64;", becomes)
    verdict = tried(mutant, tree, "1s", GOOD)
    assert (verdict.outcome, verdict.is_open) == (outcome, outcome != SEEN)
    assert (tmp_path / "a.c").read_text(encoding="utf-8") == "ttl = 64;\n"


def test_what_passes_is_run_again(tmp_path: Path) -> None:
    """A machine that is busy for a moment leaves some kinds unjudged."""
    tree = tree_of(tmp_path)
    (tmp_path / "vcmts").write_text(
        "#!/bin/sh\necho run >> runs\n[ $(wc -l < runs) -lt 3 ] || exit 1\n", encoding="utf-8"
    )
    mutant = Mutant("fields", "TTL", "a.c", "ttl = 64;", "ttl = 63;")
    assert tried(mutant, tree, "1s", GOOD).outcome == SEEN
    (tmp_path / "runs").unlink()
    excused = Mutant("fields", "TTL", "a.c", "ttl = 64;", "ttl = 63;", passes="needs an hour")
    assert tried(excused, tree, "1s", GOOD).outcome == PASSED


def test_what_was_not_judged_has_not_passed(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    (tmp_path / "vcmts").write_text(
        "#!/bin/sh\necho run >> runs\necho every packet proven\n"
        "echo vcmts: nothing to judge in this run for: privacy, delay >&2\n",
        encoding="utf-8",
    )
    mutant = Mutant("fields", "TTL", "a.c", "ttl = 64;", "ttl = 63;")
    verdict = tried(mutant, tree, "1s", Run(0, "", frozenset({"privacy"})))
    assert (verdict.outcome, verdict.is_open) == (UNJUDGED, True)
    assert verdict.said == "nothing to judge for: delay"
    assert len((tmp_path / "runs").read_text(encoding="utf-8").split()) == 6
    assert tried(mutant, tree, "1s", Run(0, "", frozenset({"privacy", "delay"}))).outcome == PASSED


def test_the_table_has_a_line_a_kind() -> None:
    excused = Mutant("rates", "late", "a.c", "x", "y", passes="needs an hour")
    verdicts = [Judged(TTL, SEEN), Judged(TTL, PASSED), Judged(excused, PASSED)]
    lines = table(verdicts).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["fields", "2", "1"],
        ["rates", "1", "0"],
        ["all", "3", "1"],
    ]
    assert lines[4:] == ["passed: TTL: no reason", "passed: late: needs an hour"]
    assert not verdicts[2].is_open
    assert "reason not needed: late" in table([Judged(excused, SEEN)])


def test_what_would_be_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--rule", "TTL of DEPI"]) == 0
    assert capsys.readouterr().out == "header fields: TTL of DEPI (src/wire/l2tpv3.c)\n"
