# SPDX-License-Identifier: BSD-3-Clause
"""The data plane and the traffic program in the guest: started, asked, ended, and what they say."""

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
ROUTER = "02:00:00:00:ff:01"  # the traffic program's own end of the network
METRICS = "127.0.0.1:9464"


def say(text: str) -> None:
    print(f"vm-test: {text}, {time.monotonic():.0f} s", flush=True)


def until(true: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"not within {PATIENCE} s: {what}")


def where(process: "subprocess.Popen[bytes]") -> str:
    """What the threads of a process are at, and the end of the kernel's log."""
    lines = []
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        state = (task / "stat").read_text().rsplit(")", 1)[1].split()
        lines += [f"{(task / 'comm').read_text().strip()}: {state[0]}, {state[11]} ticks"]
        lines += [(task / "stack").read_text()]
    return "\n".join([*lines, *run("dmesg").splitlines()[-20:]])


def ended(process: "subprocess.Popen[bytes]", what: str) -> int:
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{what} does not end\n{where(process)}") from None


class Server:
    """A vcmtsd in service; it is killed where a test fails."""

    count = 0

    def __init__(self, config: Path, *arguments: str) -> None:
        Server.count += 1
        base = Path("/tmp") / f"server-{Server.count}"
        self.summary, self.log, ready = (
            base.with_suffix(suffix) for suffix in (".json", ".log", ".ready")
        )
        self.socket = base.with_suffix(".sock")
        words: list[str | Path] = [
            "--config",
            config,
            "--ready",
            ready,
            "--json",
            self.summary,
            *arguments,
        ]
        words += ["--control-socket", self.socket, "--metrics", METRICS, "--no-cycles"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [BUILD / "src/vcmtsd", "run", *words], stdout=log, stderr=log
            )
        try:
            until(lambda: ready.exists() or self.process.poll() is not None, "vcmtsd comes up")
        except AssertionError:
            print(self.said(), where(self.process), sep="\n", flush=True)
            self.kill()
            raise
        assert self.process.poll() is None, self.said()

    @staticmethod
    def refused(config: Path, *arguments: str) -> str:
        """What it says where it does not start."""
        done = subprocess.run(
            [BUILD / "src/vcmtsd", "run", "--config", config, *arguments],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 2, (done.returncode, done.stdout)
        return done.stdout

    def said(self) -> str:
        return self.log.read_text()

    def hears(self, text: str) -> None:
        def heard() -> bool:
            assert self.process.poll() is None, f"vcmtsd ended\n{self.said()}"
            return text in self.said()

        until(heard, f"vcmtsd says {text}:\n{self.said()}")

    def ports(self) -> dict[str, str]:
        """The state of each port by its device."""
        with Client(self.socket, PATIENCE) as client:
            info = client.call("server.info")
        return {port["device"]: port["state"] for port in info["ports"]}

    def metrics(self) -> list[str]:
        with urllib.request.urlopen(f"http://{METRICS}/metrics", timeout=PATIENCE) as page:
            text: str = page.read().decode()
        return text.splitlines()

    def drops(self) -> list[str]:
        """For people: what it has dropped, and what its ports have missed."""
        if self.process.poll() is not None:
            return []
        found = re.compile(r"vcmts_(\w*dropped_|ethdev_(missed|errors|no_buffer)).* [1-9]")
        return [line for line in self.metrics() if found.match(line)]

    def metric(self, name: str, **labels: str) -> float:
        """The sum of its samples with these labels."""
        return sum(
            float(line.split()[-1])
            for line in self.metrics()
            if re.match(rf"{name}[ {{]", line)
            and all(f'{key}="{value}"' in line for key, value in labels.items())
        )

    def stop(self) -> Json:
        """By SIGTERM; its accounts add up, or it says so by its status. Its summary."""
        self.process.send_signal(signal.SIGTERM)
        status = ended(self.process, "vcmtsd")
        assert status == 0, f"vcmtsd: status {status}\n{self.said()}"
        assert "this is a defect" not in self.said(), self.said()
        summary: Json = json.loads(self.summary.read_text())
        return summary

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Traffic:
    """A traffic program on two ports."""

    count = 0

    def __init__(self, config: Path, network: str, rphy: str, *arguments: str) -> None:
        Traffic.count += 1
        self.json = Path("/tmp") / f"traffic-{Traffic.count}.json"
        self.log = self.json.with_suffix(".log")
        words: list[str | Path] = [
            "--config",
            config,
            "--network",
            network,
            "--rphy",
            rphy,
            "--json",
            self.json,
        ]
        words += ["--rate", "1Mbps", "--upstream-rate", "300kbps", "--core", "2", *arguments]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [BUILD / "traffic/vcmts-traffic", *words], stdout=log, stderr=log
            )

    def said(self) -> str:
        return self.log.read_text()

    def runs(self) -> None:
        """Waits until packets have been proven."""
        until(
            lambda: "proven" in self.said() or self.process.poll() is not None, "traffic comes up"
        )
        assert self.process.poll() is None, self.said()

    def result(self) -> tuple[int, Json]:
        status = ended(self.process, "vcmts-traffic")
        assert self.json.exists(), self.said()
        return status, json.loads(self.json.read_text())

    def proven(self, groups: int = 1) -> str:
        """Every packet of each direction, and of each group. For people, how many."""
        status, result = self.result()
        assert status == 0, f"vcmts-traffic: status {status}\n{self.said()}"
        parts = result.get("groups", [result])
        assert len(parts) == groups, parts
        numbers = []
        for part in parts:
            for direction in ("downstream", "upstream"):
                one = part[direction]
                assert one["sent"] > 50 and one["proven"] == one["sent"], (direction, one)
                numbers.append(f"{one['proven']} of {one['sent']}")
        return ", ".join(numbers)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def run(*words: str | Path) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def write(path: Path, text: str) -> None:
    path.write_text(text)


def driver(device: str) -> str:
    link = PCI / device / "driver"
    return link.resolve().name if link.is_symlink() else ""


def bind(devices: Sequence[str]) -> None:
    """Gives them to vfio-pci."""
    for device in devices:
        if driver(device):
            write(PCI / device / "driver" / "unbind", device)
        write(PCI / device / "driver_override", "vfio-pci")
        write(Path("/sys/bus/pci/drivers_probe"), device)
        assert driver(device) == "vfio-pci", device


def function(card: str, index: int) -> str:
    return (PCI / card / f"virtfn{index}").readlink().name


def interface(card: str) -> str:
    return next((PCI / card / "net").iterdir()).name


def monitor(text: str) -> None:
    run("lab-monitor", text)


def no_faults() -> None:
    """Of the IOMMU, in the kernel's log: cards have written where they may."""
    lines = [
        line for line in run("dmesg").splitlines() if "DMAR" in line and "fault" in line.lower()
    ]
    assert not lines, "\n".join(lines)
