# SPDX-License-Identifier: BSD-3-Clause
"""Does what docs/add-a-stage.md says, in a copy of the checkout."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT, build_directory

TEXT = (CHECKOUT / "docs" / "add-a-stage.md").read_text()
BLOCKS = re.findall(r"^```(\w+) (\S+)\n((?s:.*?))^```", TEXT, re.MULTILINE)
pytestmark = pytest.mark.compiles
NOT_COPIED = shutil.ignore_patterns("build*", ".venv", ".git", "bench-*", "__pycache__", ".*_cache")


def shell(commands: str, place: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "VCMTS_BUILD"}
    done = subprocess.run(
        ["sh", "-euc", commands],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def change(path: Path, difference: str) -> None:
    """Lines with + are put between the others, which stand in the file once."""
    lines = difference.splitlines(keepends=True)
    text = path.read_text()
    before = "".join(line[1:] for line in lines if line[0] == " ")
    assert all(line[0] in " +" for line in lines) and text.count(before) == 1, difference
    path.write_text(text.replace(before, "".join(line[1:] for line in lines)))


def do_what_the_page_says(place: Path) -> set[str]:
    """Returns the files that it touches."""
    touched = set()
    for language, name, text in BLOCKS:
        if language == "c":
            (place / name).write_text(text)
        elif language == "diff":
            change(place / name, text)
        else:
            continue
        touched.add(name)
    return touched


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout, with the stage. Of its programs only vcmtsd is compiled again, and in haste."""
    folder = tmp_path_factory.mktemp("stage") / "checkout"
    shutil.copytree(CHECKOUT, folder, ignore=NOT_COPIED, symlinks=True)
    (folder / ".venv").symlink_to(CHECKOUT / ".venv")
    touched = do_what_the_page_says(folder)
    assert len(touched) == 5, "that is what the page promises"
    shell("meson setup build -Doptimization=0 -Ddebug=false -Dtests=disabled", folder)
    shell("ninja -C build src/vcmtsd", folder)
    shutil.rmtree(folder / "build" / "traffic", ignore_errors=True)
    (folder / "build" / "traffic").symlink_to((build_directory() / "traffic").resolve())
    return folder


@pytest.mark.timeout(1800)
def test_packets_are_counted(place: Path) -> None:
    [commands] = [text for language, name, text in BLOCKS if (language, name) == ("sh", "after")]
    said = shell(commands.replace("make build\n", ""), place)
    down = json.loads((place / "stats.json").read_text())["downstream"]
    small, large = down["drops"]["small"], down["counters"]["large"]
    assert small > 0 and down["received"] == small + large and large == down["transmitted"]
    assert abs(small * 4 - down["received"]) <= 4
    assert re.search(rf"dropped small +{small} +shorter than 100 bytes", said)
    assert f'"small": {small}' in said and f'"large": {large}' in said


def test_pages_tell_of_it(place: Path) -> None:
    assert "docs/pipeline.svg: written" in shell("devtools/docs --into pages", place)
    counters = (place / "pages" / "counters.md").read_text()
    assert "| `small` | shorter than 100 bytes |" in counters
    assert "| `large` | frames of 100 bytes and more |" in counters
    assert "large" in (place / "docs" / "pipeline.svg").read_text()
