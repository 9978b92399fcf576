# SPDX-License-Identifier: BSD-3-Clause
"""events.subscribe: a client that applies all events has the configuration in service."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from e2e.changes.event_follower import Follower, differences
from e2e.control.server import IDLE_SLEEP, config_folder, config_text
from e2e.ports import Run, serve
from patience import TIMEOUT
from vcmts.control.client import Client, ClosedError
from vcmts.paths import CHECKOUT

Json = dict[str, Any]
KEY = "00112233445566778899aabbccddeeff"
UPSTREAM = [{"id": 1, "type": "ofdma", "rate": "100 Mbps", "session": 99}]


def group(number: int, first: int = 1) -> Json:
    """A service group with ports of its own. `first`: number of its first modem."""
    config: Json = yaml.load(config_text(), Loader=yaml.BaseLoader)
    config |= {"service_group": number, "name": f"sg-{number}"}
    config["ports"] = {
        "network": {"device": f"net_null{2 * number},no-rx=1", "queue_size": 512},
        "rphy": {"device": f"net_null{2 * number + 1},no-rx=1", "queue_size": 512},
    }
    config["filter_groups"] = [{"id": 1, "rules": [{"family": "ipv4", "action": "permit"}]}]
    config["upstream_channels"] = [item | {"session": 99 + number} for item in UPSTREAM]
    for modem in config["modems"]:
        modem["filter_groups"] = [1]
        modem["security"]["said"] = "7" if modem["mac"][-1] in "12" else modem["mac"][-1]
        modem["security"]["key"] = KEY if modem["mac"][-1] in "12" else modem["security"]["key"]
    config["modems"] = config["modems"][first - 1 :]
    return config


@pytest.fixture
def folder() -> Iterator[Path]:
    with config_folder() as path:
        (path / "three.yaml").write_text(json.dumps(group(3)))
        write_server(path, [group(1), group(2)])
        yield path


def write_server(folder: Path, groups: list[Json]) -> None:
    server = {"max_groups": 4, "max_modems": 64, "max_queued": 2048, "service_groups": groups}
    (folder / "sg.yaml").write_text(json.dumps(server))


@pytest.fixture
def served(folder: Path) -> Iterator[Path]:
    path = folder / "control.sock"
    with serve("--config", folder / "sg.yaml", "--control-socket", path, *IDLE_SLEEP) as run:
        yield path
        assert ends_without_error(run)


def ends_without_error(run: Run) -> bool:
    return run.process.poll() is not None or run.stop().status == 0


@pytest.fixture
def client(served: Path) -> Iterator[Client]:
    with Client(served, TIMEOUT) as connected:
        yield connected


def subscribe(client: Client, *, keys: bool = True) -> Follower:
    follower = Follower()
    client.call("events.subscribe", keys=keys)
    follower.load(client.call("config.get", keys=keys))
    return follower


def apply_events(client: Client, follower: Follower, *, keys: bool = True) -> Json:
    """Gets the configuration, applies all events up to it, and returns it."""
    answer: Json = client.call("config.get", keys=keys)
    events = client.events()
    while follower.next < answer["sequence"]:
        follower.apply(next(events))
    return answer


def modem_calls(modem: Json, number: int) -> list[tuple[str, Json]]:
    """Changes of a modem, of a new modem and of keys: method and parameters each."""
    security: Json = modem.get("security", {})
    said = security.get("said", 1)
    added = modem | {
        "mac": f"02:01:00:00:00:{number:02x}",
        "addresses": [f"10.0.0.{number}"],
        "security": security | {"said": number},
        "service_flows": [{"id": number, "dsid": number}],
    }
    replaced = modem | {"security": security | {"key": f"{number:032x}"}}
    return [
        ("modem.set", {"modem": {"mac": modem["mac"], "cpe_limit": number % 8 + 1}}),
        ("modem.remove", {"mac": modem["mac"]}),
        ("modem.add", {"modem": added}),
        ("modem.replace", {"modem": replaced}),
        *[("key.install", {"said": said, "key": f"{number:032x}", "iv": f"{number:032x}"})] * 2,
        *[("key.use", {"said": said})] * 2,
        *[("key.remove", {"said": said})] * 2,
    ]


def other_calls(number: int) -> list[tuple[str, Json]]:
    """Changes of channels, rules, bonding groups and the group: method and parameters each."""
    channel = {"id": number, "type": "ofdm", "rate": "100 Mbps", "session": 1000 + number}
    rules = {"id": number, "rules": [{"family": "ipv6", "action": "deny"}]}
    upstream = UPSTREAM[0] | {"id": number, "session": 2000 + number}
    return [
        ("channel.set", {"channel": {"id": 11, "rate": f"{number * 20} Mbps"}}),
        ("channel.add", {"channel": channel}),
        ("channel.remove", {"id": number}),
        ("filter_group.add", {"filter_group": rules}),
        ("filter_group.remove", {"id": number}),
        ("bonding_group.add", {"bonding_group": {"id": number, "channels": [11]}}),
        ("bonding_group.replace", {"bonding_group": {"id": 1, "channels": [12, 11]}}),
        ("upstream_channel.add", {"upstream_channel": upstream}),
        ("upstream_channel.set", {"upstream_channel": {"id": 1, "rate": f"{number} Mbps"}}),
        ("group.set", {"values": {"rate_limit": f"{number} Gbps"}}),
    ]


def random_call(random: Random, config: Json, folder: Path) -> tuple[str, Json]:
    """A random change, which may be refused."""
    number = random.choice([1, 2, 3])
    groups = {int(g["service_group"]): g for g in config["config"]["service_groups"]}
    modems = groups.get(number, {}).get("modems", [])
    modem: Json = random.choice(modems) if modems else {"mac": "02:01:00:00:00:01"}
    new_number = random.randrange(5, 40)
    if random.random() < 0.1:
        group_calls: list[tuple[str, Json]] = [
            ("group.add", {"file": str(folder / "three.yaml")}),
            ("group.remove", {"group": number, "limit": "0 ms"}),
            ("config.reload", {"force": True}),
        ]
        return random.choice(group_calls)
    method, params = random.choice([*modem_calls(modem, new_number), *other_calls(new_number)])
    return method, {"group": number, **params}


@pytest.mark.parametrize("seed", range(3))
def test_events_describe_all_changes(client: Client, served: Path, folder: Path, seed: int) -> None:
    """Two clients send random changes, in batches. Applied to the initial configuration, the events
    result in the configuration in service."""
    random = Random(seed)
    follower = subscribe(client)
    with Client(served, TIMEOUT) as second:
        keyless = subscribe(second, keys=False)
        for _ in range(12):
            config = client.call("config.get", keys=True)
            calls = [random_call(random, config, folder) for _ in range(random.randrange(1, 12))]
            if any(method == "config.reload" for method, _ in calls):
                groups = [group(n) for n in random.sample([1, 2, 3], random.randrange(1, 4))]
                for item in groups:
                    item["modems"][0]["cpe_limit"] = random.randrange(1, 9)
                write_server(folder, groups)
            random.choice([client, second]).calls(calls)
            answer = apply_events(client, follower)
            assert differences(follower, answer) == []
        assert differences(keyless, apply_events(second, keyless, keys=False)) == []
    assert sum(event["event"] == "applied" for event in follower.events) > 20


def test_tool_prints_events_until_vcmtsd_ends(served: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "vcmts", "control", "--socket", served, "events.subscribe"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT / "tools",
    ) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()).keys() == {"sequence", "generation"}
        with Client(served, TIMEOUT) as client:
            client.call("group.set", group=1, values={"rate_limit": "1 Gbps"})
            lines = [json.loads(process.stdout.readline()) for _ in range(4)]
            assert [line["event"] for line in lines] == ["prepared", "object", "applied", "retired"]
            pid = client.call("server.info")["pid"]
            client.call("events.subscribe")
            subprocess.run(["kill", str(pid)], check=True)
            with pytest.raises(ClosedError):
                next(client.events())
        _, stderr = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 1 and "ended the connection" in stderr
