# SPDX-License-Identifier: BSD-3-Clause
"""Tests devtools/mutation without compiling: mutants are made, chosen, run and reported."""

import json
import subprocess
from pathlib import Path

import pytest

from mutation import main as command
from mutation import trial
from mutation.choose import AREAS, Area, MistakeError, choose, read_area
from mutation.operators import Mutant, mutants_of
from mutation.trees import TEST_FOLDERS, Tree, areas_of, belongs, folder_of, included_areas
from mutation.trees import Test as Program
from mutation.trial import Bench, CommandResult, Record, Verdict
from vcmts.paths import CHECKOUT

SOURCE = """\
/* a < b, f(1); return 7; */
#include "x.h"
#define SIZE 16 /* 17 */
#define STORM "17"
_Static_assert(SIZE == 16, "a < b");

struct s {
	int a[3];
} __attribute__((aligned(64)));

static void prefetch_all(int a) {
	touch(a + 1);
}

bool f(int a, int b) {
	static const char name[20] = "a < b";
	_Static_assert(sizeof(a) == 4, "1 < 2");

	__builtin_prefetch(&a + 1);
	fprintf(stderr, "%d", a + 1);
	log_notice("f", LOG_FIELDS(LOG_NUMBER("a", a + 1)), "%d", a + 1);
	if (a > b)
		__builtin_prefetch(&b);
	if (b > a) {
		fprintf(stderr, "b");
	}
	/* if (a < b) */
	if (a < b && !name[0])
		return false;
	g(a);
	a += 0x0f;
	return h(a);
}
"""


def mutants_as_text(text: str) -> list[tuple[str, str, str]]:
    return [(m.operator, m.line, m.becomes) for m in mutants_of("f.c", text.encode())]


def test_executed_code_is_mutated() -> None:
    """Expected mutants of SOURCE; comments, strings, logging and prefetches are not changed."""
    condition = "if (a < b && !name[0])"
    assert mutants_as_text(SOURCE) == [
        ("constant", "#define SIZE 16", "#define SIZE 17"),
        ("always", condition, "if (true || (a < b && !name[0]))"),
        ("never", condition, "if (false && (a < b && !name[0]))"),
        ("logic", condition, "if (a < b || !name[0])"),
        ("compare", condition, "if (a <= b && !name[0])"),
        ("negate", condition, "if (a < b && name[0])"),
        ("constant", condition, "if (a < b && !name[1])"),
        ("return", "return false;", "return true;"),
        ("drop-call", "g(a);", ";"),
        ("drop-assignment", "a += 0x0f;", ";"),
        ("arithmetic", "a += 0x0f;", "a -= 0x0f;"),
        ("constant", "a += 0x0f;", "a += 0x10;"),
        ("return", "return h(a);", "return !(h(a));"),
    ]


def test_last_break_of_switch_is_not_dropped() -> None:
    text = "void f(int a) {\n\tswitch (a) {\n\tcase B: g(); break;\n\tcase C: break;\n\t}\n}\n"
    assert [change for change in mutants_as_text(text) if change[0] == "drop-jump"] == [
        ("drop-jump", "case B: g(); break;", "case B: g(); ;")
    ]


@pytest.mark.parametrize("area", AREAS)
def test_unexecuted_lines_are_not_mutated(area: str) -> None:
    for mutant in read_area(area, CHECKOUT).all():
        text = (CHECKOUT / mutant.file).read_bytes()
        line = text.splitlines()[mutant.number - 1].decode().strip()
        assert not line.startswith(("/*", "* ", "#include", "__builtin_prefetch", "_Static_assert"))
        assert mutant.apply(text) != text
        assert mutant.function or line.startswith("#define")


def test_file_belongs_to_one_area() -> None:
    files = [file for area in AREAS for file in read_area(area, CHECKOUT).texts]
    assert len(files) == len(set(files))


@pytest.mark.parametrize("area", AREAS)
def test_lists_are_not_stale(area: str) -> None:
    assert read_area(area, CHECKOUT).stale() == []


def test_subfolders_of_an_area_are_read(tmp_path: Path) -> None:
    below = tmp_path / "src" / "wire" / "shared"
    below.mkdir(parents=True)
    (below / "g.c").write_text(SOURCE)
    assert sorted(write_area(tmp_path).texts) == ["src/wire/f.c", "src/wire/shared/g.c"]


