# SPDX-License-Identifier: BSD-3-Clause
"""A data plane in service is read and changed while packets are on their way."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import heard_out
from e2e.ports import Run, serve
from e2e.ports import memif as memif
from e2e.running import stop, vcmts
from patience import TIMEOUT, until
from vcmts import cli
from vcmts.paths import MistakeError, program
from vcmts.telemetry.dpdk import folders
from vcmts.telemetry.dpdk import vcmtsd as dpdk
from vcmts.telemetry.plane import Plane
from vcmts.telemetry.plane import plane as connected

SENDING_S = 3600  # at most: it is stopped
CPUS = sorted(os.sched_getaffinity(0))
OFFERED = 40e6  # bit/s to each modem; where programs run a tenth of the time, 4 Mbps come
MODEMS = 4
LIMITED = 1  # the service flow that has less than it is offered
MAC = "02:01:00:00:00:02"
BURST = 50_000  # what passes while the machine takes the core away
MODEM = """  - mac: "02:01:00:00:00:{n:02x}"
    addresses: [10.0.0.{n}]
    bonding_group: 1
    security: {{said: {n}, key: 0001020304050607080910111213141{n}, iv: {iv}}}
    service_flows: [{{id: {n}, dsid: {n}, priority: 0, buffer: {room}, max_sustained_rate: {rate},
                     max_traffic_burst: {burst} B}}]
"""


def config_text(limited: str = "1 Mbps", channel: str = "900 Mbps", mtu: int = 1500) -> str:
    """Four modems, of which the first has a limit. The others' queues hold more than the rings,
    from which all may come at once when the machine gives the core back."""
    shares = {n: (limited, "50 kB") if n == LIMITED else ("1 Gbps", "8 MB") for n in range(1, 5)}
    modems = (
        MODEM.format(n=n, iv="00" * 16, burst=BURST, rate=rate, room=room)
        for n, (rate, room) in shares.items()
    )
    return (
        f"threads: {{upper_mac_core: {CPUS[-1]}, main_core: {CPUS[0]}}}\n"
        "ports: {network: {device: net_null0}, rphy: {device: net_null1}}\n"
        "rphy: {core_ip: 192.0.2.1, rpd_ip: 192.0.2.2, mtu: " + str(mtu) + "}\n"
        "channels:\n"
        f"  - {{id: 11, type: ofdm, rate: {channel}, session: 17}}\n"
        "  - {id: 12, type: ofdm, rate: 500 Mbps, session: 18}\n"
        "bonding_groups: [{id: 1, channels: [11, 12]}]\n"
        "modems:\n" + "".join(modems)
    )


@contextmanager
def traffic(config: Path, seconds: float) -> Iterator["subprocess.Popen[str]"]:
    """Downstream packets to all modems alike."""
    command = [str(program("vcmts-traffic")), "--config", str(config), "--mix", "1000"]
    command += ["--rate", f"{MODEMS * OFFERED:.0f} bps", "--duration", f"{seconds * 1000:.0f}ms"]
    command += ["--json", str(config.with_name("traffic.json")), *memif(config.parent, "client")]
    command += ["--core", str(CPUS[0]), "--main-core", str(CPUS[0])]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            stop(process)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "sg.yaml"
    path.write_text(config_text())
    return path


def overflows(asked: Plane) -> None:
    """The limited flow's burst is used up, and its buffer full."""
    until(lambda: "flow_buffer_full" in asked.flow(LIMITED)["drops"], "a full buffer")


def never_more_than(asked: Plane, rate: float) -> None:
    """The limited flow, which is offered more, goes on, and has no more than this many Mbps of all
    the time that can have passed; how much less, the machine says (tests/realtime/test_rates.py).
    """
    begun = time.monotonic()
    before = asked.flow(LIMITED)["bytes"]

    def goes_on() -> bool:
        bytes_ = asked.flow(LIMITED)["bytes"] - before
        assert bytes_ <= BURST + 1.02 * rate * 125_000 * (time.monotonic() - begun)
        return bool(bytes_ > BURST)

    until(goes_on, f"{BURST} bytes and more")


def awaited(run: Run, word: str) -> str:
    """The line of vcmtsd that has the word."""
    until(lambda: any(word in line for line in run.stderr), word)
    return next(line for line in run.stderr if word in line)


