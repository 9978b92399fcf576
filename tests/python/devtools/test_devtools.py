# SPDX-License-Identifier: BSD-3-Clause
"""Tests programs of devtools/, the Makefile, and temporary folders of pytest."""

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
    ("name", "text", "status", "message"),
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
def test_check_files_finds_long_files_and_home_paths(
    name: str, text: str, status: int, message: str, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    write(tmp_path, name, text)
    done = run("check-files", tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    assert message in done.stdout and bool(done.stdout) == bool(message)


def test_install_deps_names_its_sets(tmp_path: Path) -> None:
    done = subprocess.run(
        [CHECKOUT / "devtools" / "install-deps", "nonsense"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert all(name in done.stderr for name in ("build", "run", "test", "lint"))


def test_install_deps_without_apt_lists_packages(tmp_path: Path) -> None:
    for name in ("bash", "dirname", "flock", "python3"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    done = subprocess.run(
        [CHECKOUT / "devtools" / "install-deps", "build"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert all(name in done.stderr for name in ("meson", "libdpdk-dev", "libpcap-dev", "no apt"))


def test_fuzz_without_clang_fails(tmp_path: Path) -> None:
    """A run without fuzzing has not passed."""
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    done = subprocess.run(
        [CHECKOUT / "devtools" / "fuzz", "1"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "clang" in done.stderr


@pytest.fixture
def make_folder(tmp_path: Path) -> Path:
    """The Makefile with stubs of its tools, which log their calls."""
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
    shutil.copy(CHECKOUT / "devtools" / "compile", tmp_path / "devtools")
    return tmp_path


NINJA = """#!/bin/sh
echo "ninja: Entering directory \`build'"
for i in $(seq 40); do echo "[$i/40] Compiling C object $i"; done
echo "a.c:1:2: warning: unused"
exit $NINJA_STATUS_CODE
"""


@pytest.mark.parametrize("status", [0, 1])
def test_compiling_prints_ten_lines_and_warnings(status: int, make_folder: Path) -> None:
    (make_folder / "bin" / "ninja").write_text(NINJA)
    environment = os.environ | {
        "PATH": f"{make_folder / 'bin'}:{os.environ['PATH']}",
        "NINJA_STATUS_CODE": str(status),
    }
    command = [str(make_folder / "devtools" / "compile"), "build", "-Dmarch=native", "programs"]
    done = subprocess.run(
        command, cwd=make_folder, env=environment, capture_output=True, text=True, check=False
    )
    first, *lines, last = done.stdout.splitlines()
    assert (done.returncode, first, last) == (
        status,
        "configuring build/",
        "a.c:1:2: warning: unused",
    )
    assert lines == [f"compiling build/: {number} of 40" for number in range(4, 41, 4)]


def run_make(make_folder: Path, *arguments: str, status: int = 0) -> list[str]:
    """Returns the calls of tools that this make caused."""
    (make_folder / "log").write_text("")
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("BUILD", "MAKEFLAGS", "MARCH", "PGO", "PGO_BUILD", "VCMTS_BUILD", "WERROR")
    }
    environment["PATH"] = f"{make_folder / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(["make", *arguments], cwd=make_folder, env=environment, check=False)
    assert done.returncode == status
    return (make_folder / "log").read_text().splitlines()


def test_make_configures_changed_options(make_folder: Path) -> None:
    plain, strict = (f"-Dmarch=native -Dwerror={value}" for value in ("false", "true"))
    assert run_make(make_folder, "build") == [f"meson setup build {plain} VCMTS_BUILD=build"]
    assert run_make(make_folder, "build") == []
    strictly = [f"meson configure build {strict} VCMTS_BUILD=build"]
    assert run_make(make_folder, "build", "WERROR=true") == strictly
    assert run_make(make_folder, "build", "WERROR=true") == []
    (make_folder / "build" / "make-options").unlink()  # set up by hand
    assert run_make(make_folder, "build", "WERROR=true") == strictly


@pytest.mark.parametrize("goal", [["run"], ["bench", "PGO=no"], ["docs"]])
def test_make_uses_its_build_folder(goal: list[str], make_folder: Path) -> None:
    calls = run_make(make_folder, *goal, "BUILD=other")
    assert len(calls) >= 2 and calls[0].startswith("meson setup other ")
    assert all(call.endswith(" VCMTS_BUILD=other") for call in calls[1:])


def test_make_bench_builds_with_pgo(make_folder: Path) -> None:
    calls = run_make(make_folder, "bench", "MARCH=x86-64-v2", "PGO_BUILD=other")
    assert calls[0].startswith("pgo other -Dmarch=x86-64-v2 ")
    assert calls[1:] == ["vcmts bench all VCMTS_BUILD=other"]


def test_make_clean_removes_only_build_folders(make_folder: Path) -> None:
    run_make(make_folder, "build")
    run_make(make_folder, "build", "BUILD=other")
    run_make(make_folder, "clean", "BUILD=other")
    assert (make_folder / "build").exists() and not (make_folder / "other").exists()
    for folder in ("BUILD=bin", "PGO_BUILD=bin"):
        run_make(make_folder, "clean", folder, status=2)
    assert (make_folder / "bin").exists()


@pytest.fixture
def pgo_folder(tmp_path: Path) -> Path:
    """devtools/pgo with sources, and stubs of tools that log their calls."""
    (tmp_path / "devtools").mkdir()
    shutil.copy(CHECKOUT / "devtools" / "pgo", tmp_path / "devtools")
    for folder in ("bench", "src", "subprojects", "traffic"):
        write(tmp_path, f"{folder}/source.c", "")
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
        "out/bench/vcmts-bench-maps": "",
    }
    for name, script in tools.items():
        write(tmp_path, name, log + script)
        (tmp_path / name).chmod(0o755)
    write(tmp_path, "bin/cc", "#!/bin/sh\necho $COMPILER, Free Software Foundation\n")
    (tmp_path / "bin" / "cc").chmod(0o755)
    return tmp_path


def run_pgo(folder: Path, *options: str, status: int = 0, **environment: str) -> list[str]:
    """Returns the programs that devtools/pgo called, and its messages if it failed."""
    (folder / "log").write_text("")
    environment["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["devtools/pgo", "out", *options],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    calls = [line for line in (folder / "log").read_text().splitlines() if "pkg-config" not in line]
    return [call.split()[0] for call in calls] + done.stderr.splitlines() * (status != 0)


def test_pgo_builds_trains_and_builds(pgo_folder: Path) -> None:
    benchmarks = ["vcmts", "vcmts-bench"] * 2
    benchmarks += ["vcmts-bench", "vcmts-bench-scheduler", "vcmts-bench-maps"]
    whole = ["meson", "ninja", *benchmarks, "meson", "ninja"]
    assert run_pgo(pgo_folder, "-Dmarch=native") == whole
    setup, *_, use = (
        line for line in (pgo_folder / "log").read_text().splitlines() if "-D" in line
    )
    assert setup.startswith("meson setup ") and "-Dmarch=native" in setup and "=generate" in setup
    assert use.startswith("meson configure ") and use.endswith("-Db_pgo=use")


def test_pgo_runs_only_after_changes(pgo_folder: Path) -> None:
    assert run_pgo(pgo_folder)
    assert run_pgo(pgo_folder) == []
    assert run_pgo(pgo_folder, "-Dmarch=native")
    assert run_pgo(pgo_folder, "-Dmarch=native") == []
    write(pgo_folder, "src/source.c", "changed")
    assert run_pgo(pgo_folder, "-Dmarch=native")
    assert run_pgo(pgo_folder, "-Dmarch=native", COMPILER="gcc 14")


@pytest.mark.parametrize("program", ["meson", "ninja", "vcmts", "vcmts-bench"])
def test_failed_pgo_reports_and_restarts(program: str, pgo_folder: Path) -> None:
    lines = run_pgo(pgo_folder, status=1, BROKEN=program)
    assert lines[-2] == "broken" and lines[-1].startswith("pgo: failed: ")
    assert run_pgo(pgo_folder)
    assert run_pgo(pgo_folder) == []


def test_pgo_needs_gcc(pgo_folder: Path) -> None:
    write(pgo_folder, "bin/clang", "#!/bin/sh\necho clang version 14\n")
    (pgo_folder / "bin" / "clang").chmod(0o755)
    (line,) = run_pgo(pgo_folder, status=1, CC="clang")
    assert "clang is another compiler" in line


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


def test_pytest_keeps_folders_of_other_runs(tmp_path: Path) -> None:
    """Other runs of pytest end meanwhile. A successful run leaves only lock files."""
    (tmp_path / "test_inside.py").write_text(INSIDE)
    (tmp_path / "tmp").mkdir()
    options: tuple[str, ...] = ("-c", str(CHECKOUT / "pyproject.toml"), "--rootdir", str(tmp_path))
    options = (*options, "-p", "no:cacheprovider", "--import-mode=importlib")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test_inside.py"],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    left = [path.name for path in (tmp_path / "tmp").rglob("*") if path.is_file()]
    assert set(left) <= {".lock"}


@pytest.mark.parametrize(
    ("include", "status", "message"),
    [("", 1, "1 files, 1 do not"), ('#include "limits.h"', 0, "1 files, 0 do not")],
)
def test_check_includes_finds_headers_of_precompiled_header(
    include: str, status: int, message: str, tmp_path: Path
) -> None:
    """The command is one of meson. A file of two libraries is checked once."""
    write(tmp_path, "dpdk_headers.h", "#include <assert.h>\n")
    write(tmp_path, "a.c", include + "\nint f(void) { assert(1); return 0; }\n")
    if include:
        write(tmp_path, "limits.h", "#include <assert.h>\n")
    argv = "ccache cc -Ilib.a.p -I. -fpch-preprocess -include dpdk_headers.h -Winvalid-pch -MD"
    argv += " -MQ a.o -MF a.o.d -o a.o -c a.c"
    entry = {"command": argv, "file": "a.c", "directory": "."}
    write(tmp_path, "compile_commands.json", json.dumps([entry, entry]))
    done = subprocess.run(
        [sys.executable, CHECKOUT / "devtools" / "check-includes", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, message in done.stdout) == (status, True), done.stderr
    assert not list(tmp_path.glob("a.o*"))
    assert status == 0 or "assert" in done.stderr
