# SPDX-License-Identifier: BSD-3-Clause
"""Starts, queries and stops vcmtsd and the traffic program in the guest."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vcmts.control.client import Client

Json = dict[str, Any]
CHECKOUT = Path(__file__).resolve().parents[2]
BUILD = CHECKOUT / os.environ.get("VCMTS_BUILD", "build-v2")
PCI = Path("/sys/bus/pci/devices")
PATIENCE = 1200  # seconds of the guest, whose clock runs fast on a busy machine
ROUTER = "02:00:00:00:ff:01"  # the traffic program's network port
METRICS = "127.0.0.1:9464"


def progress(text: str) -> None:
    print(f"vm-test: {text}, {time.monotonic():.0f} s", flush=True)


def until(condition: Callable[[], Any], expected: str) -> Any:
    """Waits until the condition holds, and returns its value. `expected`: for the failure text."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.2)
    raise AssertionError(f"not within {PATIENCE} s: {expected}")


def thread_states(process: "subprocess.Popen[bytes]") -> str:
    """State and kernel stack of each thread of a process, and the end of the kernel log."""
    lines = []
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        state = (task / "stat").read_text().rsplit(")", 1)[1].split()
        lines += [f"{(task / 'comm').read_text().strip()}: {state[0]}, {state[11]} ticks"]
        lines += [(task / "stack").read_text()]
    return "\n".join([*lines, *run("dmesg").splitlines()[-20:]])


def wait_for_exit(process: "subprocess.Popen[bytes]", program: str) -> int:
    """Returns the exit status. The failure without an exit has the states of the threads."""
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{program} does not exit\n{thread_states(process)}") from None