@pytest.mark.run
def test_rates_change_while_traffic_runs(config: Path, tmp_path: Path) -> None:
    """The limited flow gets another rate by SIGHUP; the others lose nothing, before or after."""
    if len(CPUS) < 2:
        pytest.skip("two programs poll")
    summary = tmp_path / "summary.json"
    options = ("--config", config, "--json", summary, "--flows")
    ports = memif(tmp_path, "server")
    with serve(*options, *ports) as run, connected(run.process.pid) as asked:
        with traffic(config, SENDING_S) as sender:
            overflows(asked)
            never_more_than(asked, 1)
            config.write_text(config_text(limited="3 Mbps", channel="800 Mbps"))
            run.process.send_signal(signal.SIGHUP)
            line = awaited(run, "read again")
            assert line.endswith("sg.yaml: read again: 1 modem changed, 1 channel changed\n")
            assert asked.flow(LIMITED)["max_sustained_rate"] == 3_000_000
            rates = {one["id"]: one["rate"] for one in asked.scheduler("channels")}
            assert rates[11] == 800_000_000
            never_more_than(asked, 3)
            config.write_text(config_text(limited="2 Mbps", mtu=1501))
            with pytest.raises(MistakeError, match=r"sg\.yaml: rphy\.mtu: .*; nothing was changed"):
                asked.ask("config.reload")
            assert asked.flow(LIMITED)["max_sustained_rate"] == 3_000_000
            sender.send_signal(signal.SIGINT)
            sender.wait(TIMEOUT)
        done = run.stop()
    assert done.status == 0, done.stderr
    told = json.loads(summary.read_text())
    proven = json.loads(config.with_name("traffic.json").read_text())["downstream"]
    check_losses(told["downstream"], proven)
    assert proven["lost"] >= told["downstream"]["dropped"]
    if heard_out({"downstream": proven, "workers": told["workers"]}):
        assert proven["lost"] == told["downstream"]["dropped"]
        assert proven["sent"] == told["downstream"]["received"]


def check_losses(stats: dict[str, Any], proven: dict[str, Any]) -> None:
    """All that was dropped, the limited flow's queue has dropped."""
    flows = {flow["id"]: flow for flow in stats["scheduler"]["service_flows"]}
    assert set(flows) == set(range(1, MODEMS + 1))
    assert stats["balanced"] and stats["dropped"] > 0
    assert flows[LIMITED]["drops"] == {"flow_buffer_full": stats["dropped"]}
    assert all(not flow["drops"] for number, flow in flows.items() if number != LIMITED)
    assert proven["sent"] == proven["proven"] + proven["lost"]
    assert proven["corrupted"] == proven["duplicated"] == 0
    assert sum(proven["depi_violations"].values()) == 0


def test_answers(config: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Every question and every wrong one; the tool shows them."""
    ports = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1")
    with serve("--config", config, *ports) as run:
        pid = str(run.process.pid)
        with dpdk(run.process.pid) as socket:
            assert {"/vcmts/metrics", "/eal/lcore/busyness", "/ethdev/list"} <= set(socket.ask("/"))
        with connected(run.process.pid) as asked:
            assert asked.scheduler("delay") == [], "nothing has left the queues"
            assert [one["id"] for one in asked.scheduler("channels")] == [11, 12]
            [bonding] = asked.scheduler("bonding_groups")
            assert (bonding["id"], bonding["channels"]) == (1, 2)
            flow = asked.flow(2)
            assert flow["modem"] == MAC and flow["max_sustained_rate"] == 10**9
            modem = asked.of_group("modem.flows", mac=MAC)
            assert modem["service_flows"] == [{k: v for k, v in flow.items() if k != "modem"}]
        wrong = [("flow", "5"), ("flow", "-1"), ("flow", "1x"), ("modem", "4"), ("delay", "8")]
        wrong += [("modem", f"{MAC}x"), ("/vcmts/none", "")]
        for what, which in wrong:
            assert cli.main(["telemetry", "--pid", pid, what, which]) == 2
            assert capfd.readouterr().err.count("\n") == 1, (what, which)
        for words in (["delay"], ["channels"], ["groups"], ["flow", "1"], ["modem", MAC]):
            assert cli.main(["telemetry", "--pid", pid, "--interval", "0.01", *words]) == 0
            told = capfd.readouterr()
            assert told.out and not told.err, words
        config.write_text("channels: nonsense\n")
        done = vcmts("telemetry", "--pid", pid, "reload")
        assert done.status == 2 and "nothing was changed" in done.messages[0]
        assert len(done.messages) == 1
        assert run.stop().status == 0
    assert not any((folder / f"vcmtsd-{pid}").exists() for folder in folders())
    done = vcmts("telemetry", "--pid", pid, "delay")
    assert done.status == 2 and "no vcmtsd" in done.messages[0]
