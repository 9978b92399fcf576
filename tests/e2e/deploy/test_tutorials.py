# SPDX-License-Identifier: BSD-3-Clause
"""Follows the tutorials that change code, in a copy of the checkout: adds their files and lines,
compiles, and runs their commands."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from patience import until
from vcmts.paths import CHECKOUT

pytestmark = [pytest.mark.compiles, pytest.mark.timeout(1800)]
PAGES = ("add-a-stage", "add-a-key", "drive-a-server")
BLOCK = re.compile(r"^```(\w+) (\S+)\n((?s:.*?))^```", re.MULTILINE)
NOT_COPIED = shutil.ignore_patterns("build*", ".venv", ".git", "bench-*", "__pycache__", ".*_cache")
TARGETS = "src/vcmtsd src/my-server traffic/vcmts-traffic"


def blocks(page: str, language: str) -> list[tuple[str, str]]:
    """Name and text of each named block of the language."""
    text = (CHECKOUT / "docs" / f"{page}.md").read_text()
    return [(name, body) for kind, name, body in BLOCK.findall(text) if kind == language]


def commands(page: str, name: str) -> str:
    [text] = [body for block, body in blocks(page, "sh") if block == name]
    return text.replace("make build\n", "")


def environment(folder: Path) -> dict[str, str]:
    """The environment of a tutorial's commands: its sockets are in the folder."""
    inherited = {key: value for key, value in os.environ.items() if key != "VCMTS_BUILD"}
    return inherited | {"RUNTIME_DIRECTORY": str(folder / "sockets")}


def shell(script: str, folder: Path) -> str:
    """Runs the script and returns its output."""
    done = subprocess.run(
        ["sh", "-euc", script],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@contextmanager
def serving(script: str, folder: Path) -> Iterator[Path]:
    """Runs the script beside the block, from when its server responds. Yields the file of its
    output; the script must succeed."""
    output = folder / "serving.txt"
    with (
        output.open("w") as file,
        subprocess.Popen(
            ["sh", "-euc", script],
            cwd=folder,
            env=environment(folder),
            stdout=file,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        until(
            lambda: process.poll() is not None or " proven, " in output.read_text(),
            "the first proven packets",
        )
        yield output
        assert process.wait() == 0, output.read_text()


def apply_diff(path: Path, difference: str) -> None:
    """Applies a block of ` `, `-` and `+` lines, whose old lines are in the file once."""
    lines = difference.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    text = path.read_text()
    assert all(line[0] in " -+" for line in lines) and text.count(old) == 1, difference
    path.write_text(text.replace(old, new))


def apply_page(page: str, folder: Path) -> None:
    for language in ("c", "python"):
        for name, text in blocks(page, language):
            (folder / name).write_text(text)
    for name, text in blocks(page, "diff"):
        apply_diff(folder / name, text)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with the changes of all pages, compiled without optimisation."""
    folder = tmp_path_factory.mktemp("tutorials") / "checkout"
    shutil.copytree(CHECKOUT, folder, ignore=NOT_COPIED, symlinks=True)
    (folder / ".venv").symlink_to(CHECKOUT / ".venv")
    (folder / "sockets").mkdir()
    for page in PAGES:
        apply_page(page, folder)
    shell("meson setup build -Doptimization=0 -Ddebug=false -Dtests=disabled", folder)
    shell(f"ninja -C build {TARGETS}", folder)
    return folder


def test_stage_drops_and_counts_frames(checkout: Path) -> None:
    output = shell(commands("add-a-stage", "after"), checkout)
    down = json.loads((checkout / "stats.json").read_text())["downstream"]
    small, large = down["drops"]["small"], down["counters"]["large"]
    assert small > 0 and down["received"] == small + large and large == down["transmitted"]
    assert abs(small * 4 - down["received"]) <= 4
    assert re.search(rf"dropped small +{small} +shorter than 100 bytes", output)
    assert f'"small": {small}' in output and f'"large": {large}' in output


def test_stage_and_key_are_in_the_reference(checkout: Path) -> None:
    assert "docs/pipeline.svg: written" in shell("devtools/docs --into pages", checkout)
    counters = (checkout / "pages" / "counters.md").read_text()
    assert "| `small` | shorter than 100 bytes |" in counters
    assert "| `large` | frames of 100 bytes and more |" in counters
    assert "large" in (checkout / "docs" / "pipeline.svg").read_text()
    assert "count_frames" in (checkout / "pages" / "configuration.md").read_text()


def test_key_counts_from_the_replayed_change_on(checkout: Path) -> None:
    output = shell(commands("add-a-key", "key"), checkout)
    counted, framed = (
        int(re.findall(rf'"{name}": (\d+)', output)[0]) for name in ("flow_frames", "framed")
    )
    assert 0 < counted < framed
    assert output.splitlines()[-1].strip() == str(counted)


def test_key_changes_while_every_packet_is_proven(checkout: Path) -> None:
    with serving(commands("add-a-key", "serving"), checkout) as served:
        output = shell(commands("add-a-key", "beside"), checkout)
    counts = [int(n) for n in re.findall(r"vcmts_downstream_flow_frames_total +(\d+)", output)]
    assert len(counts) == 2 and counts[0] == 0, output
    assert "1 modem changed" in output, output
    assert "\nPASS: " in served.read_text()


def test_controller_changes_a_server_in_service(checkout: Path) -> None:
    with serving(commands("drive-a-server", "serving"), checkout) as served:
        output = shell(commands("drive-a-server", "beside"), checkout)
    events = re.findall(r"^\d+ object (\w+ \w+)$", output, re.MULTILINE)
    wanted = ["modem added", "key installed", "key used", "key removed", "modem removed"]
    assert events == wanted, output
    assert "\nPASS: " in served.read_text()


def test_program_serves_by_the_library(checkout: Path) -> None:
    output = shell(commands("drive-a-server", "library"), checkout)
    received = int(re.findall(r"group 1: received (\d+)", output)[0])
    records = shell("tshark -r ip.pcap 2>/dev/null | wc -l", checkout)
    assert received == int(records) > 0
