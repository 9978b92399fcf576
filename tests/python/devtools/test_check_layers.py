# SPDX-License-Identifier: BSD-3-Clause
"""Tests devtools/check-layers: allowed includes, call cycles, and the size of folders."""

from pathlib import Path

import pytest

from python.devtools.own_checks import run, write


@pytest.mark.parametrize(
    ("file", "include", "allowed"),
    [
        ("src/wire/a.c", '"wire/b.h"', True),
        ("src/wire/a.c", "<stdint.h>", True),
        ("src/wire/a.c", "<rte_mbuf.h>", False),
        ("src/model/check/a.h", '"wire/b.h"', True),
        ("src/scheduler/a.c", "<rte_ring.h>", False),
        ("src/pipeline/a.c", "<rte_mbuf.h>", True),
        ("src/pipeline/a.c", '"downstream/b.h"', False),
        ("src/platform/a.c", '"downstream/b.h"', False),
        ("src/downstream/a.c", '"upstream/b.h"', False),
        ("src/downstream/a.c", '"../upstream/b.h"', False),
        ("src/main.c", '"commands/b.h"', True),
        ("src/main.c", '"downstream/b.h"', False),
        ("src/server/a.c", '"telemetry/b.h"', False),
        ("src/telemetry/a.c", '"commands/replay/b.h"', False),
        ("traffic/a.c", '"wire/b.h"', True),
        ("src/upstream/a.c", '"upstream/state/b.h"', True),
        ("src/upstream/state/a.c", '"upstream/b.h"', False),
        ("src/upstream/a.c", '"upstream/upstream.h"', False),
        ("src/upstream/setup.c", '"upstream/upstream.h"', True),
        ("src/upstream/change/a.c", '"upstream/upstream.h"', True),
        ("src/model/group/a.c", '"model/b.h"', False),
        ("traffic/modems/a.c", '"rphy/b.h"', True),
        ("traffic/core/a.c", '"captures/b.h"', False),
        ("traffic/a.c", '"trials/b.h"', True),
        ("src/server/a.c", '"groups/b.h"', False),
        ("traffic/modems/a.c", '"capture/b.h"', True),
        ("traffic/a.c", '"downstream/b.h"', False),
    ],
)
def test_include_is_checked(file: str, include: str, allowed: bool, tmp_path: Path) -> None:
    write(tmp_path, file, f"/* head */\n#include {include}\n")
    done = run("check-layers", tmp_path)
    assert done.returncode == (0 if allowed else 1), done.stdout + done.stderr
    assert (done.stdout == "") if allowed else done.stdout.startswith(f"{file}:2: ")


def test_error_lists_allowed_folders(tmp_path: Path) -> None:
    write(tmp_path, "traffic/modems/a.c", '#include "server/b.h"\n')
    message = run("check-layers", tmp_path).stdout
    folders = "capture, crypto, model, model/group, pipeline, platform"
    traffic = "traffic/core, traffic/proof, traffic/random, traffic/rphy"
    assert message.endswith(f"it may include {folders}, {traffic}, wire\n")


def test_bare_name_is_in_the_same_or_top_folder(tmp_path: Path) -> None:
    write(tmp_path, "traffic/run.h", "")
    write(tmp_path, "traffic/trials/a.c", '#include "run.h"\n')
    assert run("check-layers", tmp_path).stdout.startswith("traffic/trials/a.c:1: ")
    write(tmp_path, "traffic/trials/run.h", "")
    assert run("check-layers", tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("call", "is_cycle"),
    [
        ("first_begin(); /* calls */", True),
        ("static void *all[] = {first_begin};", True),
        ("struct first_begin x; y->first_begin = z.first_begin;", False),
        ("/* first_begin() */", False),
        ('puts("first_begin()");', False),
    ],
)
def test_cycles_of_calls_are_found(call: str, is_cycle: bool, tmp_path: Path) -> None:
    write(tmp_path, "src/wire/a.c", "int first_begin(int a,\n\t\tint b) {\n\tmiddle();\n}\n")
    write(tmp_path, "src/wire/b.c", "void middle(void) {\n\tlast();\n}\n")
    write(tmp_path, "src/model/c.c", "void last(void) {\n\t" + call + "\n}\n")
    done = run("check-layers", tmp_path)
    message = "files call each other in a cycle: src/model/c.c, src/wire/a.c, src/wire/b.c\n"
    assert (done.returncode, done.stdout) == ((1, message) if is_cycle else (0, ""))


def test_cycles_through_functions_with_callbacks_are_found(tmp_path: Path) -> None:
    write(tmp_path, "src/wire/a.c", "void walk(int (*each)(void *), void *to) {\n\tmiddle();\n}\n")
    write(tmp_path, "src/wire/b.c", "void middle(void) {\n\twalk(0, 0);\n}\n")
    done = run("check-layers", tmp_path)
    assert done.stdout == "files call each other in a cycle: src/wire/a.c, src/wire/b.c\n"


def test_folders_must_be_known_and_not_full(tmp_path: Path) -> None:
    write(tmp_path, "src/attic/a.c", "")
    for number in range(29):
        write(tmp_path, f"src/wire/a{number}.c", "")
        write(tmp_path, f"src/wire/a{number}.h", "")
    done = run("check-layers", tmp_path)
    assert done.returncode == 1
    assert "src/attic/a.c: src/attic is not a folder listed in check-layers\n" in done.stdout
    assert "src/wire: 29 names" in done.stdout
