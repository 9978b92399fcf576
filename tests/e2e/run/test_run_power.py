# SPDX-License-Identifier: BSD-3-Clause
"""Core frequencies: the governor in service, and `vcmtsd power` with simulated files."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from e2e.control.server import config_folder, start_server
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
    """The state of the only core with power management."""
    (core,) = client.call("power.get")["cores"]
    return dict(core)


def metric_value(client: Client, name: str, **labels: str) -> float:
    for sample in client.call("metrics.get", names=[name])["samples"]:
        if labels.items() <= sample["labels"].items():
            return float(sample["value"])
    raise KeyError(name)


def test_governor_sets_frequency_by_load_and_policy() -> None:
    with (
        config_folder() as folder,
        start_server(folder, "--policy", "saving", *SIMULATED) as (_, path),
        Client(path) as client,
    ):
        until(lambda: core(client)["hertz"] < core(client)["max_hertz"], "lower when idle")
        lowest = core(client)["hertz"]
        state = client.call("power.get")
        assert (state["policy"], state["driver"], state["queues"]) == (
            "saving",
            "simulated",
            True,
        )
        assert core(client)["min_hertz"] <= lowest
        assert metric_value(client, "vcmts_power_policy_info", policy="saving") == 1
        assert metric_value(client, "vcmts_power_transitions_total") > 0
        # a high latency limit permits the lowest frequency
        client.call("power.set", latency_us=10000)
        until(lambda: core(client)["hertz"] == core(client)["min_hertz"], "the minimum")
        client.call("power.set", policy="performance")
        until(lambda: core(client)["hertz"] == core(client)["max_hertz"], "the maximum")
        client.call("power.set", policy="none")
        assert client.call("power.get")["driver"] == "none"
        assert core(client)["max_hertz"] == 0
        with pytest.raises(RefusedError):
            client.call("power.set", latency_us=0)


@contextmanager
def simulated_cpufreq() -> Iterator[tuple[Path, Path]]:
    """Folder with simulated cpufreq files of core 0. Yields the folder and that of the files."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        cpufreq = Path(name) / "cpu0" / "cpufreq"
        cpufreq.mkdir(parents=True)
        (Path(name) / "present").write_text("0\n")
        for key, text in FILES.items():
            (cpufreq / key).write_text(text + "\n")
        yield Path(name), cpufreq


def run_power(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [program("vcmtsd"), "power", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )


def test_power_commands_set_and_restore() -> None:
    with simulated_cpufreq() as (root, cpufreq):
        state = ("--root", root, "--state", root / "state")
        request = ("--cores", "0", "--hertz", "1.2GHz")
        shown = run_power("show", "--root", root)
        assert shown.returncode == 0
        assert "acpi-cpufreq" in shown.stdout
        assert "3 states" in shown.stdout
        tried = run_power("try", *state, *request, "--duration", "10ms")
        assert tried.returncode == 0, tried.stderr
        assert "read back 1200000 kHz" in tried.stdout
        assert (cpufreq / "scaling_governor").read_text() == "schedutil"
        assert not (root / "state").exists()
        # killed: the state file has the initial settings
        with subprocess.Popen([program("vcmtsd"), "power", "try", *state, *request]) as process:
            until(lambda: (cpufreq / "scaling_governor").read_text() == "userspace", "set")
            assert run_power("restore", *state).stdout.startswith("state files: 0 restored, 1 of")
            process.send_signal(signal.SIGKILL)
        assert (cpufreq / "scaling_governor").read_text() == "userspace"
        assert run_power("restore", *state).returncode == 0
        assert (cpufreq / "scaling_governor").read_text() == "schedutil"
        assert run_power("restore", *state).returncode == 0  # no state file
        # SIGTERM restores the settings
        with subprocess.Popen([program("vcmtsd"), "power", "try", *state, *request]) as process:
            until(lambda: (cpufreq / "scaling_governor").read_text() == "userspace", "set again")
            process.terminate()
        assert process.returncode == 0
        assert (cpufreq / "scaling_governor").read_text() == "schedutil"


def test_invalid_power_commands_are_rejected() -> None:
    with simulated_cpufreq() as (root, cpufreq):
        for arguments in (
            (),
            ("shout",),
            ("try", "--cores", "0"),
            ("try", "--cores", "x", "--hertz", "1GHz"),
            ("try", "--cores", "0", "--hertz", "1 furlong"),
            ("try", "--cores", "0", "--hertz", "-1"),
            ("show", "show"),
        ):
            assert run_power(*arguments).returncode == 2
        assert run_power("show", "--root", root / "nowhere").returncode == 1
        (root / "state").write_text("vcmts-power 1\nprocess 1 1\nscaling_governor 0 0 x\n")
        os.chmod(root / "state", 0o600)
        forged = run_power("restore", "--root", root, "--state", root / "state")
        assert forged.returncode == 1
        assert "it is incomplete" in forged.stderr
        assert (cpufreq / "scaling_governor").read_text() == "schedutil\n"