def write_area(tmp_path: Path, lists: str = "", source: str = SOURCE) -> Area:
    folder = tmp_path / "src" / "wire"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "f.c").write_text(source)
    (tmp_path / "wire.toml").write_text(lists)
    return read_area("wire", tmp_path, tmp_path)


def short(mutants: list[Mutant]) -> list[tuple[str, str, str]]:
    return [(m.file, m.line, m.becomes) for m in mutants]


def test_choice_depends_on_the_seed(tmp_path: Path) -> None:
    area = read_area("scheduler", CHECKOUT)
    assert choose(area) == choose(read_area("scheduler", CHECKOUT))
    assert short(choose(area)) != short(choose(area, seed=2))
    lines = [(m.file, m.number) for m in choose(area) if not m.rule]
    assert len(lines) == len(set(lines)), "one per line"
    assert {m.file for m in choose(area, lines_per_mutant=0)} >= {m.file for m in choose(area)}


def test_choice_does_not_depend_on_line_numbers(tmp_path: Path) -> None:
    before = choose(write_area(tmp_path), lines_per_mutant=2)
    after = choose(write_area(tmp_path, source="/* moved */\n\n" + SOURCE), lines_per_mutant=2)
    assert short(before) == short(after) and len(before) == 6
    assert [m.number + 2 for m in before] == [m.number for m in after]


CHOSEN = """
[chosen."the smaller one"]
text = "if (a < b &&"
becomes = "if (a > b &&"
"""
REASON = """
[[reason.f]]
line = "g(a);"
becomes = ";"
why = "g is for show"
"""


def test_listed_mutants_are_always_chosen(tmp_path: Path) -> None:
    area = write_area(tmp_path, CHOSEN)
    (listed,) = [m for m in choose(area, lines_per_mutant=100) if m.rule]
    assert (listed.function, listed.rule) == ("f", "the smaller one")
    assert listed.becomes == "if (a > b && !name[0])"
    assert area.stale() == []


def test_unmatched_entries_are_stale(tmp_path: Path) -> None:
    assert write_area(tmp_path, CHOSEN + REASON).stale() == []
    (message,) = write_area(tmp_path, CHOSEN.replace("a < b", "a << b")).stale()
    assert message.startswith("wire.toml: chosen text occurs nowhere, not once: ")
    (message,) = write_area(tmp_path, CHOSEN.replace('"if (a < b &&"', '"a"')).stale()
    assert "f.c:1, src/wire/f.c:5, " in message
    (message,) = write_area(tmp_path, REASON.replace("g(a);", "g(b);")).stale()
    assert message == "wire.toml: reason for code that does not exist: f() 'g(b);'"
    assert write_area(tmp_path, REASON.replace("reason.f", "reason.other")).stale() != []
    assert write_area(tmp_path, REASON.replace('";"', '"h(a);"')).stale() != []


@pytest.mark.parametrize("mistake", ['why = " "', "", 'why = "x"\ncolour = "red"', "why = x"])
def test_entry_without_reason_is_refused(mistake: str, tmp_path: Path) -> None:
    with pytest.raises(MistakeError):
        write_area(tmp_path, REASON.replace('why = "g is for show"', mistake))


def test_reason_matches_one_change_of_one_line(tmp_path: Path) -> None:
    area = write_area(tmp_path, REASON)
    reasons = {m.line + m.becomes: area.reason_for(m) for m in area.all()}
    assert [what for what, reason in reasons.items() if reason] == ["g(a);;"]
    area = write_area(
        tmp_path, REASON.replace('line = "g(a);"\nbecomes = ";"', 'line = "a += 0x0f;"')
    )
    assert sum(1 for m in area.all() if area.reason_for(m)) == 3, "all mutants of the line"


class Recorder(Bench):
    """A bench whose tests pass or raise an error."""

    def __init__(self, tree: Tree, fails: bool) -> None:
        super().__init__(tree, [], Record(), {})
        self.tree, self.fails, self.tested_text = tree, fails, b""

    def run_tests(self, mutant: Mutant, tree: Tree, with_end_to_end: bool) -> tuple[str, str]:
        self.tested_text = (tree.path / mutant.file).read_bytes()
        if self.fails:
            raise RuntimeError("a machine that is too busy")
        return "survived", ""


