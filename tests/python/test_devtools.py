# SPDX-License-Identifier: BSD-3-Clause
"""The checks of our own: each must find what it is there for, and nothing else."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT


def run(tool: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CHECKOUT / "devtools" / tool], cwd=directory, capture_output=True, text=True, check=False
    )


def write(directory: Path, name: str, text: str) -> None:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("file", "include", "allowed"),
    [
        ("src/wire/a.c", '"wire/b.h"', True),
        ("src/wire/a.c", "<stdint.h>", True),
        ("src/wire/a.c", '"model/b.h"', False),
        ("src/wire/a.c", "<rte_mbuf.h>", False),
        ("src/model/a.h", '"wire/b.h"', True),
        ("src/model/a.h", '"pipeline/b.h"', False),
        ("src/scheduler/a.c", "<rte_ring.h>", False),
        ("src/scheduler/a.c", '"pipeline/b.h"', False),
        ("src/pipeline/a.c", "<rte_mbuf.h>", True),
        ("src/pipeline/a.c", '"downstream/b.h"', False),
        ("src/platform/a.c", '"downstream/b.h"', False),
        ("src/downstream/a.c", '"scheduler/b.h"', True),
        ("src/downstream/a.c", '"upstream/b.h"', False),
        ("src/upstream/a.c", '"downstream/b.h"', False),
        ("src/downstream/a.c", '"../upstream/b.h"', False),
        ("src/main.c", '"downstream/b.h"', True),
        ("traffic/a.c", '"wire/b.h"', True),
        ("traffic/a.c", '"downstream/b.h"', False),
        ("traffic/a.c", '"scheduler/b.h"', False),
    ],
)
def test_check_layers(file: str, include: str, allowed: bool, tmp_path: Path) -> None:
    write(tmp_path, file, f"/* head */\n#include {include}\n")
    ended = run("check-layers", tmp_path)
    assert ended.returncode == (0 if allowed else 1), ended.stdout + ended.stderr
    assert (ended.stdout == "") if allowed else ended.stdout.startswith(f"{file}:2: ")


@pytest.mark.parametrize(
    ("name", "text", "status", "said"),
    [
        ("a.c", "x\n" * 300, 0, ""),
        ("a.c", "x\n" * 301, 0, "warning"),
        ("a.py", "x\n" * 400, 0, "warning"),
        ("a.py", "x\n" * 401, 1, "error"),
        ("a.pcap", "x\n" * 401, 0, ""),
        ("a.md", "see /ho" + "me/someone/x\n", 1, "a.md:1: error"),
        ("a.md", "see $HO" + "ME/x and /usr/share/home/x\n", 0, ""),
        ("subprojects/a.c", "x\n" * 401, 0, ""),
    ],
)
def test_check_files(name: str, text: str, status: int, said: str, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    write(tmp_path, name, text)
    ended = run("check-files", tmp_path)
    assert ended.returncode == status, ended.stdout + ended.stderr
    assert said in ended.stdout and bool(ended.stdout) == bool(said)


def test_install_deps_names_its_sets(tmp_path: Path) -> None:
    ended = subprocess.run(
        [CHECKOUT / "devtools" / "install-deps", "nonsense"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert all(name in ended.stderr for name in ("build", "run", "test", "lint"))


def test_install_deps_without_apt(tmp_path: Path) -> None:
    for name in ("bash", "dirname", "flock", "python3"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    ended = subprocess.run(
        [CHECKOUT / "devtools" / "install-deps", "build"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert all(name in ended.stderr for name in ("meson", "libdpdk-dev", "libpcap-dev", "no apt"))


def test_fuzz_without_clang(tmp_path: Path) -> None:
    """Nothing was fuzzed, so it has not passed."""
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    ended = subprocess.run(
        [CHECKOUT / "devtools" / "fuzz", "1"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1 and ended.stdout == ""
    assert ended.stderr.count("\n") == 1 and "clang" in ended.stderr


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """The Makefile among tools that only write down how they were called."""
    shutil.copy(CHECKOUT / "Makefile", tmp_path)
    log = 'echo "$(basename "$0") $*" VCMTS_BUILD=$VCMTS_BUILD >>log\n'
    tools = {
        "vcmts": log,
        "devtools/install-deps": "",
        "devtools/docs": log,
        "bin/ninja": "",
        "bin/meson": log + "[ $1 != setup ] || { mkdir $2 $2/meson-info; touch $2/build.ninja; }\n",
    }
    for name, script in tools.items():
        write(tmp_path, name, "#!/bin/sh\n" + script)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def make(workshop: Path, *arguments: str, status: int = 0) -> list[str]:
    """The calls that this make led to."""
    (workshop / "log").write_text("")
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("BUILD", "MAKEFLAGS", "MARCH", "VCMTS_BUILD", "WERROR")
    }
    environment["PATH"] = f"{workshop / 'bin'}:{os.environ['PATH']}"
    ended = subprocess.run(["make", *arguments], cwd=workshop, env=environment, check=False)
    assert ended.returncode == status
    return (workshop / "log").read_text().splitlines()


def test_make_gives_changed_options_to_a_used_build(workshop: Path) -> None:
    plain, strict = (f"-Dmarch=native -Dwerror={value}" for value in ("false", "true"))
    assert make(workshop, "build") == [f"meson setup build {plain} VCMTS_BUILD=build"]
    assert make(workshop, "build") == []
    strictly = [f"meson configure build {strict} VCMTS_BUILD=build"]
    assert make(workshop, "build", "WERROR=true") == strictly
    assert make(workshop, "build", "WERROR=true") == []
    (workshop / "build" / "make-options").unlink()  # set up by hand
    assert make(workshop, "build", "WERROR=true") == strictly


@pytest.mark.parametrize("goal", ["run", "bench", "docs"])
def test_make_uses_the_build_that_it_made(goal: str, workshop: Path) -> None:
    calls = make(workshop, goal, "BUILD=other")
    assert len(calls) >= 2 and calls[0].startswith("meson setup other ")
    assert all(call.endswith(" VCMTS_BUILD=other") for call in calls[1:])


def test_make_clean(workshop: Path) -> None:
    make(workshop, "build")
    make(workshop, "build", "BUILD=other")
    make(workshop, "clean", "BUILD=other")
    assert (workshop / "build").exists() and not (workshop / "other").exists()
    make(workshop, "clean", "BUILD=bin", status=2)
    assert (workshop / "bin").exists()
