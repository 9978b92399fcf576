# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts pod --traffic`, which `helm test` runs, beside a `vcmts pod` with the same files."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.control.server import TOOL_WITHOUT_QUOTA, config_folder
from e2e.deploy.test_pod import mount_files, start_pod
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, build_directory
from vcmts.profile.server import write_group_file

CONFIG = """power: {idle: sleep}
threads: {layout: combined}
service_groups:
  - service_group: 1
    file: ../secret/sg-1.yaml
    ports: {network: {device: "${NETWORK}"}, rphy: {device: "${RPHY}"}}
"""
PORTS = {"NETWORK": 0, "RPHY": 1}
MEMIF = "net_memif{number},role={role},id={number},rsize=13,socket-abstract=no,socket={folder}/{n}"


def devices(folder: Path, role: str) -> dict[str, str]:
    return {
        name: MEMIF.format(number=number, role=role, folder=folder, n=number)
        for name, number in PORTS.items()
    }


def run_traffic(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """Runs it in an environment without the variables of the configuration, as in another pod."""
    command = [sys.executable, "-c", TOOL_WITHOUT_QUOTA, "pod", "--traffic"]
    command += ["--config", str(folder / "config" / "vcmts.yaml"), "--run", str(folder / "far")]
    build = str(build_directory().resolve())
    settings = {"PYTHONPATH": str(CHECKOUT / "tools"), "VCMTS_BUILD": build}
    return subprocess.run(
        [*command, "--", *options],
        env=os.environ | settings | {"VCMTS_TERMINATION_LOG": str(folder / "far-termination")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


@pytest.mark.run
def test_traffic_program_proves_packets_of_a_pod() -> None:
    with config_folder() as folder:
        (folder / "secret").mkdir()
        with (folder / "secret" / "sg-1.yaml").open("w", encoding="utf-8") as out:
            write_group_file("2ofdm-0sc-qam_10cms_aes", 1, out)
        mount_files(folder / "config", 1, vcmts=CONFIG)
        far = devices(folder, "client")
        ends = ("--network", far["NETWORK"], "--rphy", far["RPHY"])
        slow = ("--duration", "2s", "--rate", "500kbps", "--upstream-rate", "500kbps")
        with start_pod(folder, **devices(folder, "server")) as pod:
            pod.wait_for("serving service group 1")
            done = run_traffic(folder, *ends, *slow, "--json", "/dev/stdout")
    assert done.returncode == 0, done.stderr
    report = re.search(r"^\{$.*^\}$", done.stdout, re.MULTILINE | re.DOTALL)
    assert report, done.stdout
    summary = json.loads(report[0])
    for direction in ("downstream", "upstream"):
        counts = summary[direction]
        assert counts["proven"] == counts["sent"] > 20, summary


def test_missing_secret_is_one_line() -> None:
    with config_folder() as folder:
        mount_files(folder / "config", 1, vcmts=CONFIG)
        done = run_traffic(folder)
        termination = (folder / "far-termination").read_text()
    assert done.returncode == 2
    assert "sg-1.yaml: No such file or directory; is the Secret" in termination
    assert len(termination.splitlines()) == 1
