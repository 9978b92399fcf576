# SPDX-License-Identifier: BSD-3-Clause
"""Copies of the checkout in build-mutants/, each with a build folder. The checkout stays unchanged.

The copy `whole` never has mutants: tests are measured in it, and its programs are compared with
those of mutants.
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
# Folders beside src. They are no areas. A test with their code contains several areas of src and
# belongs to none, except by TEST_FOLDERS.
TOPS = ("traffic", "bench")
# Areas whose tests are those in folders of tests/unit, not all tests with their code: areas that
# are subfolders (PATHS in choose.py), which Test.areas does not have, and areas that many test
# programs contain.
TEST_FOLDERS = {
    "log": ("platform/log",),
    "scheduler": ("scheduler",),
    "server": ("server", "control/methods"),
    "metrics": ("telemetry/metrics", "control/methods"),
    "capture": ("capture/live",),
    "systemd": ("commands/systemd",),
    "control": ("control",),
    "methods": ("control/methods",),
}
# The replays; an expression for -k must follow.
REPLAYS = ("tests/e2e", "-m", "replay", "-k")
# Arguments of pytest that select an area's end-to-end tests. Other areas have none.
END_TO_END_TESTS = {
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
    """A unit test of meson, or with `command` the end-to-end tests of an area."""

    name: str
    program: str  # path in the build folder: the test, or the program that `command` starts
    arguments: tuple[str, ...] = ()
    areas: frozenset[str] = frozenset()  # folders directly below src, and TOPS, whose code it has
    folder: str = ""  # of its source, below tests/unit
    command: tuple[str, ...] = ()  # runs in the tree instead of the program
    directory: str | None = None  # working directory without `command`; None: the build folder
    environment: dict[str, str] = field(default_factory=dict, compare=False)

    def command_line(self, tree: "Tree") -> list[str]:
        return [*(self.command or (str(tree.build / self.program),)), *self.arguments]

    def working_directory(self, tree: "Tree") -> Path:
        return tree.path if self.command else Path(self.directory or tree.build)


def run(command: list[str], directory: Path) -> str:
    """Runs a command and returns its output. Raises MistakeError if it fails."""
    done = subprocess.run(
        command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise MistakeError(f"{' '.join(command[:4])} failed:\n{done.stdout[-4000:]}")
    return done.stdout


@dataclass(frozen=True)
class Tree:
    """A copy of the checkout."""

    path: Path

    @property
    def build(self) -> Path:
        return self.path / "build"

    def ninja(self, targets: list[str], jobs: int = 1) -> bool:
        """Builds targets. Returns False if that fails."""
        done = subprocess.run(
            ["ninja", "-C", str(self.build), "-j", str(jobs), *targets],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return done.returncode == 0

    def write(self, file: str, text: bytes) -> None:
        """Replaces the contents of a file. `file`: path in the tree."""
        (self.path / file).write_bytes(text)


def files_of(checkout: Path) -> list[str]:
    """Files that git tracks or does not ignore."""
    listing = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], checkout)
    return [name for name in listing.split("\0") if name and (checkout / name).is_file()]


def copy_changed(checkout: Path, tree: Path) -> None:
    """Copies changed files to the tree and does not touch equal ones. Removes files that are not
    in the checkout from the folders of code and tests."""
    names = files_of(checkout)
    for name in names:
        source, target = checkout / name, tree / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    current = set(names)
    for folder in ("src", "traffic", "tests", "tools", "bench"):
        for path in [path for path in (tree / folder).rglob("*") if path.is_file()]:
            if str(path.relative_to(tree)) not in current and path.suffix != ".pyc":
                path.unlink()
    if not (tree / ".venv").exists():
        (tree / ".venv").symlink_to(checkout / ".venv")


def whole_tree(checkout: Path, copies: Path) -> Tree:
    """Updates the copy without mutants. Configures it, but builds nothing."""
    tree = Tree(copies / "whole")
    tree.path.mkdir(parents=True, exist_ok=True)
    copy_changed(checkout, tree.path)
    if not (tree.build / "build.ninja").exists():
        run(["meson", "setup", "build", *OPTIONS], tree.path)
    run(
        ["ninja", "-C", "build", "build.ninja"], tree.path
    )  # configures again if a meson.build changed
    return tree


def worker_tree(whole: Tree, number: int) -> Tree:
    """Copies `whole` with its build. Paths of sources are relative: ninja compiles those of the
    copy. Other paths, such as those of test data, are absolute: they are those of `whole`."""
    tree = Tree(whole.path.parent / f"worker-{number}")
    shutil.rmtree(tree.path, ignore_errors=True)
    # copytree() keeps file times, so that ninja has nothing to build.
    shutil.copytree(whole.path, tree.path, symlinks=True)
    return tree


def areas_of(inputs: str) -> frozenset[str]:
    """Folders of src and TOPS with sources of a program. `inputs`: output of ninja -t inputs."""
    areas = set()
    for line in inputs.splitlines():
        parts = Path(line).parts
        if parts[:2] == ("..", "src") and len(parts) > 3:
            areas.add(parts[2])
        elif len(parts) > 2 and parts[0] == ".." and parts[1] in TOPS:
            areas.add(parts[1])
    return frozenset(areas)


def folder_of(inputs: str) -> str:
    """The folder of the test's source in tests/unit."""
    found = re.search(r"^\.\./tests/unit/([\w/]+)/test_\w+\.c$", inputs, re.MULTILINE)
    return found.group(1) if found else ""


