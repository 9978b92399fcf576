# SPDX-License-Identifier: BSD-3-Clause
"""The version of the tool, and that of the programs that it starts."""

import os
import re
import subprocess
from functools import cache

from vcmts.jsons import Json
from vcmts.paths import CHECKOUT, MistakeError, build_facts, install_note, program
from vcmts.system import software
from vcmts.system.files import Files

# Environment variable: the line that this process has logged. Programs of the same build do not
# repeat it (src/crypto/versions.h).
LOGGED = "VCMTS_VERSION_LOGGED"
COMMIT_DIGITS = 12


def number() -> str:
    """The release, such as 0.1.0."""
    note = install_note()
    if note is not None:
        return str(note["version"])
    text = (CHECKOUT / "meson.build").read_text(encoding="utf-8")
    found = re.search(r"^  version: '([^']+)'", text, re.MULTILINE)
    assert found is not None, "meson.build names the version"
    return found[1]


@cache
def facts() -> Json:
    """The key `version` of JSON that the tool itself calculates (docs/results.md)."""
    built = build_facts() or software.revision(Files(), CHECKOUT)
    return {"version": number(), "commit": built["commit"], "dirty": built["dirty"]}


def commit_text() -> str:
    """The tool's commit as the programs print theirs."""
    own = facts()
    dirty = "-dirty" if own["dirty"] is True else ""
    known = re.fullmatch(r"[0-9a-f]{40,64}", own["commit"])
    return f"{own['commit'][:COMMIT_DIGITS]}{dirty}" if known else "unknown"


def of_program(name: str) -> dict[str, str]:
    """What `--version` of a program prints: by key, the first line as `version`. Raises
    MistakeError if the program is missing."""
    done = subprocess.run(
        [str(program(name)), "--version"], check=True, stdout=subprocess.PIPE, text=True
    )
    first, *others = done.stdout.splitlines()
    found = dict(line.split(": ", 1) for line in others)
    return {"version": first.removeprefix(f"{name} ")} | found


def show() -> None:
    """Prints the version of the tool and of vcmtsd, with its libraries and build."""
    own = commit_text()
    print(f"vcmts {number()}\ncommit: {own}")
    try:
        plane = of_program("vcmtsd")
    except MistakeError as mistake:
        print(f"vcmtsd: {mistake}")
        return
    release, commit = plane.pop("version"), plane.pop("commit")
    if (release, commit) != (number(), own):
        print(f"vcmtsd: {release}, commit {commit}")
    for key, value in plane.items():
        print(f"{key}: {value}")


def first_line() -> str:
    """The first line of a log, as vcmtsd writes it. Programs that this process starts do not repeat
    it. Raises MistakeError if vcmtsd is missing."""
    plane = of_program("vcmtsd")
    libraries = [
        f"{name} {plane[name].partition(' ')[0]}"
        for name in ("DPDK", "intel-ipsec-mb")
        if name in plane
    ]
    line = f"OpenVCMTS {plane['version']} (commit {plane['commit']}), {', '.join(libraries)}"
    os.environ[LOGGED] = line
    return line
