# SPDX-License-Identifier: BSD-3-Clause
"""The programs on CPUs that QEMU emulates: what one lacks is told in a line, and one with no more
than x86-64-v2 is enough for a build that says so (`make cpu-test` makes one)."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.running import SMALL, Ended, ended, vcmtsd
from e2e.traffic import generate, spread
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, program
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import write_pcap

EMULATOR = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
OLD = "core2duo"  # SSSE3, and nothing behind it
NO_AES = "Nehalem"  # all of x86-64-v2, and no AES-NI
SMALLEST = "Westmere"  # that, and AES-NI
PROGRAMS = ("vcmtsd", "vcmts-traffic")

pytestmark = [
    pytest.mark.skipif(EMULATOR is None, reason="qemu-user is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="of x86-64"),
]


def on(cpu: str, name: str | Path, *arguments: str | Path) -> Ended:
    command = [str(EMULATOR), "-cpu", cpu, program(str(name)), *arguments]
    done = subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    return ended(done.returncode, done.stdout, done.stderr)


def for_v2() -> None:
    if "this build needs" in on(NO_AES, "vcmtsd", "--help").stderr:
        pytest.skip("compiled for more than x86-64-v2 (make cpu-test)")


def replayed(folder: Path, crypto: str) -> list[str | Path]:
    """The words of a replay of a small group, whose traffic is written down here."""
    config, captured = folder / "sg.yaml", folder / "in.pcap"
    config.write_text(SMALL.read_text() + crypto)
    write_pcap(captured, spread(generate(load_config(SMALL), 5, 150), 5))
    return ["replay", "--config", config, "--network-in", captured]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_cpu_lacks_is_told_in_a_line(name: str) -> None:
    told = on(OLD, name, "--help")
    assert told.status == 2
    assert told.stdout == ""
    line = rf"{name}: this build needs [^\n]*SSE4\.2[^\n]*, which this CPU does not have\n"
    assert re.fullmatch(line, told.stderr)


def test_v2_is_enough() -> None:
    for_v2()
    for name in PROGRAMS:
        assert on(NO_AES, name, "--help").status == 0
    assert on(NO_AES, "vcmtsd", "check", "--config", SMALL).status == 0


def test_a_library_without_its_instructions_is_told(tmp_path: Path) -> None:
    for_v2()
    told = on(NO_AES, *["vcmtsd", *replayed(tmp_path, ""), "--rphy-out", tmp_path / "out.pcap"])
    assert told.status == 2
    (line,) = told.messages
    assert line.startswith("crypto ipsec-mb: version ")
    assert "AES-NI, which this CPU does not have" in line


@pytest.mark.parametrize(
    ("cpu", "crypto"),
    [(SMALLEST, ""), (NO_AES, "crypto: {provider: cryptodev, device: crypto_openssl0}\n")],
    ids=["with AES-NI", "without"],
)
def test_bytes_are_the_same(cpu: str, crypto: str, tmp_path: Path) -> None:
    for_v2()
    words, out = replayed(tmp_path, crypto), [tmp_path / "here.pcap", tmp_path / "there.pcap"]
    assert vcmtsd(*words, "--rphy-out", out[0]).status == 0
    there = on(cpu, *["vcmtsd", *words, "--rphy-out", out[1]])
    assert there.status == 0, there.stderr
    assert out[0].read_bytes() == out[1].read_bytes()
    assert out[0].stat().st_size > 10_000