def included_areas(text: str) -> set[str]:
    """Folders whose headers a source includes, as headers contain code too."""
    return set(re.findall(r'^#include "(\w+)/', text, re.MULTILINE))


def tests_of(tree: Tree) -> list[Test]:
    """All unit tests of the tree. They need not be built."""
    listed = json.loads(run(["meson", "introspect", "build", "--tests"], tree.path))
    tests = []
    for entry in listed:
        program = str(Path(entry["cmd"][0]).relative_to(tree.build))
        inputs = run(["ninja", "-C", "build", "-t", "inputs", program], tree.path)
        areas = set(areas_of(inputs))
        for line in inputs.splitlines():
            if line.startswith("../tests/") and line.endswith(".c"):
                areas |= included_areas((tree.build / line).read_text(encoding="utf-8"))
        tests.append(
            Test(
                entry["name"],
                program,
                tuple(entry["cmd"][1:]),
                frozenset(areas),
                folder_of(inputs),
                directory=entry["workdir"],
                environment=entry["env"],
            )
        )
    return tests


def belongs(test: Test, area: str) -> bool:
    """Whether the test is for the area. Most tests contain src/wire: only those with no other area
    are for it. Tests with code of TOPS are for areas of TEST_FOLDERS only."""
    if area in TEST_FOLDERS:
        return any(Path(test.folder).is_relative_to(folder) for folder in TEST_FOLDERS[area])
    if area == "wire":
        return test.areas == {"wire"}
    return area in test.areas and not test.areas & set(TOPS)


def end_to_end_test(area: str) -> Test:
    """All end-to-end tests of the area, which must be in END_TO_END_TESTS, as one test."""
    return Test(
        "end to end",
        "src/vcmtsd",
        END_TO_END_TESTS[area],
        command=(".venv/bin/python", "-m", "pytest", "-x", "-p", "no:cacheprovider"),
        environment={"VCMTS_BUILD": "build"},
    )


def environment(checkout: Path) -> dict[str, str]:
    """This process's environment. VCMTS_CAPTURES defaults to ../shared/captures of the checkout,
    which a copy does not have beside it."""
    captures = checkout.parent / "shared" / "captures"
    found = {"VCMTS_CAPTURES": str(captures)} if captures.is_dir() else {}
    return {**found, **os.environ}
