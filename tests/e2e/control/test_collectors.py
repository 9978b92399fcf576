# SPDX-License-Identifier: BSD-3-Clause
"""DPDK telemetry of vcmtsd as used by Telegraf, DPDK's exporter and power managers."""

import importlib.util
import json
import os
import tomllib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from e2e.ports import serve
from patience import until
from vcmts.paths import CHECKOUT, MistakeError
from vcmts.telemetry.dpdk import Vcmtsd
from vcmts.telemetry.dpdk import vcmtsd as connect_telemetry
from vcmts.telemetry.plane import plane

CPUS = sorted(os.sched_getaffinity(0))
CORES = (CPUS[-1], CPUS[0])  # of the workers: lcores 1 and 2
THREADS = f"upper_mac_core: {CORES[0]}, upstream_core: {CORES[1]}, main_core: {CPUS[0]}"
CONFIG = f"""threads: {{{THREADS}}}
ports: {{network: {{device: net_null0}}, rphy: {{device: net_null1}}}}
rphy: {{core_ip: 192.0.2.1, rpd_ip: 192.0.2.2}}
channels: [{{id: 11, type: ofdm, rate: 1 Gbps, session: 17}}]
upstream_channels: [{{id: 21, type: ofdma, rate: 1 Gbps, session: 33}}]
bonding_groups: [{{id: 1, channels: [11]}}]
modems:
  - mac: "02:01:00:00:00:01"
    addresses: [10.0.0.1]
    bonding_group: 1
    security: {{said: 1, cipher: none}}
    service_flows: [{{id: 1, dsid: 1, priority: 0}}]
"""
LIMITS = {
    "command": 56,
    "answer": 16384,
    "values": 256,
}  # characters and keys: Telegraf, DPDK 22.11


@pytest.fixture(scope="module")
def telemetry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vcmtsd]:
    """The telemetry socket of a vcmtsd. Its downstream receives frames with an unknown destination
    at the maximum rate."""
    if len(CPUS) < 2:
        pytest.skip("two workers poll")
    path = tmp_path_factory.mktemp("collectors") / "sg.yaml"
    path.write_text(CONFIG)
    ports = ("--network", "net_null0", "--rphy", "net_null1,no-rx=1")
    with serve("--config", path, *ports) as run, connect_telemetry(run.process.pid) as one:
        yield one
        assert run.stop().status == 0


def telegraf_commands() -> list[str]:
    plugin = tomllib.loads((CHECKOUT / "deploy/telegraf/vcmts.conf").read_text(encoding="utf-8"))
    (dpdk,) = plugin["inputs"]["dpdk"]
    commands: list[str] = dpdk["additional_commands"]
    return commands


@pytest.mark.parametrize("line", telegraf_commands())
def test_telegraf_commands_return_flat_numbers(line: str, telemetry: Vcmtsd) -> None:
    """Telegraf makes a field of each key: only the parameters of the command may be strings."""
    command, _, parameters = line.partition(",")
    assert len(line) < LIMITS["command"] + len(parameters) and command.startswith("/vcmts/")
    answer = telemetry.ask(command, parameters)
    strings = dict(word.split("=") for word in parameters.split(",") if "=" in word)
    assert {key: value for key, value in answer.items() if isinstance(value, str)} == strings
    numbers = {key: value for key, value in answer.items() if key not in strings}
    assert numbers and all(isinstance(value, int) for value in numbers.values())
    assert not any(word in key for word in ("service_group/", "worker/") for key in numbers)
    assert len(json.dumps({line: answer})) < LIMITS["answer"] and len(answer) < LIMITS["values"]


def get_metrics(telemetry: Vcmtsd, *parameters: str) -> dict[str, int]:
    answer: dict[str, int] = telemetry.ask("/vcmts/metrics", ",".join(parameters))
    return answer


def test_metrics_equal_counters(telemetry: Vcmtsd) -> None:
    def received_by_control_socket() -> int:
        with plane(telemetry.pid) as client:
            packets: int = client.counts()["downstream"]["counters"]["received"]
        return packets

    def received() -> int:
        before = received_by_control_socket()
        value = get_metrics(telemetry, "service_group=1", "downstream_received_packets")
        after = received_by_control_socket()
        assert before <= value["downstream_received_packets_total"] <= after
        return after

    until(lambda: received() > 0, "packets")
    values = get_metrics(telemetry, "service_group=1", "direction=downstream", "polls")
    assert values["polls_total/result/useful"] > 0 == values["polls_total/result/empty"]
    values = get_metrics(telemetry, "service_group=1", "direction=upstream", "polls")
    assert values["polls_total/result/empty"] > 0 == values["polls_total/result/useful"]
    values = get_metrics(telemetry, "service_group=1", "direction=downstream", "look")
    assert values["looked_up_total"] >= values["lookups_total"] > 0
    drops = get_metrics(telemetry, "service_group=1", "reason=unknown_destination")
    assert drops["downstream_dropped_packets_total"] > 0
    assert get_metrics(telemetry, "service_group=1", "service_group_")["service_group_modems"] == 1


