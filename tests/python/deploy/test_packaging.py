# SPDX-License-Identifier: BSD-3-Clause
"""debian/: what has to agree with the rest of the project; and what programs export."""

import re
import subprocess
import tomllib

import pytest

from vcmts.paths import CHECKOUT, MistakeError, program

DEBIAN = CHECKOUT / "debian"


def test_the_version_is_the_projects() -> None:
    project = (CHECKOUT / "meson.build").read_text(encoding="utf-8")
    version = re.search(r"^  version: '(.+)',$", project, re.M)
    changelog = re.match(r"openvcmts \((.+)\) ", (DEBIAN / "changelog").read_text(encoding="utf-8"))
    assert version and changelog and version[1] == changelog[1]


def paragraphs(text: str) -> list[dict[str, str]]:
    """Of a file of fields."""
    return [
        {
            field[1].lower(): " ".join(field[2].split())
            for field in re.finditer(r"^([\w-]+):((?:.*\n)(?:[ \t].*\n?)*)", part + "\n", re.M)
        }
        for part in re.split(r"\n\n+", text.strip())
    ]


def test_copyright_is_what_reuse_has() -> None:
    """Files of others: who holds the copyright, and the licence."""
    told = paragraphs((DEBIAN / "copyright").read_text(encoding="utf-8"))
    by_files = {part["files"]: part for part in told if "files" in part}
    reuse = tomllib.loads((CHECKOUT / "REUSE.toml").read_text(encoding="utf-8"))
    others = [table for table in reuse["annotations"] if table["precedence"] == "override"]
    assert others
    for table in others:
        paths = table["path"] if isinstance(table["path"], list) else [table["path"]]
        part = by_files[" ".join(paths)]
        assert part["copyright"] == table["SPDX-FileCopyrightText"]
        assert part["license"] == table["SPDX-License-Identifier"].replace(" OR ", " or ")
    assert by_files["*"]["license"] == "BSD-3-Clause"
    texts = {
        part["license"].split()[0] for part in told if "files" not in part and "license" in part
    }
    assert texts == {path.stem for path in (CHECKOUT / "LICENSES").iterdir()}


def test_everything_that_is_installed_is_in_a_package() -> None:
    """Helpers and the traffic program come with the package that the tool names for them."""
    traffic = (DEBIAN / "vcmts-traffic.install").read_text(encoding="utf-8").split()
    assert {"usr/bin/vcmts-traffic", "usr/libexec/vcmts"} <= {*traffic}
    names = {part.get("package") for part in paragraphs((DEBIAN / "control").read_text())}
    assert names == {None, "vcmts", "vcmts-traffic", "vcmts-wireshark"}


@pytest.mark.parametrize("name", ["vcmtsd", "vcmts-traffic"])
def test_libnuma_asks_the_program(name: str) -> None:
    """numa_available() of src/platform/platform.c is in libnuma's place for DPDK, which finds it
    by the program's dynamic symbols alone."""
    try:
        path = program(name)
    except MistakeError as error:
        pytest.skip(str(error))
    symbols = subprocess.run(
        ["nm", "--dynamic", "--defined-only", path], check=True, capture_output=True, text=True
    ).stdout
    assert re.search(r"^[0-9a-f]+ T numa_available$", symbols, re.M)
