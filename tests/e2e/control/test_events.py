# SPDX-License-Identifier: BSD-3-Clause
"""events.subscribe at a vcmtsd in service: what events tell makes the configuration."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from e2e.changes.followed import Follower, differences
from e2e.control.controlled import SLEEP, config_text, place
from e2e.ports import Run, serve
from patience import TIMEOUT, until
from vcmts.control.client import Client, ClosedError
from vcmts.paths import CHECKOUT

Json = dict[str, Any]
KEY = "00112233445566778899aabbccddeeff"
UPSTREAM = [{"id": 1, "type": "ofdma", "rate": "100 Mbps", "session": 99}]


def group(number: int, first: int = 1) -> Json:
    """A service group of some modems, on ports of its own."""
    made: Json = yaml.load(config_text(), Loader=yaml.BaseLoader)
    made |= {"service_group": number, "name": f"sg-{number}"}
    made["ports"] = {
        "network": {"device": f"net_null{2 * number},no-rx=1", "queue_size": 512},
        "rphy": {"device": f"net_null{2 * number + 1},no-rx=1", "queue_size": 512},
    }
    made["filter_groups"] = [{"id": 1, "rules": [{"family": "ipv4", "action": "permit"}]}]
    made["upstream_channels"] = [item | {"session": 99 + number} for item in UPSTREAM]
    for modem in made["modems"]:
        modem["filter_groups"] = [1]
        modem["security"]["said"] = "7" if modem["mac"][-1] in "12" else modem["mac"][-1]
        modem["security"]["key"] = KEY if modem["mac"][-1] in "12" else modem["security"]["key"]
    made["modems"] = made["modems"][first - 1 :]
    return made


@pytest.fixture
def folder() -> Iterator[Path]:
    with place() as made:
        (made / "three.yaml").write_text(json.dumps(group(3)))
        write(made, [group(1), group(2)])
        yield made


def write(folder: Path, groups: list[Json]) -> None:
    whole = {"max_groups": 4, "max_modems": 64, "max_queued": 2048, "service_groups": groups}
    (folder / "sg.yaml").write_text(json.dumps(whole))


@pytest.fixture
def served(folder: Path) -> Iterator[Path]:
    path = folder / "control.sock"
    with serve("--config", folder / "sg.yaml", "--control-socket", path, *SLEEP) as run:
        yield path
        assert ended_well(run)


def ended_well(run: Run) -> bool:
    return run.process.poll() is not None or run.stop().status == 0


@pytest.fixture
def client(served: Path) -> Iterator[Client]:
    with Client(served, TIMEOUT) as made:
        yield made


def joined(client: Client, *, keys: bool = True) -> Follower:
    made = Follower()
    client.call("events.subscribe", keys=keys)
    made.join(client.call("config.get", keys=keys))
    return made


def follow(client: Client, follower: Follower, *, keys: bool = True) -> Json:
    """All events up to a configuration, which is returned."""
    answer: Json = client.call("config.get", keys=keys)
    events = client.events()
    while follower.next < answer["sequence"]:
        follower.take(next(events))
    return answer


def changes(*objects: tuple[str, str]) -> list[tuple[str, str, str]]:
    inner = [("object", *one) for one in objects]
    return [("prepared", "", ""), *inner, ("applied", "", ""), ("retired", "", "")]


def retired(client: Client, follower: Follower) -> None:
    """Until what was replaced has left."""
    until(lambda: bool(follow(client, follower)) and not follower.applied, "changes are retired")


def modem_calls(modem: Json, fresh: int) -> list[tuple[str, Json]]:
    security: Json = modem.get("security", {})
    said = security.get("said", 1)
    added = modem | {
        "mac": f"02:01:00:00:00:{fresh:02x}",
        "addresses": [f"10.0.0.{fresh}"],
        "security": security | {"said": fresh},
        "service_flows": [{"id": fresh, "dsid": fresh}],
    }
    replaced = modem | {"security": security | {"key": f"{fresh:032x}"}}
    return [
        ("modem.set", {"modem": {"mac": modem["mac"], "cpe_limit": fresh % 8 + 1}}),
        ("modem.remove", {"modem": {"mac": modem["mac"]}}),
        ("modem.add", {"modem": added}),
        ("modem.replace", {"modem": replaced}),
        *[("key.install", {"said": said, "key": f"{fresh:032x}", "iv": f"{fresh:032x}"})] * 2,
        *[("key.use", {"said": said})] * 2,
        *[("key.remove", {"said": said})] * 2,
    ]


def other_calls(fresh: int) -> list[tuple[str, Json]]:
    channel = {"id": fresh, "type": "ofdm", "rate": "100 Mbps", "session": 1000 + fresh}
    rules = {"id": fresh, "rules": [{"family": "ipv6", "action": "deny"}]}
    upstream = UPSTREAM[0] | {"id": fresh, "session": 2000 + fresh}
    return [
        ("channel.set", {"channel": {"id": 11, "rate": f"{fresh * 20} Mbps"}}),
        ("channel.add", {"channel": channel}),
        ("channel.remove", {"channel": {"id": fresh}}),
        ("filter_group.add", {"filter_group": rules}),
        ("filter_group.remove", {"filter_group": {"id": fresh}}),
        ("bonding_group.add", {"bonding_group": {"id": fresh, "channels": [11]}}),
        ("bonding_group.replace", {"bonding_group": {"id": 1, "channels": [12, 11]}}),
        ("upstream_channel.add", {"upstream_channel": upstream}),
        ("upstream_channel.set", {"upstream_channel": {"id": 1, "rate": f"{fresh} Mbps"}}),
        ("group.set", {"values": {"rate_limit": f"{fresh} Gbps"}}),
    ]


def random_call(random: Random, config: Json, folder: Path) -> tuple[str, Json]:
    """A change that may be refused."""
    number = random.choice([1, 2, 3])
    groups = {int(g["service_group"]): g for g in config["config"]["service_groups"]}
    modems = groups.get(number, {}).get("modems", [])
    modem: Json = random.choice(modems) if modems else {"mac": "02:01:00:00:00:01"}
    fresh = random.randrange(5, 40)
    if random.random() < 0.1:
        rare: list[tuple[str, Json]] = [
            ("group.add", {"file": str(folder / "three.yaml")}),
            ("group.remove", {"group": number, "limit": "0 ms"}),
            ("config.reload", {}),
        ]
        return random.choice(rare)
    method, params = random.choice([*modem_calls(modem, fresh), *other_calls(fresh)])
    return method, {"group": number, **params}


@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_changes(client: Client, served: Path, folder: Path, seed: int) -> None:
    """Whatever is asked for, alone or in arrays, by several: events on the initial configuration
    make the one in service."""
    random = Random(seed)
    follower = joined(client)
    with Client(served, TIMEOUT) as second:
        plain = joined(second, keys=False)
        for _ in range(12):
            config = client.call("config.get", keys=True)
            calls = [random_call(random, config, folder) for _ in range(random.randrange(1, 12))]
            if any(method == "config.reload" for method, _ in calls):
                groups = [group(n) for n in random.sample([1, 2, 3], random.randrange(1, 4))]
                for item in groups:
                    item["modems"][0]["cpe_limit"] = random.randrange(1, 9)
                write(folder, groups)
            random.choice([client, second]).calls(calls)
            truth = follow(client, follower)
            assert differences(follower, truth) == []
        assert differences(plain, follow(second, plain, keys=False)) == []
    assert sum(event["event"] == "applied" for event in follower.seen) > 20


def test_printed_and_iterated(served: Path) -> None:
    """By the tool: a line each, until vcmtsd ends."""
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
