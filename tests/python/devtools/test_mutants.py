# SPDX-License-Identifier: BSD-3-Clause
"""make mutants: what is broken, what is chosen, what is said of it. Nothing is compiled here."""

import json
import subprocess
from pathlib import Path

import pytest

from mutation import main as command
from mutation import trial
from mutation.choose import ROOMS, MistakeError, Room, choose, read_room
from mutation.operators import Mutant, mutants_of
from mutation.trees import FOLDERS, Tree, belongs, folder_of, included_rooms, rooms_of
from mutation.trees import Test as Program
from mutation.trial import Bench, Ended, Record, Verdict, run_command
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


def changes(text: str) -> list[tuple[str, str, str]]:
    return [(m.operator, m.line, m.becomes) for m in mutants_of("f.c", text.encode())]


def test_every_place_that_runs_is_changed() -> None:
    """In words, as a reader would write them down; nothing else, and no place for nothing."""
    condition = "if (a < b && !name[0])"
    assert changes(SOURCE) == [
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


def test_a_switch_ends_without_its_last_break_too() -> None:
    text = "void f(int a) {\n\tswitch (a) {\n\tcase B: g(); break;\n\tcase C: break;\n\t}\n}\n"
    assert [change for change in changes(text) if change[0] == "drop-jump"] == [
        ("drop-jump", "case B: g(); break;", "case B: g(); ;")
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_what_does_not_run_stays(room: str) -> None:
    for mutant in read_room(room, CHECKOUT).all():
        text = (CHECKOUT / mutant.file).read_bytes()
        line = text.splitlines()[mutant.number - 1].decode().strip()
        assert not line.startswith(("/*", "* ", "#include", "__builtin_prefetch", "_Static_assert"))
        assert mutant.apply(text) != text
        assert mutant.function or line.startswith("#define")


def test_a_file_is_of_one_room() -> None:
    files = [file for room in ROOMS for file in read_room(room, CHECKOUT).texts]
    assert len(files) == len(set(files))


@pytest.mark.parametrize("room", ROOMS)
def test_lists_name_what_is_there(room: str) -> None:
    assert read_room(room, CHECKOUT).stale() == []


def test_folders_of_a_room_are_read(tmp_path: Path) -> None:
    below = tmp_path / "src" / "wire" / "shared"
    below.mkdir(parents=True)
    (below / "g.c").write_text(SOURCE)
    assert sorted(room_of(tmp_path).texts) == ["src/wire/f.c", "src/wire/shared/g.c"]


def room_of(tmp_path: Path, lists: str = "", source: str = SOURCE) -> Room:
    folder = tmp_path / "src" / "wire"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "f.c").write_text(source)
    (tmp_path / "wire.toml").write_text(lists)
    return read_room("wire", tmp_path, tmp_path)


def short(mutants: list[Mutant]) -> list[tuple[str, str, str]]:
    return [(m.file, m.line, m.becomes) for m in mutants]


def test_choice_is_the_same_each_time_and_another_by_seed(tmp_path: Path) -> None:
    room = read_room("scheduler", CHECKOUT)
    assert choose(room) == choose(read_room("scheduler", CHECKOUT))
    assert short(choose(room)) != short(choose(room, seed=2))
    lines = [(m.file, m.number) for m in choose(room) if not m.rule]
    assert len(lines) == len(set(lines)), "one a line"
    assert {m.file for m in choose(room, lines_a_mutant=0)} >= {m.file for m in choose(room)}


def test_choice_does_not_know_line_numbers(tmp_path: Path) -> None:
    before = choose(room_of(tmp_path), lines_a_mutant=2)
    after = choose(room_of(tmp_path, source="/* moved */\n\n" + SOURCE), lines_a_mutant=2)
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


def test_chosen_ones_are_tried_always(tmp_path: Path) -> None:
    room = room_of(tmp_path, CHOSEN)
    (wish,) = [m for m in choose(room, lines_a_mutant=100) if m.rule]
    assert (wish.function, wish.rule) == ("f", "the smaller one")
    assert wish.becomes == "if (a > b && !name[0])"
    assert room.stale() == []


def test_what_matches_nothing_is_stale(tmp_path: Path) -> None:
    assert room_of(tmp_path, CHOSEN + REASON).stale() == []
    (said,) = room_of(tmp_path, CHOSEN.replace("a < b", "a << b")).stale()
    assert said.startswith("wire.toml: chosen text stands nowhere, not once: ")
    (said,) = room_of(tmp_path, CHOSEN.replace('"if (a < b &&"', '"a"')).stale()
    assert "f.c:1, src/wire/f.c:5, " in said
    (said,) = room_of(tmp_path, REASON.replace("g(a);", "g(b);")).stale()
    assert said == "wire.toml: reason for what is not there: f() 'g(b);'"
    assert room_of(tmp_path, REASON.replace("reason.f", "reason.other")).stale() != []
    assert room_of(tmp_path, REASON.replace('";"', '"h(a);"')).stale() != []


@pytest.mark.parametrize("mistake", ['why = " "', "", 'why = "x"\ncolour = "red"', "why = x"])
def test_a_reason_is_needed(mistake: str, tmp_path: Path) -> None:
    with pytest.raises(MistakeError):
        room_of(tmp_path, REASON.replace('why = "g is for show"', mistake))


def test_reasons_are_for_one_change_of_one_line(tmp_path: Path) -> None:
    room = room_of(tmp_path, REASON)
    whys = {m.line + m.becomes: room.reason_for(m) for m in room.all()}
    assert [what for what, reason in whys.items() if reason] == ["g(a);;"]
    room = room_of(tmp_path, REASON.replace('line = "g(a);"\nbecomes = ";"', 'line = "a += 0x0f;"'))
    assert sum(1 for m in room.all() if room.reason_for(m)) == 3, "all of the line"


class Recorder(Bench):
    """A bench whose tests are told how to end."""

    def __init__(self, tree: Tree, breaks: bool) -> None:
        super().__init__(tree, [], Record(), {})
        self.tree, self.breaks, self.seen = tree, breaks, b""

    def look(self, mutant: Mutant, tree: Tree, with_outside: bool) -> tuple[str, str]:
        self.seen = (tree.path / mutant.file).read_bytes()
        if self.breaks:
            raise RuntimeError("a machine that is too busy")
        return "survived", ""


@pytest.mark.parametrize("breaks", [False, True])
def test_the_file_is_put_back(breaks: bool, tmp_path: Path) -> None:
    room = room_of(tmp_path)
    mutant = next(m for m in room.all() if m.line == "g(a);")
    bench = Recorder(Tree(tmp_path), breaks)
    text = room.texts[mutant.file]
    if breaks:
        with pytest.raises(RuntimeError):
            bench.judge(mutant, bench.tree, text)
    else:
        assert bench.judge(mutant, bench.tree, text).is_open
    assert bench.seen == text.replace(b"\tg(a);\n", b"\t;\n")
    assert (tmp_path / mutant.file).read_bytes() == text


def test_a_test_that_never_ends_is_stopped_by_its_own_time(tmp_path: Path) -> None:
    ended = run_command(["sh", "-c", "while :; do :; done"], tmp_path, {}, 1, 300)
    assert (ended.good, ended.late) == (False, True)


def test_a_test_that_sleeps_is_stopped(tmp_path: Path) -> None:
    ended = run_command(["sleep", "300"], tmp_path, {}, 100, 0.1)
    assert (ended.good, ended.late) == (False, True)


@pytest.mark.parametrize(("status", "good"), [(0, True), (77, True), (1, False), (255, False)])
def test_how_a_test_ended(status: int, good: bool, tmp_path: Path) -> None:
    ended = run_command(["sh", "-c", f"exit {status}"], tmp_path, {}, 10, 300)
    assert (ended.good, ended.late) == (good, False)


def bench_with(tmp_path: Path, whole: str, broken: str) -> tuple[Bench, Program, Tree]:
    """Two trees with the program `t`, as they would be built."""
    trees = [Tree(tmp_path / name) for name in ("whole", "worker")]
    for tree, script in zip(trees, (whole, broken), strict=True):
        tree.build.mkdir(parents=True)
        (tree.build / "t").write_text(f"#!/bin/sh\n{script}\n")
        (tree.build / "t").chmod(0o755)
    test = Program("t", "t")
    return Bench(trees[0], [test], Record({"t": 0.0}, {"t": 0.0}), {}), test, trees[1]


def test_late_alone_is_not_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the unbroken program is late as well, it is the machine."""
    monkeypatch.setattr(trial, "PROCESSOR_SECONDS", 0.5)
    bench, test, worker = bench_with(tmp_path, "true", "while :; do :; done")
    assert bench.kills(test, worker)
    ends = []

    class Busy(Bench):
        def run(self, test: Program, tree: Tree, factor: float = 1, said: int = -1) -> Ended:
            ends.append((tree.path.name, factor))
            return Ended(False, late=True)

    busy = Busy(bench.whole, [test], Record(), {})
    with pytest.raises(RuntimeError, match="too busy"):
        busy.kills(test, worker)
    assert [factor for name, factor in ends if name == "worker"] == [1, 2, 4]
    monkeypatch.setattr(Tree, "ninja", lambda *_: True)
    text = SOURCE.encode()
    (worker.path / "f.c").write_bytes(text)
    verdict = busy.judge(mutants_of("f.c", text)[0], worker, text)
    assert (verdict.outcome, verdict.is_open) == ("undecided", True)


def test_what_fails_unbroken_is_told(tmp_path: Path) -> None:
    bench, test, _ = bench_with(tmp_path, "echo ends with this; exit 1", "true")
    room = bench.record = Record()
    with pytest.raises(MistakeError, match="t fails although nothing is broken:\nends with this"):
        command.measure(bench)
    assert not room.processor
    (bench.whole.build / "t").write_text("#!/bin/sh\ntrue\n")
    assert bench.measure(test) is None
    assert list(room.processor) == list(room.wall) == ["t"]


def test_the_same_program_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, _, worker = bench_with(tmp_path, "exit 1", "exit 1")
    monkeypatch.setattr(Tree, "ninja", lambda *_: True)
    mutant = mutants_of("src/wire/f.c", SOURCE.encode())[0]
    assert bench.look(mutant, worker, False) == ("same", "")
    (worker.build / "t").write_text("#!/bin/sh\nexit 2\n")
    assert bench.look(mutant, worker, False) == ("killed", "t")
    (worker.build / "t").write_text("#!/bin/sh\nexit 0\n")
    assert bench.look(mutant, worker, False) == ("survived", "")
    monkeypatch.setattr(Tree, "ninja", lambda *_: False)
    assert bench.look(mutant, worker, False) == ("unbuilt", "")


def test_tests_that_killed_before_come_first() -> None:
    mutant = mutants_of("src/wire/hcs.c", SOURCE.encode())[0]
    named, quick, slow = (Program(name, name) for name in ("hcs", "quick", "slow"))
    record = Record({"hcs": 0.1, "quick": 0.1, "slow": 1.0})
    order = [named, quick, slow]
    assert sorted(order, key=lambda t: -record.worth(t, mutant)) == [named, quick, slow]
    for _ in range(100):
        record.killed(mutant, "slow")
    assert max(order, key=lambda t: record.worth(t, mutant)) == slow


@pytest.mark.parametrize(
    ("inputs", "rooms"),
    [
        ("../src/wire/crc32.c\n../tests/unit/wire/test_hcs.c\nsrc/wire/libwire.a", ["wire"]),
        ("../src/wire/a.c\n../src/downstream/a.c\n../src/worker.c", ["downstream"]),
        ("../src/upstream/a.c\n../src/downstream/a.c", ["downstream", "upstream"]),
        ("../src/upstream/a.c\n../traffic/a.c", []),
        ("../src/wire/a.c\n../src/downstream/plain.h", ["downstream"]),
    ],
)
def test_whose_tests_they_are(inputs: str, rooms: list[str]) -> None:
    test = Program("name", "name", rooms=rooms_of(inputs))
    assert [room for room in ROOMS if belongs(test, room)] == rooms


def test_folders_of_tests() -> None:
    """What most programs hold is tested by those that stand in its folder."""
    inputs = (
        "../src/server/a.c\n../tests/unit/kit/packets.c\n../tests/unit/control/methods/test_m.c"
    )
    test = Program("m", "m", rooms=rooms_of(inputs), folder=folder_of(inputs))
    assert [room for room in FOLDERS if belongs(test, room)] == [
        *("server", "metrics", "control", "methods")
    ]
    test = Program("m", "m", rooms=frozenset({"server", "methods", "control"}), folder="")
    assert not any(belongs(test, room) for room in FOLDERS)


def test_headers_count_as_well() -> None:
    text = '#include "test.h"\n#include <x/a.h>\n// #include "no/a.h"\n#include "wire/ip.h"\n'
    assert included_rooms(text) == {"wire"}


def test_status_and_survivors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 1 for a survivor without a reason and for a stale reason, 0 without both."""
    monkeypatch.setattr(command, "PLACE", tmp_path)
    monkeypatch.setattr(command, "whole_tree", lambda *_: Tree(tmp_path))
    monkeypatch.setattr(command, "worker_tree", lambda *_: Tree(tmp_path))
    monkeypatch.setattr(command, "bench_of", lambda *_: Recorder(Tree(tmp_path), False))
    monkeypatch.setattr(command, "tests_of", lambda *_: [])
    monkeypatch.setattr(command, "build", lambda *_: None)
    options = command.arguments(["--room", "wire", "-j", "1"])

    def run(lists: str) -> int:
        room = room_of(tmp_path, lists)
        return command.try_rooms(
            {"wire": (room, [m for m in room.all() if m.line == "g(a);"])}, options
        )

    assert run(REASON) == 0
    assert run("") == 1
    said = capsys.readouterr().out
    assert '[[reason.f]]\nline = "g(a);"\nbecomes = ";"\nwhy = ""\n' in said
    assert "1 mutants: 0 killed, 0 the same code, 0 not built, 0 survived with a reason, 1" in said
    assert command.main(["--survivors"]) == 1
    assert "g(a);" in capsys.readouterr().out
    assert run(REASON + REASON.replace("g(a);", "gone(a);")) == 1
    assert "reason for what is not there: f() 'gone(a);'" in capsys.readouterr().out
    assert json.loads((tmp_path / "survivors.json").read_text()) == []


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with command.only_one(tmp_path), pytest.raises(MistakeError, match="another run"):
        command.only_one(tmp_path)
    command.only_one(tmp_path).close()


def test_the_command_lists() -> None:
    done = subprocess.run(
        [CHECKOUT / "devtools/mutants", "--list", "--room", "wire", "--file", "hcs"],
        capture_output=True,
        text=True,
        check=True,
    )
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert heads and all(line.startswith("src/wire/hcs.") for line in heads)
    assert Verdict(mutants_of("f.c", SOURCE.encode())[0], "killed").is_open is False