@pytest.mark.parametrize("fails", [False, True])
def test_file_is_restored(fails: bool, tmp_path: Path) -> None:
    area = write_area(tmp_path)
    mutant = next(m for m in area.all() if m.line == "g(a);")
    bench = Recorder(Tree(tmp_path), fails)
    text = area.texts[mutant.file]
    if fails:
        with pytest.raises(RuntimeError):
            bench.try_mutant(mutant, bench.tree, text)
    else:
        assert bench.try_mutant(mutant, bench.tree, text).is_unexplained
    assert bench.tested_text == text.replace(b"\tg(a);\n", b"\t;\n")
    assert (tmp_path / mutant.file).read_bytes() == text


def test_area_without_tests_is_an_error(tmp_path: Path) -> None:
    test = Program("hcs", "hcs", areas=frozenset({"wire"}))
    assert command.bench_of("wire", [test], Tree(tmp_path), Record(), False).tests == [test]
    with pytest.raises(MistakeError, match="server: no unit tests"):
        command.bench_of("server", [test], Tree(tmp_path), Record(), True)


def bench_with(tmp_path: Path, whole: str, broken: str) -> tuple[Bench, Program, Tree]:
    """Two built trees with the test program `t`: without and with a mutant."""
    trees = [Tree(tmp_path / name) for name in ("whole", "worker")]
    for tree, script in zip(trees, (whole, broken), strict=True):
        tree.build.mkdir(parents=True)
        (tree.build / "t").write_text(f"#!/bin/sh\n{script}\n")
        (tree.build / "t").chmod(0o755)
    test = Program("t", "t")
    return Bench(trees[0], [test], Record({"t": 0.0}, {"t": 0.0}), {}), test, trees[1]


