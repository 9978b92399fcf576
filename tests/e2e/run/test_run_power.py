# SPDX-License-Identifier: BSD-3-Clause
"""Frequencies by load: a governor in service, asked and changed, and `vcmtsd power` on a folder."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from e2e.control.controlled import controlled, place
from patience import TIMEOUT, until
from vcmts.control.client import Client, RefusedError
from vcmts.paths import program

SIMULATED = ("--power-driver", "simulated")
FILES = {
    "scaling_driver": "acpi-cpufreq",
    "scaling_governor": "schedutil",
    "scaling_available_governors": "userspace performance schedutil",
    "scaling_available_frequencies": "1800000 1200000 800000",
    "cpuinfo_min_freq": "800000",
    "cpuinfo_max_freq": "1800000",
    "scaling_min_freq": "800000",
    "scaling_max_freq": "1800000",
    "scaling_setspeed": "<unsupported>",
    "related_cpus": "0",
}


def core(client: Client) -> dict[str, Any]:
    (found,) = client.call("power.get")["cores"]
    return dict(found)


def value(client: Client, name: str, **labels: str) -> float:
    for sample in client.call("metrics.get", names=[name])["samples"]:
        if labels.items() <= sample["labels"].items():
            return float(sample["value"])
    raise KeyError(name)


def test_a_governor_in_service() -> None:
    with (
        place() as folder,
        controlled(folder, "--policy", "saving", *SIMULATED) as (_, path),
        Client(path) as client,
    ):
        until(lambda: core(client)["hertz"] < core(client)["max_hertz"], "slower when idle")
        lowest = core(client)["hertz"]
        found = client.call("power.get")
        assert (found["policy"], found["driver"], found["queues"]) == (
            "saving",
            "simulated",
            True,
        )
        assert core(client)["min_hertz"] <= lowest
        assert value(client, "vcmts_power_policy_info", policy="saving") == 1
        assert value(client, "vcmts_power_transitions_total") > 0
        # what a latency of no account allows is the lowest of all
        client.call("power.set", latency_us=10000)
        until(lambda: core(client)["hertz"] == core(client)["min_hertz"], "the slowest")
        client.call("power.set", policy="performance")
        until(lambda: core(client)["hertz"] == core(client)["max_hertz"], "the maximum")
        client.call("power.set", policy="none")
        assert client.call("power.get")["driver"] == "none"
        assert core(client)["max_hertz"] == 0
        with pytest.raises(RefusedError):
            client.call("power.set", latency_us=0)


@contextmanager
def machine() -> Iterator[tuple[Path, Path]]:
    """Files that stand for a core's, and the file for the initial settings."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        cpufreq = Path(name) / "cpu0" / "cpufreq"
        cpufreq.mkdir(parents=True)
        (Path(name) / "present").write_text("0\n")
        for key, text in FILES.items():
            (cpufreq / key).write_text(text + "\n")
        yield Path(name), cpufreq


def power(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [program("vcmtsd"), "power", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )


def test_power_by_hand() -> None:
    with machine() as (root, cpufreq):
        state = ("--root", root, "--state", root / "state")
        wish = ("--cores", "0", "--hertz", "1.2GHz")
        shown = power("show", "--root", root)
        assert shown.returncode == 0
        assert "acpi-cpufreq" in shown.stdout
        assert "3 states" in shown.stdout
        tried = power("try", *state, *wish, "--duration", "10ms")
        assert tried.returncode == 0, tried.stderr
        assert "read back 1200000 kHz" in tried.stdout
        assert (cpufreq / "scaling_governor").read_text() == "schedutil"
        assert not (root / "state").exists()
        # killed: the file tells what it was
        with subprocess.Popen([program("vcmtsd"), "power", "try", *state, *wish]) as process:
            until(lambda: (cpufreq / "scaling_governor").read_text() == "userspace", "set")
            assert power("restore", *state).stdout.startswith("state files: 0 restored, 1 of")
            process.send_signal(signal.SIGKILL)
        assert (cpufreq / "scaling_governor").read_text() == "userspace"
        assert power("restore", *state).returncode == 0
        assert (cpufreq / "scaling_governor").read_text() == "schedutil"
        assert power("restore", *state).returncode == 0  # nothing to do
        # a signal: as at the end
        with subprocess.Popen([program("vcmtsd"), "power", "try", *state, *wish]) as process:
            until(lambda: (cpufreq / "scaling_governor").read_text() == "userspace", "set again")
            process.terminate()
        assert process.returncode == 0
        assert (cpufreq / "scaling_governor").read_text() == "schedutil"


def test_power_refuses() -> None:
    with machine() as (root, cpufreq):
        for wrong in (
            (),
            ("shout",),
            ("try", "--cores", "0"),
            ("try", "--cores", "x", "--hertz", "1GHz"),
            ("try", "--cores", "0", "--hertz", "1 furlong"),
            ("try", "--cores", "0", "--hertz", "-1"),
            ("show", "show"),
        ):
            assert power(*wrong).returncode == 2
        assert power("show", "--root", root / "nowhere").returncode == 1
        (root / "state").write_text("vcmts-power 1\nprocess 1 1\nscaling_governor 0 0 x\n")
        os.chmod(root / "state", 0o600)
        forged = power("restore", "--root", root, "--state", root / "state")
        assert forged.returncode == 1
        assert "it has no end" in forged.stderr
        assert (cpufreq / "scaling_governor").read_text() == "schedutil\n"
