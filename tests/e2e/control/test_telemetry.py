# SPDX-License-Identifier: BSD-3-Clause
"""Reads the telemetry of a vcmtsd in service, and changes rates by a reload while traffic runs."""

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

from e2e.machine import waited_for_all
from e2e.ports import Run, serve
from e2e.ports import memifs as memifs
from e2e.running import stop_process, vcmts
from patience import TIMEOUT, until
from vcmts import cli
from vcmts.paths import RefusalError, program
from vcmts.telemetry.dpdk import folders
from vcmts.telemetry.dpdk import vcmtsd as dpdk
from vcmts.telemetry.plane import Plane
from vcmts.telemetry.plane import plane as connect_plane

SENDING_S = 3600  # the test stops it before
CPUS = sorted(os.sched_getaffinity(0))
OFFERED = 40e6  # bit/s per modem; 4 Mbps if the programs run a tenth of the time
MODEMS = 4
LIMITED = 1  # service flow with a rate below the offered one
MAC = "02:01:00:00:00:02"
BURST = 50_000  # bytes; for times in which the core is not available
MODEM = """  - mac: "02:01:00:00:00:{n:02x}"
    addresses: [10.0.0.{n}]
    bonding_group: 1
    security: {{said: {n}, key: 0001020304050607080910111213141{n}, iv: {iv}}}
    service_flows: [{{id: {n}, dsid: {n}, priority: 0, buffer: {size}, max_sustained_rate: {rate},
                     max_traffic_burst: {burst} B}}]
"""


