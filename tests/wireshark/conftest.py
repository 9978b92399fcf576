# SPDX-License-Identifier: BSD-3-Clause
"""The stage on which tshark runs."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from wireshark.stage import CHECKOUT, Stage, lean_data


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    with tempfile.TemporaryDirectory(prefix="psp-") as name:
        folder = Path(name)
        shutil.copytree(CHECKOUT / "wireshark", folder / "wireshark")
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        made = Stage(folder, lean_data(folder / "data"))
        made.home.mkdir()
        if os.geteuid() == 0:
            shutil.chown(made.home, "nobody")
        yield made


@pytest.fixture
def pcap(stage: Stage, request: pytest.FixtureRequest) -> Path:
    """Where this test writes its capture: a place that tshark may read."""
    return stage.folder / f"{request.node.name}.pcap"
