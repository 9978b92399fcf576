# SPDX-License-Identifier: BSD-3-Clause
"""The checks of our own: each must find what it is there for, and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from python.devtools.own_checks import run, write
from vcmts.paths import CHECKOUT


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
        "devtools/pgo": log,
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
        if key not in ("BUILD", "MAKEFLAGS", "MARCH", "PGO", "PGO_BUILD", "VCMTS_BUILD", "WERROR")
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


@pytest.mark.parametrize("goal", [["run"], ["bench", "PGO=no"], ["docs"]])
def test_make_uses_the_build_that_it_made(goal: list[str], workshop: Path) -> None:
    calls = make(workshop, *goal, "BUILD=other")
    assert len(calls) >= 2 and calls[0].startswith("meson setup other ")
    assert all(call.endswith(" VCMTS_BUILD=other") for call in calls[1:])


def test_make_bench_measures_what_was_made_with_a_profile(workshop: Path) -> None:
    calls = make(workshop, "bench", "MARCH=x86-64-v2", "PGO_BUILD=other")
    assert calls[0].startswith("pgo other -Dmarch=x86-64-v2 ")
    assert calls[1:] == ["vcmts bench all VCMTS_BUILD=other"]


def test_make_clean(workshop: Path) -> None:
    make(workshop, "build")
    make(workshop, "build", "BUILD=other")
    make(workshop, "clean", "BUILD=other")
    assert (workshop / "build").exists() and not (workshop / "other").exists()
    for folder in ("BUILD=bin", "PGO_BUILD=bin"):
        make(workshop, "clean", folder, status=2)
    assert (workshop / "bin").exists()


@pytest.fixture
def trainer(tmp_path: Path) -> Path:
    """devtools/pgo among sources, and tools that only write down how they were called."""
    (tmp_path / "devtools").mkdir()
    shutil.copy(CHECKOUT / "devtools" / "pgo", tmp_path / "devtools")
    for room in ("bench", "src", "subprojects", "traffic"):
        write(tmp_path, f"{room}/source.c", "")
    for name in ("meson.build", "meson_options.txt"):
        write(tmp_path, name, "")
    log = (
        '#!/bin/sh\n[ "$BROKEN" != ${0##*/} ] || { echo broken; exit 1; }\necho ${0##*/} $* >>log\n'
    )
    tools = {
        "vcmts": "",
        "bin/meson": '[ $1 != setup ] || touch "$2/build.ninja"\n',
        "bin/ninja": "touch out/a.gcda\n",
        "bin/pkg-config": "",
        "out/bench/vcmts-bench": "! [ -e out/a.gcda ] || echo stale counts >>log\n",
        "out/bench/vcmts-bench-scheduler": "",
    }
    for name, script in tools.items():
        write(tmp_path, name, log + script)
        (tmp_path / name).chmod(0o755)
    write(tmp_path, "bin/cc", "#!/bin/sh\necho $COMPILER, Free Software Foundation\n")
    (tmp_path / "bin" / "cc").chmod(0o755)
    return tmp_path


def train(folder: Path, *options: str, status: int = 0, **environment: str) -> list[str]:
    """The programs that this devtools/pgo called, and what it said."""
    (folder / "log").write_text("")
    environment["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
    ended = subprocess.run(
        ["devtools/pgo", "out", *options],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == status, ended.stderr
    calls = [line for line in (folder / "log").read_text().splitlines() if "pkg-config" not in line]
    return [call.split()[0] for call in calls] + ended.stderr.splitlines() * (status != 0)


def test_pgo_compiles_runs_and_compiles(trainer: Path) -> None:
    benchmarks = ["vcmts", "vcmts-bench"] * 2 + ["vcmts-bench", "vcmts-bench-scheduler"]
    whole = ["meson", "ninja", *benchmarks, "meson", "ninja"]
    assert train(trainer, "-Dmarch=native") == whole
    setup, *_, use = (line for line in (trainer / "log").read_text().splitlines() if "-D" in line)
    assert setup.startswith("meson setup ") and "-Dmarch=native" in setup and "=generate" in setup
    assert use.startswith("meson configure ") and use.endswith("-Db_pgo=use")


def test_pgo_does_nothing_twice(trainer: Path) -> None:
    assert train(trainer)
    assert train(trainer) == []
    assert train(trainer, "-Dmarch=native")
    assert train(trainer, "-Dmarch=native") == []
    write(trainer, "src/source.c", "changed")
    assert train(trainer, "-Dmarch=native")
    assert train(trainer, "-Dmarch=native", COMPILER="gcc 14")


@pytest.mark.parametrize("program", ["meson", "ninja", "vcmts", "vcmts-bench"])
def test_pgo_that_fails_says_why_and_starts_anew(program: str, trainer: Path) -> None:
    said = train(trainer, status=1, BROKEN=program)
    assert said[-2] == "broken" and said[-1].startswith("pgo: failed: ")
    assert train(trainer)
    assert train(trainer) == []


def test_pgo_needs_gcc(trainer: Path) -> None:
    write(trainer, "bin/clang", "#!/bin/sh\necho clang version 14\n")
    (trainer / "bin" / "clang").chmod(0o755)
    (said,) = train(trainer, status=1, CC="clang")
    assert "clang is another compiler" in said


INSIDE = """\
import subprocess, sys
from pathlib import Path

def test_first(tmp_path: Path) -> None:
    for expected in (0, 1):
        name = "good" if expected == 0 else "bad"
        Path(f"test_{name}.py").write_text(f"def test_it(tmp_path): assert {expected} == 0")
        command = [sys.executable, "-m", "pytest", *sys.argv[1:-1], f"test_{name}.py"]
        assert subprocess.run(command).returncode == expected
        assert tmp_path.is_dir()
"""


def test_sessions_leave_each_other_their_folders(tmp_path: Path) -> None:
    """Another run of pytest that ends meanwhile, well or not; and what is left of a good one."""
    (tmp_path / "test_inside.py").write_text(INSIDE)
    (tmp_path / "tmp").mkdir()
    options: tuple[str, ...] = ("-c", str(CHECKOUT / "pyproject.toml"), "--rootdir", str(tmp_path))
    options = (*options, "-p", "no:cacheprovider", "--import-mode=importlib")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test_inside.py"],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    left = [path.name for path in (tmp_path / "tmp").rglob("*") if path.is_file()]
    assert set(left) <= {".lock"}


@pytest.mark.parametrize(
    ("include", "status", "said"),
    [("", 1, "1 files, 1 do not"), ('#include "limits.h"', 0, "1 files, 0 do not")],
)
def test_what_a_precompiled_header_hides(
    include: str, status: int, said: str, tmp_path: Path
) -> None:
    """The command has all that meson gives it; a file of two libraries is read once."""
    write(tmp_path, "dpdk_headers.h", "#include <assert.h>\n")
    write(tmp_path, "a.c", include + "\nint f(void) { assert(1); return 0; }\n")
    if include:
        write(tmp_path, "limits.h", "#include <assert.h>\n")
    words = "ccache cc -Ilib.a.p -I. -fpch-preprocess -include dpdk_headers.h -Winvalid-pch -MD"
    words += " -MQ a.o -MF a.o.d -o a.o -c a.c"
    entry = {"command": words, "file": "a.c", "directory": "."}
    write(tmp_path, "compile_commands.json", json.dumps([entry, entry]))
    done = subprocess.run(
        [sys.executable, CHECKOUT / "devtools" / "check-includes", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, said in done.stdout) == (status, True), done.stderr
    assert not list(tmp_path.glob("a.o*"))
    assert status == 0 or "assert" in done.stderr
