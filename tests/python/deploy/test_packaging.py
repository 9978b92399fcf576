# SPDX-License-Identifier: BSD-3-Clause
"""Tests debian/: version, licences and files; and that programs export numa_available()."""

import re
import subprocess
import tomllib

import pytest

from vcmts.paths import CHECKOUT, MistakeError, program

DEBIAN = CHECKOUT / "debian"


def test_version_is_that_of_the_project() -> None:
    project = (CHECKOUT / "meson.build").read_text(encoding="utf-8")
    version = re.search(r"^  version: '(.+)',$", project, re.M)
    changelog = re.match(r"openvcmts \((.+)\) ", (DEBIAN / "changelog").read_text(encoding="utf-8"))
    assert version and changelog and version[1] == changelog[1]


def paragraphs(text: str) -> list[dict[str, str]]:
    """Parses a Debian control file into its paragraphs."""
    return [
        {
            field[1].lower(): " ".join(field[2].split())
            for field in re.finditer(r"^([\w-]+):((?:.*\n)(?:[ \t].*\n?)*)", part + "\n", re.M)
        }
        for part in re.split(r"\n\n+", text.strip())
    ]


def test_copyright_agrees_with_reuse() -> None:
    """Compares holders and licences of third-party files, which have precedence "override" in
    REUSE.toml, and the licence texts with LICENSES/."""
    parts = paragraphs((DEBIAN / "copyright").read_text(encoding="utf-8"))
    by_files = {part["files"]: part for part in parts if "files" in part}
    reuse = tomllib.loads((CHECKOUT / "REUSE.toml").read_text(encoding="utf-8"))
    third_party = [table for table in reuse["annotations"] if table["precedence"] == "override"]
    assert third_party
    for table in third_party:
        paths = table["path"] if isinstance(table["path"], list) else [table["path"]]
        part = by_files[" ".join(paths)]
        assert part["copyright"] == table["SPDX-FileCopyrightText"]
        assert part["license"] == table["SPDX-License-Identifier"].replace(" OR ", " or ")
    assert by_files["*"]["license"] == "BSD-3-Clause"
    texts = {
        part["license"].split()[0] for part in parts if "files" not in part and "license" in part
    }
    assert texts == {path.stem for path in (CHECKOUT / "LICENSES").iterdir()}


def test_traffic_package_has_program_and_helpers() -> None:
    """paths.program() tells users of a missing helper to install vcmts-traffic, so the package must
    have all of them."""
    traffic = (DEBIAN / "vcmts-traffic.install").read_text(encoding="utf-8").split()
    assert {"usr/bin/vcmts-traffic", "usr/libexec/vcmts"} <= {*traffic}


def test_binary_packages() -> None:
    # None: the source paragraph, which has no Package field.
    names = {part.get("package") for part in paragraphs((DEBIAN / "control").read_text())}
    assert names == {None, "vcmts", "vcmts-traffic", "vcmts-wireshark"}


@pytest.mark.parametrize("name", ["vcmtsd", "vcmts-traffic"])
def test_programs_export_numa_available(name: str) -> None:
    """EAL must call the one of src/platform/platform.c: libnuma before 2.0.17 reports NUMA although
    seccomp refuses its system calls. Skipped if the program is not built."""
    try:
        path = program(name)
    except MistakeError as error:
        pytest.skip(str(error))
    symbols = subprocess.run(
        ["nm", "--dynamic", "--defined-only", path], check=True, capture_output=True, text=True
    ).stdout
    assert re.search(r"^[0-9a-f]+ T numa_available$", symbols, re.M)