def config_text(limited: str = "1 Mbps", channel: str = "900 Mbps", mtu: int = 1500) -> str:
    """Four modems. The first has a rate limit. Buffers of the others are larger than the rings,
    whose packets may arrive at once when a core becomes available again."""
    shares = {n: (limited, "50 kB") if n == LIMITED else ("1 Gbps", "8 MB") for n in range(1, 5)}
    modems = (
        MODEM.format(n=n, iv="00" * 16, burst=BURST, rate=rate, size=size)
        for n, (rate, size) in shares.items()
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
    """Sends downstream packets to all modems at the same rate."""
    command = [str(program("vcmts-traffic")), "--config", str(config), "--mix", "1000"]
    command += ["--rate", f"{MODEMS * OFFERED:.0f} bps", "--duration", f"{seconds * 1000:.0f}ms"]
    command += ["--json", str(config.with_name("traffic.json")), *memifs(config.parent, "client")]
    command += ["--core", str(CPUS[0]), "--main-core", str(CPUS[0])]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            stop_process(process)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "sg.yaml"
    path.write_text(config_text())
    return path


def wait_for_overflow(client: Plane) -> None:
    """Waits until the buffer of the limited flow is full."""
    until(lambda: "flow_buffer_full" in client.flow(LIMITED)["drops"], "a full buffer")


def check_rate_limit(client: Plane, rate: float) -> None:
    """Checks that the limited flow transmits, and at most at this rate (Mbps). It may transmit less
    on a busy machine: see tests/realtime/test_rates.py."""
    started = time.monotonic()
    before = client.flow(LIMITED)["bytes"]

    def exceeds_burst() -> bool:
        bytes_ = client.flow(LIMITED)["bytes"] - before
        assert bytes_ <= BURST + 1.02 * rate * 125_000 * (time.monotonic() - started)
        return bool(bytes_ > BURST)

    until(exceeds_burst, f"{BURST} bytes and more")


def wait_for_message(run: Run, word: str) -> str:
    """Waits for a line of vcmtsd that contains `word`, and returns it."""
    until(lambda: any(word in line for line in run.stderr), word)
    return next(line for line in run.stderr if word in line)


@pytest.mark.run
def test_reload_changes_rates_under_traffic(config: Path, tmp_path: Path) -> None:
    """The limited flow gets another rate by SIGHUP. Other flows lose no packet."""
    if len(CPUS) < 2:
        pytest.skip("two programs poll")
    summary = tmp_path / "summary.json"
    options = ("--config", config, "--json", summary, "--flows")
    ports = memifs(tmp_path, "server")
    with serve(*options, *ports) as run, connect_plane(run.process.pid) as client:
        with traffic(config, SENDING_S) as sender:
            wait_for_overflow(client)
            check_rate_limit(client, 1)
            config.write_text(config_text(limited="3 Mbps", channel="800 Mbps"))
            run.process.send_signal(signal.SIGHUP)
            line = wait_for_message(run, "reloaded")
            assert line.endswith("sg.yaml: reloaded: 1 modem changed, 1 channel changed\n")
            assert client.flow(LIMITED)["max_sustained_rate"] == 3_000_000
            rates = {channel["id"]: channel["rate"] for channel in client.scheduler("channels")}
            assert rates[11] == 800_000_000
            check_rate_limit(client, 3)
            config.write_text(config_text(limited="2 Mbps", mtu=1501))
            with pytest.raises(RefusalError, match=r"sg\.yaml: rphy\.mtu: .*; nothing was changed"):
                client.ask("config.reload")
            assert client.flow(LIMITED)["max_sustained_rate"] == 3_000_000
            sender.send_signal(signal.SIGINT)
            sender.wait(TIMEOUT)
        done = run.stop()
    assert done.status == 0, done.stderr
    summary_json = json.loads(summary.read_text())
    result = json.loads(config.with_name("traffic.json").read_text())["downstream"]
    check_losses(summary_json["downstream"], result)
    assert result["lost"] >= summary_json["downstream"]["dropped"]
    if waited_for_all({"downstream": result, "workers": summary_json["workers"]}):
        assert result["lost"] == summary_json["downstream"]["dropped"]
        assert result["sent"] == summary_json["downstream"]["received"]


def check_losses(stats: dict[str, Any], result: dict[str, Any]) -> None:
    """Checks that only the limited flow has drops, and the balance."""
    flows = {flow["id"]: flow for flow in stats["scheduler"]["service_flows"]}
    assert set(flows) == set(range(1, MODEMS + 1))
    assert stats["balanced"] and stats["dropped"] > 0
    assert flows[LIMITED]["drops"] == {"flow_buffer_full": stats["dropped"]}
    assert all(not flow["drops"] for number, flow in flows.items() if number != LIMITED)
    assert result["sent"] == result["proven"] + result["lost"]
    assert result["corrupted"] == result["duplicated"] == 0
    assert sum(result["depi_violations"].values()) == 0


def test_requests_return_state_or_error(config: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ports = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1")
    with serve("--config", config, *ports) as run:
        pid = str(run.process.pid)
        with dpdk(run.process.pid) as socket:
            assert {"/vcmts/metrics", "/eal/lcore/busyness", "/ethdev/list"} <= set(socket.ask("/"))
        with connect_plane(run.process.pid) as client:
            assert client.scheduler("delay") == [], "delays without packets"
            assert [channel["id"] for channel in client.scheduler("channels")] == [11, 12]
            [bonding] = client.scheduler("bonding_groups")
            assert (bonding["id"], bonding["channels"]) == (1, 2)
            flow = client.flow(2)
            assert flow["modem"] == MAC and flow["max_sustained_rate"] == 10**9
            modem = client.of_group("modem.flows", mac=MAC)
            assert modem["service_flows"] == [{k: v for k, v in flow.items() if k != "modem"}]
        invalid = [("flow", "5"), ("flow", "-1"), ("flow", "1x"), ("modem", "4"), ("delay", "8")]
        invalid += [("modem", f"{MAC}x"), ("/vcmts/none", "")]
        for command, argument in invalid:
            refused = command in ("flow", "modem") and argument not in ("-1", "1x")  # by vcmtsd
            assert cli.main(["telemetry", "--pid", pid, command, argument]) == 2 - refused
            assert capfd.readouterr().err.count("\n") == 1, (command, argument)
        for arguments in (["delay"], ["channels"], ["bonding"], ["flow", "1"], ["modem", MAC]):
            assert cli.main(["telemetry", "--pid", pid, "--interval", "0.01", *arguments]) == 0
            output = capfd.readouterr()
            assert output.out and not output.err, arguments
        config.write_text("channels: nonsense\n")
        done = vcmts("telemetry", "--pid", pid, "reload")
        assert done.status == 1 and "nothing was changed" in done.messages[0]
        assert len(done.messages) == 1
        assert run.stop().status == 0
    assert not any((folder / f"vcmtsd-{pid}").exists() for folder in folders())
    done = vcmts("telemetry", "--pid", pid, "delay")
    assert done.status == 2 and f"no process {pid} runs" in done.messages[0]
