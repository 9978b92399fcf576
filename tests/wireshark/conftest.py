# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures: a folder in which tshark runs with the dissector, and the path of a capture."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from wireshark.tshark import CHECKOUT, Tshark, data_without_names


@pytest.fixture(scope="session")
def tshark() -> Iterator[Tshark]:
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    with tempfile.TemporaryDirectory(prefix="psp-") as name:
        folder = Path(name)
        shutil.copytree(CHECKOUT / "wireshark", folder / "wireshark")
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        runner = Tshark(folder, data_without_names(folder / "data"))
        runner.home.mkdir()
        if os.geteuid() == 0:
            shutil.chown(runner.home, "nobody")
        yield runner


@pytest.fixture
def pcap(tshark: Tshark, request: pytest.FixtureRequest) -> Path:
    """The capture that a test writes, in a folder that tshark can read."""
    return tshark.folder / f"{request.node.name}.pcap"