def test_timeout_on_busy_host_is_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the test without a mutant times out as well, the machine is too busy."""
    monkeypatch.setattr(trial, "PROCESSOR_SECONDS", 0.5)
    bench, test, worker = bench_with(tmp_path, "true", "while :; do :; done")
    assert bench.kills(test, worker)
    ends = []

    class Busy(Bench):
        def run(
            self, test: Program, tree: Tree, factor: float = 1, message: int = -1
        ) -> CommandResult:
            ends.append((tree.path.name, factor))
            return CommandResult(False, late=True)

    busy = Busy(bench.whole, [test], Record(), {})
    with pytest.raises(RuntimeError, match="too busy"):
        busy.kills(test, worker)
    assert [factor for name, factor in ends if name == "worker"] == [1, 2, 4]
    monkeypatch.setattr(Tree, "ninja", lambda *_: True)
    text = SOURCE.encode()
    (worker.path / "f.c").write_bytes(text)
    verdict = busy.try_mutant(mutants_of("f.c", text)[0], worker, text)
    assert (verdict.outcome, verdict.is_unexplained) == ("undecided", True)


def test_failure_without_mutant_is_an_error(tmp_path: Path) -> None:
    bench, test, _ = bench_with(tmp_path, "echo ends with this; exit 1", "true")
    record = bench.record = Record()
    with pytest.raises(MistakeError, match="t fails without a mutant:\nends with this"):
        command.measure(bench)
    assert not record.processor
    (bench.whole.build / "t").write_text("#!/bin/sh\ntrue\n")
    assert bench.measure(test) is None
    assert list(record.processor) == list(record.wall) == ["t"]


def test_identical_program_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, _, worker = bench_with(tmp_path, "exit 1", "exit 1")
    monkeypatch.setattr(Tree, "ninja", lambda *_: True)
    mutant = mutants_of("src/wire/f.c", SOURCE.encode())[0]
    assert bench.run_tests(mutant, worker, False) == ("same", "")
    (worker.build / "t").write_text("#!/bin/sh\nexit 2\n")
    assert bench.run_tests(mutant, worker, False) == ("killed", "t")
    (worker.build / "t").write_text("#!/bin/sh\nexit 0\n")
    assert bench.run_tests(mutant, worker, False) == ("survived", "")
    monkeypatch.setattr(Tree, "ninja", lambda *_: False)
    assert bench.run_tests(mutant, worker, False) == ("unbuilt", "")


def test_tests_that_killed_run_first() -> None:
    mutant = mutants_of("src/wire/hcs.c", SOURCE.encode())[0]
    named, quick, slow = (Program(name, name) for name in ("hcs", "quick", "slow"))
    record = Record({"hcs": 0.1, "quick": 0.1, "slow": 1.0})
    order = [named, quick, slow]
    assert sorted(order, key=lambda t: -record.worth(t, mutant)) == [named, quick, slow]
    for _ in range(100):
        record.killed(mutant, "slow")
    assert max(order, key=lambda t: record.worth(t, mutant)) == slow


@pytest.mark.parametrize(
    ("inputs", "areas"),
    [
        ("../src/wire/crc32.c\n../tests/unit/wire/test_hcs.c\nsrc/wire/libwire.a", ["wire"]),
        ("../src/wire/a.c\n../src/downstream/a.c\n../src/worker.c", ["downstream"]),
        ("../src/upstream/a.c\n../src/downstream/a.c", ["downstream", "upstream"]),
        ("../src/upstream/a.c\n../traffic/a.c", []),
        ("../src/wire/a.c\n../src/downstream/plain.h", ["downstream"]),
    ],
)
def test_tests_belong_to_areas_of_their_inputs(inputs: str, areas: list[str]) -> None:
    test = Program("name", "name", areas=areas_of(inputs))
    assert [area for area in AREAS if belongs(test, area)] == areas


def test_tests_belong_to_areas_of_their_folder() -> None:
    """Areas of TEST_FOLDERS are tested by the programs in their folders."""
    inputs = (
        "../src/server/a.c\n../tests/unit/kit/packets.c\n../tests/unit/control/methods/test_m.c"
    )
    test = Program("m", "m", areas=areas_of(inputs), folder=folder_of(inputs))
    assert [area for area in TEST_FOLDERS if belongs(test, area)] == [
        *("server", "metrics", "control", "methods")
    ]
    test = Program("m", "m", areas=frozenset({"server", "methods", "control"}), folder="")
    assert not any(belongs(test, area) for area in TEST_FOLDERS)


def test_included_headers_are_inputs() -> None:
    text = '#include "test.h"\n#include <x/a.h>\n// #include "no/a.h"\n#include "wire/ip.h"\n'
    assert included_areas(text) == {"wire"}


def test_survivors_and_stale_reasons_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 1 for a survivor without a reason, and for a stale reason."""
    monkeypatch.setattr(command, "COPIES", tmp_path)
    monkeypatch.setattr(command, "whole_tree", lambda *_: Tree(tmp_path))
    monkeypatch.setattr(command, "worker_tree", lambda *_: Tree(tmp_path))
    monkeypatch.setattr(command, "bench_of", lambda *_: Recorder(Tree(tmp_path), False))
    monkeypatch.setattr(command, "tests_of", lambda *_: [])
    monkeypatch.setattr(command, "build", lambda *_: None)
    options = command.arguments(["--area", "wire", "-j", "1"])

    def run(lists: str) -> int:
        area = write_area(tmp_path, lists)
        return command.try_areas(
            {"wire": (area, [m for m in area.all() if m.line == "g(a);"])}, options
        )

    assert run(REASON) == 0
    assert run("") == 1
    message = capsys.readouterr().out
    assert '[[reason.f]]\nline = "g(a);"\nbecomes = ";"\nwhy = ""\n' in message
    assert (
        "1 mutants: 0 killed, 0 the same code, 0 not built, 0 survived with a reason, 1" in message
    )
    assert command.main(["--survivors"]) == 1
    assert "g(a);" in capsys.readouterr().out
    assert run(REASON + REASON.replace("g(a);", "gone(a);")) == 1
    assert "reason for code that does not exist: f() 'gone(a);'" in capsys.readouterr().out
    assert json.loads((tmp_path / "survivors.json").read_text()) == []


def test_second_run_is_refused(tmp_path: Path) -> None:
    with command.lock_copies(tmp_path), pytest.raises(MistakeError, match="another run"):
        command.lock_copies(tmp_path)
    command.lock_copies(tmp_path).close()


def test_list_option_prints_mutants() -> None:
    done = subprocess.run(
        [CHECKOUT / "devtools/mutants", "--list", "--area", "wire", "--file", "hcs"],
        capture_output=True,
        text=True,
        check=True,
    )
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert heads and all(line.startswith("src/wire/hcs.") for line in heads)
    assert Verdict(mutants_of("f.c", SOURCE.encode())[0], "killed").is_unexplained is False
