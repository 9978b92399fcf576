# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs on CPUs that QEMU emulates. A missing instruction set is reported in one line.
A build for x86-64-v2 (`make cpu-test`) must run on a CPU without newer instructions."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.running import SMALL, Completed, check_completed, vcmtsd
from e2e.traffic import generate, with_times
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, program
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import write_pcap

EMULATOR = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
SSSE3_CPU = "core2duo"  # SSSE3, no SSE4
V2_CPU = "Nehalem"  # x86-64-v2 without AES-NI
V2_AES_CPU = "Westmere"  # x86-64-v2 and AES-NI
PROGRAMS = ("vcmtsd", "vcmts-traffic")

pytestmark = [
    pytest.mark.skipif(EMULATOR is None, reason="qemu-user is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="tests CPUs of x86-64"),
]


def emulate(cpu: str, name: str | Path, *arguments: str | Path) -> Completed:
    command = [str(EMULATOR), "-cpu", cpu, program(str(name)), *arguments]
    done = subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    return check_completed(done.returncode, done.stdout, done.stderr)


def skip_unless_v2_build() -> None:
    if "this build needs" in emulate(V2_CPU, "vcmtsd", "--help").stderr:
        pytest.skip("compiled for more than x86-64-v2 (make cpu-test)")


def replay(folder: Path, crypto: str) -> list[str | Path]:
    """Writes configuration and capture of a small group. Returns the arguments of a replay."""
    config, captured = folder / "sg.yaml", folder / "in.pcap"
    config.write_text(SMALL.read_text() + crypto)
    write_pcap(captured, with_times(generate(load_config(SMALL), 5, 150), 5))
    return ["replay", "--config", config, "--network-in", captured]


@pytest.mark.parametrize("name", PROGRAMS)
def test_missing_instructions_are_reported(name: str) -> None:
    done = emulate(SSSE3_CPU, name, "--help")
    assert done.status == 2
    assert done.stdout == ""
    line = rf"{name}: this build needs [^\n]*SSE4\.2[^\n]*, which this CPU does not have\n"
    assert re.fullmatch(line, done.stderr)


def test_v2_build_starts_on_v2_cpu() -> None:
    skip_unless_v2_build()
    for name in PROGRAMS:
        assert emulate(V2_CPU, name, "--help").status == 0
    assert emulate(V2_CPU, "vcmtsd", "check", "--config", SMALL).status == 0


def test_crypto_library_without_aes_ni_is_rejected(tmp_path: Path) -> None:
    skip_unless_v2_build()
    done = emulate(V2_CPU, *["vcmtsd", *replay(tmp_path, ""), "--rphy-out", tmp_path / "out.pcap"])
    assert done.status == 2
    (line,) = done.messages
    assert line.startswith("crypto ipsec-mb: version ")
    assert "AES-NI, which this CPU does not have" in line


@pytest.mark.parametrize(
    ("cpu", "crypto"),
    [(V2_AES_CPU, ""), (V2_CPU, "crypto: {provider: cryptodev, device: crypto_openssl0}\n")],
    ids=["with AES-NI", "without"],
)
def test_replay_output_equals_that_of_host_cpu(cpu: str, crypto: str, tmp_path: Path) -> None:
    skip_unless_v2_build()
    args, out = (replay(tmp_path, crypto), [tmp_path / "host.pcap", tmp_path / "cpu.pcap"])
    assert vcmtsd(*args, "--rphy-out", out[0]).status == 0
    done = emulate(cpu, *["vcmtsd", *args, "--rphy-out", out[1]])
    assert done.status == 0, done.stderr
    assert out[0].read_bytes() == out[1].read_bytes()
    assert out[0].stat().st_size > 10_000
