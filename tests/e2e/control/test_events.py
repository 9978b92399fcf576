# SPDX-License-Identifier: BSD-3-Clause
"""events.subscribe at a vcmtsd in service: what events tell makes the configuration."""

import json
import subprocess
import sys
import time
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
from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.paths import CHECKOUT

Json = dict[str, Any]
KEY = "00112233445566778899aabbccddeeff"
SECRETS = ("key", "iv", "next_key", "next_iv")
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


def told(follower: Follower) -> list[tuple[str, str, str]]:
    """(event, kind, action) of what has come since the last time."""
    found = [(e["event"], e.get("kind", ""), e.get("action", "")) for e in follower.seen]
    follower.seen.clear()
    return found


def changes(*objects: tuple[str, str]) -> list[tuple[str, str, str]]:
    inner = [("object", *one) for one in objects]
    return [("prepared", "", ""), *inner, ("applied", "", ""), ("retired", "", "")]


def retired(client: Client, follower: Follower) -> None:
    """Until what was replaced has left."""
    until(lambda: bool(follow(client, follower)) and not follower.applied, "changes are retired")


def test_each_kind_of_change(client: Client, folder: Path) -> None:
    follower = joined(client)
    first = follower.groups[1].lists
    modem = first["modem"]["02:01:00:00:00:04"]
    channel = first["channel"][11]

    def made(method: str, *objects: tuple[str, str], **params: Any) -> None:
        client.call(method, **params)
        retired(client, follower)
        assert told(follower) == changes(*objects)
        assert differences(follower, client.call("config.get", keys=True)) == []

    made("modem.set", ("modem", "changed"), group=1, modem={"mac": modem["mac"], "cpe_limit": 9})
    made("modem.remove", ("modem", "removed"), group=1, modem={"mac": modem["mac"]})
    made("modem.add", ("modem", "added"), group=1, modem=modem)
    made("channel.set", ("channel", "changed"), group=1, channel={"id": 11, "rate": "600 Mbps"})
    made("channel.add", ("channel", "added"), group=2, channel=channel | {"id": 9, "session": 88})
    made("channel.remove", ("channel", "removed"), group=2, channel={"id": 9})
    made(
        "upstream_channel.add",
        ("upstream_channel", "added"),
        group=1,
        upstream_channel=UPSTREAM[0] | {"id": 2, "session": 77},
    )
    made(
        "filter_group.add",
        ("filter_group", "added"),
        group=1,
        filter_group={"id": 2, "rules": [{"family": "ipv4", "action": "deny"}]},
    )
    made(
        "bonding_group.add",
        ("bonding_group", "added"),
        group=1,
        bonding_group={"id": 2, "channels": [11]},
    )
    made("group.set", ("group", "changed"), group=2, values={"rate_limit": "9 Gbps"})
    made("key.install", ("key", "installed"), group=1, said=7, key="11" * 16, iv="22" * 16)
    made("key.use", ("key", "used"), group=1, said=7)
    made("key.remove", ("key", "removed"), group=1, said=7)
    assert [
        m["security"]["key"]
        for m in follower.groups[1].lists["modem"].values()
        if m["security"]["said"] == 7
    ] == ["11" * 16] * 2
    client.call("group.add", file=str(folder / "three.yaml"))
    retired(client, follower)
    added = [("group", "added"), *[("channel", "added")] * 2, ("upstream_channel", "added")]
    added += [("bonding_group", "added"), ("filter_group", "added"), *[("modem", "added")] * 4]
    assert told(follower) == changes(*added)
    assert differences(follower, client.call("config.get", keys=True)) == []
    made("group.remove", ("group", "removed"), group=3, limit="0 ms")
    with pytest.raises(RefusedError):
        client.call("modem.add", group=1, modem=modem)
    assert follow(client, follower) and told(follower) == []  # nothing was changed


def test_a_reload(client: Client, folder: Path) -> None:
    follower = joined(client)
    one, three = group(1), group(3)
    one["modems"][3]["cpe_limit"] = 5
    one["modems"][0]["security"]["key"] = one["modems"][1]["security"]["key"] = "33" * 16
    write(folder, [one, three])
    done = client.call("config.reload")["done"]
    retired(client, follower)
    assert follower.seen[-1]["done"] == done
    events = told(follower)
    assert events[-1] == ("reload", "", "")
    assert events.count(("object", "key", "changed")) == 1
    assert events.count(("object", "modem", "changed")) == 1
    assert ("object", "group", "added") in events and ("object", "group", "removed") in events
    assert differences(follower, client.call("config.get", keys=True)) == []
    client.call("config.reload")  # nothing differs
    follow(client, follower)
    assert told(follower) == [*changes(), ("reload", "", "")]


def secrets_in(value: Any) -> bool:
    if isinstance(value, dict):
        return any(key in SECRETS or secrets_in(inner) for key, inner in value.items())
    return isinstance(value, list) and any(map(secrets_in, value))


def test_keys_and_groups_are_chosen(client: Client, served: Path, folder: Path) -> None:
    """Without keys there are none; of one group there are its events alone."""
    with Client(served, TIMEOUT) as second:
        plain = joined(client, keys=False)
        second.call("events.subscribe", groups=[2])
        client.call("key.install", group=1, said=7, key="11" * 16, iv="22" * 16)
        client.call("modem.set", group=2, modem={"mac": "02:01:00:00:00:03", "cpe_limit": 4})
        client.call("group.add", file=str(folder / "three.yaml"))
        last = follow(client, plain, keys=False)["sequence"]
        assert not secrets_in(plain.seen) and len(plain.seen) > 12
        assert differences(plain, client.call("config.get")) == []
        client.call("group.set", group=2, values={"cpe_timeout": "77 s"})
        events = second.events()
        mine = [next(events)]
        while mine[-1]["event"] != "applied" or mine[-1]["sequence"] < last:
            mine.append(next(events))
        assert {e["group"] for e in mine if "group" in e} == {2}
        assert [e["object"].keys() for e in mine if e["event"] == "object"][-1] >= {"cpe_timeout"}
        with pytest.raises(RefusedError, match="allowed: a number, 1 to 65535"):
            client.call("events.subscribe", groups=[0])


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


def test_a_slow_reader_is_told(client: Client, served: Path) -> None:
    """It misses events, joins again, and knows all. The others are not held up."""
    ports: Json = {"source_ports": "1000-2000", "destination_ports": "3000-4000"}
    wide: Json = {"source": "198.51.100.0/24", "destination": "203.0.113.0/24", "protocol": "tcp"}
    rules: list[Json] = [
        {"family": "ipv4", "action": "permit", **wide, **ports} for _ in range(1000)
    ]
    with Client(served, TIMEOUT) as slow:
        follower = joined(slow)
        heard = time.monotonic()
        for n in range(240):
            rules[0] = {**rules[1], "action": "deny" if n % 2 else "permit"}
            client.call("filter_group.replace", group=1, filter_group={"id": 1, "rules": rules})
            if n % 8 == 0 or time.monotonic() > heard + 2:
                slow.hear()  # some of it: a client that reads nothing for 10 s is disconnected
                heard = time.monotonic()
        answer = follow(slow, follower)
        assert follower.missed
        follower.join(answer)
        client.call("modem.set", group=1, modem={"mac": "02:01:00:00:00:03", "cpe_limit": 4})
        assert differences(follower, follow(slow, follower)) == []
        assert not follower.missed


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
