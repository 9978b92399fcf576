# SPDX-License-Identifier: BSD-3-Clause
"""Copies of the checkout in build-mutants/, each with a build; the checkout stays as it is.

`whole` is never broken: it gives the times of the tests, and the programs that broken ones are
compared with.
"""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from mutation.choose import MistakeError

OPTIONS = ["-Dmarch=native", "-Dtests=enabled", "-Doptimization=1", "-Ddebug=false"]
# Code of one room, or of what stands beside the rooms; src/*.c are programs.
TOPS = ("traffic", "bench", "simulate", "impairments")
# Rooms that most programs hold: the folders of tests/unit whose tests, and those below, say what
# they have to do.
FOLDERS = {
    "log": ("platform/log",),
    "scheduler": ("scheduler",),
    "server": ("server", "control/methods"),
    "metrics": ("telemetry/metrics", "control/methods"),
    "capture": ("capture/live",),
    "systemd": ("commands/systemd",),
    "control": ("control",),
    "methods": ("control/methods",),
}
# What runs a room's code from outside, in words of pytest.
REPLAYS = ("tests/e2e", "-m", "replay", "-k")
OUTSIDE = {
    "log": ("tests/e2e/deploy/test_service.py",),
    "scheduler": (*REPLAYS, "not upstream"),
    "downstream": (*REPLAYS, "not upstream"),
    "upstream": (*REPLAYS, "upstream"),
    "metrics": ("tests/e2e/control/test_metrics_http.py", "-m", "not run"),
    "capture": ("tests/e2e/control/test_capture.py",),
    "systemd": ("tests/e2e/deploy/test_service.py",),
}


@dataclass(frozen=True)
class Test:
    name: str
    program: str  # below the build folder; what runs, or what the command runs
    arguments: tuple[str, ...] = ()
    rooms: frozenset[str] = frozenset()  # of which it holds code
    folder: str = ""  # of tests/unit, in which it stands
    command: tuple[str, ...] = ()  # below the tree, in place of the program
    directory: str | None = None
    environment: dict[str, str] = field(default_factory=dict, compare=False)

    def line(self, tree: "Tree") -> list[str]:
        return [*(self.command or (str(tree.build / self.program),)), *self.arguments]

    def place(self, tree: "Tree") -> Path:
        return tree.path if self.command else Path(self.directory or tree.build)


def run(command: list[str], directory: Path) -> str:
    done = subprocess.run(
        command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise MistakeError(f"{' '.join(command[:4])} failed:\n{done.stdout[-4000:]}")
    return done.stdout


@dataclass(frozen=True)
class Tree:
    path: Path

    @property
    def build(self) -> Path:
        return self.path / "build"

    def ninja(self, targets: list[str], jobs: int = 1) -> bool:
        done = subprocess.run(
            ["ninja", "-C", str(self.build), "-j", str(jobs), *targets],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return done.returncode == 0

    def write(self, file: str, text: bytes) -> None:
        (self.path / file).write_bytes(text)


def files_of(checkout: Path) -> list[str]:
    listing = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], checkout)
    return [name for name in listing.split("\0") if name and (checkout / name).is_file()]


def copy_changed(checkout: Path, tree: Path) -> None:
    """Makes the tree's files those of the checkout; what is the same is not touched."""
    names = files_of(checkout)
    for name in names:
        source, target = checkout / name, tree / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    wanted = set(names)
    for folder in ("src", "traffic", "tests", "tools", "bench", "simulate", "impairments"):
        for path in [path for path in (tree / folder).rglob("*") if path.is_file()]:
            if str(path.relative_to(tree)) not in wanted and path.suffix != ".pyc":
                path.unlink()
    if not (tree / ".venv").exists():
        (tree / ".venv").symlink_to(checkout / ".venv")


def whole_tree(checkout: Path, place: Path) -> Tree:
    """The unbroken copy; what is needed of it is still to be built."""
    tree = Tree(place / "whole")
    tree.path.mkdir(parents=True, exist_ok=True)
    copy_changed(checkout, tree.path)
    if not (tree.build / "build.ninja").exists():
        run(["meson", "setup", "build", *OPTIONS], tree.path)
    run(["ninja", "-C", "build", "build.ninja"], tree.path)  # where a meson.build has changed
    return tree


def worker_tree(whole: Tree, number: int) -> Tree:
    """A copy with its build: paths in a build folder are relative, so nothing is built again."""
    tree = Tree(whole.path.parent / f"worker-{number}")
    shutil.rmtree(tree.path, ignore_errors=True)
    # Times of files are kept, so that ninja has nothing to do.
    shutil.copytree(whole.path, tree.path, symlinks=True)
    return tree


def rooms_of(inputs: str) -> frozenset[str]:
    rooms = set()
    for line in inputs.splitlines():
        parts = Path(line).parts
        if parts[:2] == ("..", "src") and len(parts) > 3:
            rooms.add(parts[2])
        elif len(parts) > 2 and parts[0] == ".." and parts[1] in TOPS:
            rooms.add(parts[1])
    return frozenset(rooms)


def folder_of(inputs: str) -> str:
    """Where the test itself stands."""
    found = re.search(r"^\.\./tests/unit/([\w/]+)/test_\w+\.c$", inputs, re.MULTILINE)
    return found.group(1) if found else ""


def included_rooms(text: str) -> set[str]:
    """Of which a source includes headers: they hold code, too."""
    return set(re.findall(r'^#include "(\w+)/', text, re.MULTILINE))


def tests_of(tree: Tree) -> list[Test]:
    """All tests, which need not be built for that."""
    listed = json.loads(run(["meson", "introspect", "build", "--tests"], tree.path))
    tests = []
    for entry in listed:
        program = str(Path(entry["cmd"][0]).relative_to(tree.build))
        inputs = run(["ninja", "-C", "build", "-t", "inputs", program], tree.path)
        rooms = set(rooms_of(inputs))
        for line in inputs.splitlines():
            if line.startswith("../tests/") and line.endswith(".c"):
                rooms |= included_rooms((tree.build / line).read_text(encoding="utf-8"))
        tests.append(
            Test(
                entry["name"],
                program,
                tuple(entry["cmd"][1:]),
                frozenset(rooms),
                folder_of(inputs),
                directory=entry["workdir"],
                environment=entry["env"],
            )
        )
    return tests


def belongs(test: Test, room: str) -> bool:
    """Whether it is a test of the room. All tests hold src/wire, and those of the traffic program
    hold all rooms, but none of these says what the room has to do."""
    if room in FOLDERS:
        return any(Path(test.folder).is_relative_to(folder) for folder in FOLDERS[room])
    if room == "wire":
        return test.rooms == {"wire"}
    return room in test.rooms and not test.rooms & set(TOPS)


def outside_test(room: str) -> Test:
    """All of it as one test."""
    return Test(
        "end to end",
        "src/vcmtsd",
        OUTSIDE[room],
        command=(".venv/bin/python", "-m", "pytest", "-x", "-p", "no:cacheprovider"),
        environment={"VCMTS_BUILD": "build"},
    )


def environment(checkout: Path) -> dict[str, str]:
    captures = checkout.parent / "shared" / "captures"
    found = {"VCMTS_CAPTURES": str(captures)} if captures.is_dir() else {}
    return {**found, **os.environ}