def test_parts_of_metrics_are_complete_and_disjoint(telemetry: Vcmtsd) -> None:
    metrics: dict[str, int] = {}
    answers = 0
    while part := telemetry.ask("/vcmts/metrics", f"from={len(metrics)}"):
        assert not set(part) & set(metrics)
        metrics |= part
        answers += 1
    assert answers > 1
    assert {key.split("/")[0] for key in metrics} >= {
        *("downstream_received_packets_total", "worker_busy_nanoseconds_total"),
        "scheduler_delay_nanoseconds_sum",
    }
    rounds = telemetry.ask("/vcmts/metrics", "worker_rounds")
    assert set(rounds) == {key for key in metrics if key.startswith("worker_rounds")}


def test_rates_are_in_bytes_per_second(telemetry: Vcmtsd) -> None:
    rates = get_metrics(telemetry, "service_group=1", "downstream_channel_rate")
    assert rates["downstream_channel_rate_bytes_per_second/channel/11"] == 10**9 / 8


def test_modem_metrics_are_returned_on_request(telemetry: Vcmtsd) -> None:
    values = get_metrics(telemetry, "modem=02:01:00:00:00:01")
    assert values["modem_downstream_packets_total"] == 0
    assert values["flow_packets_total/sfid/1"] == 0
    assert not [key for key in telemetry.ask("/vcmts/metrics") if key.startswith("modem_")]
    assert set(get_metrics(telemetry, "modem=02:01:00:00:00:02")) == {"modem"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("from=x", "found no number"),
        ("service_group=0", "cannot be"),
        ("service_group=1x", "cannot be"),
        ("modem=02", "cannot be"),
        ("a=1,b=2,c=3,d=4,e=5", "more than 4"),
        ("x" * 300, "more than 255"),
    ],
)
def test_invalid_parameters_are_rejected(parameters: str, message: str, telemetry: Vcmtsd) -> None:
    with pytest.raises(MistakeError, match=message):
        telemetry.ask("/vcmts/metrics", parameters)


def test_lcore_commands_return_load_and_cores(telemetry: Vcmtsd) -> None:
    """Answers as of DPDK, and of the patches of CommsPowerManagement."""
    assert telemetry.ask("/eal/lcore/list") == [0, 1, 2]
    first, usage = (telemetry.ask("/eal/lcore/usage") for _ in range(2))
    assert set(usage) >= {"lcore_ids", "total_cycles", "busy_cycles"}
    lcores = usage["lcore_ids"]
    assert lcores == [1, 2]
    for before, after, busy in zip(
        first["total_cycles"], usage["total_cycles"], usage["busy_cycles"], strict=True
    ):
        assert 0 <= busy <= after and before <= after
    until(lambda: telemetry.ask("/eal/lcore/busyness")["1"] == 100, "a busy core")
    until(lambda: telemetry.ask("/eal/lcore/busyness")["2"] == 0, "an idle core")
    assert telemetry.ask("/eal/lcore/busyness")["0"] == -1
    used = telemetry.ask("/eal/lcore/capacity_used")
    assert set(used) == {"0", "1", "2"} and used["0"] == -1
    assert all(value >= -1 for value in used.values())
    cores = {"0": [CPUS[0]], "1": [CORES[0]], "2": [CORES[1]]}
    assert telemetry.ask("/eal/lcore/cpuset") == cores


def test_busyness_can_be_disabled(telemetry: Vcmtsd) -> None:
    assert telemetry.ask("/eal/lcore/busyness_disable") == {"busyness_enabled": 0}
    assert set(telemetry.ask("/eal/lcore/busyness").values()) == {-1}
    assert set(telemetry.ask("/eal/lcore/capacity_used").values()) == {-1}
    assert telemetry.ask("/eal/lcore/busyness_enable") == {"busyness_enabled": 1}
    until(lambda: telemetry.ask("/eal/lcore/busyness")["1"] >= 0, "a core with known load")


def load_endpoint() -> ModuleType:
    """Loads the endpoint as the exporter does."""
    path = CHECKOUT / "deploy/dpdk-exporter/vcmts.py"
    spec = importlib.util.spec_from_file_location("vcmts_endpoint", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TelemetrySocket:
    """Stand-in for the socket that the exporter passes to an endpoint."""

    def __init__(self, telemetry: Vcmtsd) -> None:
        self._asked = telemetry

    def cmd(self, uri: str, arg: Any = None) -> Any:
        return self._asked.ask(uri, None if arg is None else str(arg))


def test_exporter_endpoint_returns_described_samples(telemetry: Vcmtsd) -> None:
    """Every sample has a description, a type and labels, and is unique."""
    until(lambda: max(get_metrics(telemetry, "worker_busy").values()) > 0, "a worker that was busy")
    endpoint = load_endpoint()
    info = endpoint.info()
    assert dict(info.items()) == {}
    samples = endpoint.metrics(TelemetrySocket(telemetry))
    seen = {(name, *sorted(labels.items())) for name, _, labels in samples}
    assert len(seen) == len(samples) > 200
    for name, value, _ in samples:
        description, kind = info[name]
        counts = name.endswith(("_total", "_sum", "_count"))
        assert name in description and kind == ("counter" if counts else "gauge")
        assert not name.startswith("vcmts_") and value >= 0
    group = {"service_group": "1", "reason": "unknown_destination"}
    assert ("downstream_dropped_packets_total", *sorted(group.items())) in seen
    busy = [value for name, value, _ in samples if name == "worker_busy_seconds_total"]
    assert len(busy) == 2 and 0 < max(busy) < 86400