class Server:
    """A running vcmtsd. Callers kill it if a test fails."""

    count = 0

    def __init__(self, config: Path, *arguments: str) -> None:
        Server.count += 1
        base = Path("/tmp") / f"server-{Server.count}"
        self.summary, self.log, ready = (
            base.with_suffix(suffix) for suffix in (".json", ".log", ".ready")
        )
        self.socket = base.with_suffix(".sock")
        options: list[str | Path] = ["--config", config, "--ready", ready, *arguments]
        options += ["--json", self.summary, "--control-socket", self.socket]
        options += ["--metrics", METRICS, "--no-cycles"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [BUILD / "src/vcmtsd", "run", *options], stdout=log, stderr=log
            )
        try:
            until(lambda: ready.exists() or self.process.poll() is not None, "vcmtsd is ready")
        except AssertionError:
            print(self.output(), thread_states(self.process), sep="\n", flush=True)
            self.kill()
            raise
        assert self.process.poll() is None, self.output()

    @staticmethod
    def refused(config: Path, *arguments: str) -> str:
        """Runs vcmtsd with a configuration that it must reject, and returns its output."""
        done = subprocess.run(
            [BUILD / "src/vcmtsd", "run", "--config", config, *arguments],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode in (1, 2), (done.returncode, done.stdout)
        return done.stdout

    def output(self) -> str:
        return self.log.read_text()

    def wait_for_output(self, text: str) -> None:
        def is_printed() -> bool:
            assert self.process.poll() is None, f"vcmtsd exited\n{self.output()}"
            return text in self.output()

        until(is_printed, f"vcmtsd prints {text}:\n{self.output()}")

    def ports(self) -> dict[str, str]:
        """The state of each port, by its device."""
        with Client(self.socket, PATIENCE) as client:
            info = client.call("server.info")
        return {port["device"]: port["state"] for port in info["ports"]}

    def metrics(self) -> list[str]:
        with urllib.request.urlopen(f"http://{METRICS}/metrics", timeout=PATIENCE) as page:
            text: str = page.read().decode()
        return text.splitlines()

    def drops(self) -> list[str]:
        """Samples of packet drops and port errors that are not 0, to be printed."""
        if self.process.poll() is not None:
            return []
        pattern = re.compile(r"vcmts_(\w*dropped_|ethdev_(missed|errors|no_buffer)).* [1-9]")
        return [line for line in self.metrics() if pattern.match(line)]

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the metric's samples with these labels."""
        return sum(
            float(line.split()[-1])
            for line in self.metrics()
            if re.match(rf"{name}[ {{]", line)
            and all(f'{key}="{value}"' in line for key, value in labels.items())
        )

    def stop(self) -> Json:
        """Sends SIGTERM. Returns the summary; status 0: its counters balance."""
        self.process.send_signal(signal.SIGTERM)
        status = wait_for_exit(self.process, "vcmtsd")
        assert status == 0, f"vcmtsd: status {status}\n{self.output()}"
        assert "this is a defect" not in self.output(), self.output()
        summary: Json = json.loads(self.summary.read_text())
        return summary

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Traffic:
    """The traffic program on two ports."""

    count = 0

    def __init__(self, config: Path, network: str, rphy: str, *arguments: str) -> None:
        Traffic.count += 1
        self.json = Path("/tmp") / f"traffic-{Traffic.count}.json"
        self.log = self.json.with_suffix(".log")
        options: list[str | Path] = ["--config", config, "--network", network, "--rphy", rphy]
        options += ["--json", self.json, "--rate", "1Mbps", "--upstream-rate", "300kbps"]
        options += ["--core", "2", *arguments]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [BUILD / "traffic/vcmts-traffic", *options], stdout=log, stderr=log
            )

    def output(self) -> str:
        return self.log.read_text()

    def wait_for_traffic(self) -> None:
        """Waits until the program has proven packets."""
        until(
            lambda: "proven" in self.output() or self.process.poll() is not None, "proven packets"
        )
        assert self.process.poll() is None, self.output()

    def result(self) -> tuple[int, Json]:
        """Waits for the end. Returns the exit status and the summary."""
        status = wait_for_exit(self.process, "vcmts-traffic")
        assert self.json.exists(), self.output()
        return status, json.loads(self.json.read_text())

    def check_proven(self, groups: int = 1) -> str:
        """All packets of each direction are proven. Returns their numbers."""
        status, result = self.result()
        assert status == 0, f"vcmts-traffic: status {status}\n{self.output()}"
        parts = result.get("groups", [result])
        assert len(parts) == groups, parts
        numbers = []
        for part in parts:
            for direction in ("downstream", "upstream"):
                counts = part[direction]
                assert counts["sent"] > 50 and counts["proven"] == counts["sent"], counts
                numbers.append(f"{counts['proven']} of {counts['sent']}")
        return ", ".join(numbers)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def run(*command: str | Path) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def write(path: Path, text: str) -> None:
    path.write_text(text)


def driver(device: str) -> str:
    """The driver to which a PCI device is bound; empty without one."""
    link = PCI / device / "driver"
    return link.resolve().name if link.is_symlink() else ""


def bind(devices: Sequence[str]) -> None:
    """Binds the devices to vfio-pci."""
    for device in devices:
        if driver(device):
            write(PCI / device / "driver" / "unbind", device)
        write(PCI / device / "driver_override", "vfio-pci")
        write(Path("/sys/bus/pci/drivers_probe"), device)
        assert driver(device) == "vfio-pci", device


def function(card: str, index: int) -> str:
    """The PCI address of a virtual function of the card."""
    return (PCI / card / f"virtfn{index}").readlink().name


def interface(card: str) -> str:
    """The network interface of the card."""
    return next((PCI / card / "net").iterdir()).name


def monitor(text: str) -> None:
    """Gives a command to QEMU's monitor."""
    run("lab-monitor", text)


def check_no_faults() -> None:
    """Checks that the kernel log has no IOMMU fault: the cards wrote only to memory mapped for
    them."""
    lines = [
        line for line in run("dmesg").splitlines() if "DMAR" in line and "fault" in line.lower()
    ]
    assert not lines, "\n".join(lines)
