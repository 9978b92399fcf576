# SPDX-License-Identifier: BSD-3-Clause
"""The control socket of a vcmtsd in service: what it tells, where it is, and who may use it."""

import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from e2e.control.controlled import (
    NOWHERE,
    config_text,
    connection,
    controlled,
    is_served,
    place,
    request,
)
from e2e.ports import Run, serve
from e2e.running import vcmts, vcmtsd
from patience import TIMEOUT, until
from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.paths import program

MAC = "02:01:00:00:00:02"


@pytest.fixture
def folder() -> Iterator[Path]:
    with place() as made:
        yield made


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    with controlled(folder) as (run, path):
        with Client(path, TIMEOUT) as made:
            yield made
        assert run.stop().status == 0


def changed(client: Client) -> dict[str, Any]:
    """What changes, and is as it was at the end."""
    config = client.call("config.get", keys=True)["config"]["service_groups"][0]
    modem, channel, group = config["modems"][3], config["channels"][0], config["bonding_groups"][0]
    said, key = config["modems"][2]["security"]["said"], "00" * 16
    rule = {"family": "ipv4", "action": "permit"}
    slow = channel | {"rate": "600 Mbps"}
    up = {"id": 1, "type": "ofdma", "rate": "100 Mbps", "session": 99}
    with pytest.raises(RefusedError, match="upstream_channel"):  # it has none to begin with
        client.call("upstream_channel.add", upstream_channel=up)
    answers = {
        "modem.remove": client.call("modem.remove", modem={"mac": modem["mac"]}),
        "modem.add": client.call("modem.add", modem=modem),
        "modem.set": client.call("modem.set", modem={"mac": modem["mac"], "cpe_limit": 3}),
        "modem.replace": client.call("modem.replace", modem=modem),
        "channel.replace": client.call("channel.replace", channel=slow),
        "channel.set": client.call("channel.set", channel=channel),
        "bonding_group.replace": client.call("bonding_group.replace", bonding_group=group),
        "filter_group.add": client.call(
            "filter_group.add", filter_group={"id": 9, "rules": [rule]}
        ),
        "filter_group.remove": client.call("filter_group.remove", filter_group={"id": 9}),
        "upstream_channel.none": None,
        "group.set": client.call("group.set", values={"rate_limit": "9 Gbps"}),
        "group.drain": client.call("group.drain"),
        "group.resume": client.call("group.resume"),
        "key.install": client.call("key.install", said=said, key=key, iv=key),
        "key.use": client.call("key.use", said=said),
        "key.remove": client.call("key.remove", said=said),
    }
    client.call("modem.replace", modem=config["modems"][2])
    client.call("group.set", values={"rate_limit": config["rate_limit"]})
    [after] = client.call("config.get", keys=True)["config"]["service_groups"]
    assert after == config
    return answers


def test_answers_are_as_described(client: Client) -> None:
    """What the page promises is kept."""
    described = client.call("rpc.discover")
    assert described == json.loads(vcmtsd("describe", "--rpc").stdout)
    answers: dict[str, Any] = {
        "server.info": client.call("server.info"),
        "group.list": client.call("group.list"),
        "group.get": client.call("group.get", group=1),
        "modem.list": client.call("modem.list", count=2),
        "modem.get": client.call("modem.get", mac=MAC),
        "counters.get": client.call("counters.get"),
        "metrics.get": client.call("metrics.get", modem=MAC),
        "config.get": client.call("config.get"),
        "config.reload": client.call("config.reload"),
        "measure.set": client.call("measure.set", latency=True),
        "measure.get": client.call("measure.get"),
        "scheduler.get": client.call("scheduler.get"),
        "flow.get": client.call("flow.get", id=1),
        "modem.flows": client.call("modem.flows", mac=MAC),
        "latency.get": client.call("latency.get", reset=True),
        "worker.list": client.call("worker.list", anew=True),
        "power.get": client.call("power.get"),
        "events.subscribe": client.call("events.subscribe", groups=[1]),
        **changed(client),
    }
    schemas = {method["name"]: method["result"]["schema"] for method in described["methods"]}
    families = {name.split(".")[0] for name in answers}
    assert families == {name.split(".")[0] for name in schemas}
    answers.pop("upstream_channel.none")
    for name, answer in answers.items():
        jsonschema.validate(answer, schemas[name])
    told = {
        (sample["name"], sample["labels"].get("modem"))
        for sample in answers["metrics.get"]["samples"]
    }
    assert {("vcmts_flow_packets_total", MAC), ("vcmts_worker_rounds_total", None)} <= told
    assert client.call("modem.get", mac=MAC)["service_flows"][0]["id"] == 2
    listed = client.call("modem.list", first=answers["modem.list"]["next"])
    assert [modem["mac"][-1] for modem in listed["modems"]] == ["3", "4"] and "next" not in listed


def test_the_file_is_read_again(folder: Path) -> None:
    with controlled(folder) as (run, path), Client(path, TIMEOUT) as client:
        (folder / "sg.yaml").write_text(config_text("800 Mbps"))
        assert client.call("config.reload")["done"].endswith("read again: 1 channel changed")
        assert client.call("group.get")["channels"][0]["rate"] == 800_000_000
        (folder / "sg.yaml").write_text(config_text(core="192.0.2.9"))
        with pytest.raises(RefusedError, match=r"rphy\.core_ip: .*nothing was changed"):
            client.call("config.reload")
        (folder / "sg.yaml").write_text("channels: nonsense\n")
        with pytest.raises(RefusedError, match=r"nothing was changed: .*sg\.yaml:1: "):
            client.call("config.reload")
        assert client.call("server.info")["groups"][0]["modems"] == 4
        assert run.stop().status == 0


def test_a_storm_of_signals(folder: Path) -> None:
    """Clients are served, what the file says last is done, and it ends in the midst of requests."""

    def edit(rate: int) -> None:
        new = folder / "new.yaml"
        new.write_text(config_text(f"{rate} Mbps"))
        new.rename(folder / "sg.yaml")
        for _ in range(20):
            run.process.send_signal(signal.SIGHUP)

    def rate() -> int:
        found: int = client.call("group.get")["channels"][0]["rate"]
        return found // 1_000_000

    with (
        controlled(folder) as (run, path),
        Client(path, TIMEOUT) as client,
        connection(path) as other,
    ):
        for turn in range(20):
            edit(700 + turn % 2)
            assert rate() in (700, 701, 900)
        edit(800)
        until(lambda: rate() == 800, "the last file")
        other.sendall(request("config.reload") * 50)
        run.process.send_signal(signal.SIGHUP)
        assert run.stop().status == 0


def test_a_second_process_with_the_same_socket(folder: Path) -> None:
    """It ends before it has touched anything, with one line."""
    with controlled(folder) as (run, path):
        done = vcmtsd("run", "--config", folder / "sg.yaml", *NOWHERE, "--control-socket", path)
        assert done.status == 2
        said = f"control socket {path}: another process serves here; each needs a socket of its own"
        assert done.stderr == f"vcmtsd: {said}\n"
        assert is_served(path)
        assert run.stop().status == 0
    assert sorted(file.name for file in folder.iterdir()) == ["sg.yaml"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_mode_of_the_file(folder: Path) -> None:
    with controlled(folder) as (run, path):
        assert mode(path) == 0o600
        assert f"vcmtsd: control socket {path}\n" in run.stderr
    before = os.umask(0o077)
    try:
        with controlled(folder, "--control-mode", "0660") as (run, path):
            assert mode(path) == 0o660
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--control-mode", "0999"), "--control-mode: found"),
        (("--control-mode", "01000"), "--control-mode: found"),
        (("--control-socket", "/no/such/folder/c.sock"), "No such file or directory"),
        (("--control-socket", "/" + "x" * 120), "longer than 107 bytes"),
        (("--control-socket", "{folder}/sg.yaml"), "found a file that is no socket"),
    ],
)
def test_places_that_cannot_be(folder: Path, options: tuple[str, ...], said: str) -> None:
    words = (word.format(folder=folder) for word in options)
    done = vcmtsd("run", "--config", folder / "sg.yaml", *NOWHERE, *words)
    assert done.status == 2 and said in done.messages[0], done.stderr
    assert "serving" not in done.stderr and (folder / "sg.yaml").read_text() == config_text()


def told_socket(run: Run) -> Path:
    [line] = [line for line in run.stderr if line.startswith("vcmtsd: control socket ")]
    return Path(line.split()[-1])


def test_where_it_is_by_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two beside each other; the tool finds the only one."""
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(folder))
    options = ("--config", folder / "sg.yaml", *NOWHERE)
    with serve(*options) as first:
        path = told_socket(first)
        assert path == folder / "vcmts" / f"{first.process.pid}-control.sock"
        assert mode(path.parent) == 0o700
        with serve(*options) as second:
            assert told_socket(second) != path
            done = vcmts("control", "group.list", "--socket", told_socket(second))
            assert done.status == 0
            done = vcmts("control", "group.list")
            assert done.status == 2 and "found several" in done.stderr
            assert second.stop().status == 0
        with serve(*options, "--control-socket", "none") as silent:
            assert not any("control socket" in line for line in silent.stderr)
            assert silent.stop().status == 0
        assert first.stop().status == 0
    assert list(path.parent.iterdir()) == []
    path.parent.chmod(0o770)
    with serve(*options) as run:
        [line] = [line for line in run.stderr if "control socket" in line]
        assert "no control socket: " in line and "others may write" in line
        assert run.stop().status == 0


def test_a_signal_ends_it_with_clients(folder: Path) -> None:
    """Those who are connected, or ask, hold up nothing."""
    for number in (signal.SIGTERM, signal.SIGINT):
        with controlled(folder) as (run, path), Client(path, TIMEOUT) as client:
            assert client.call("group.list")["groups"]
            assert run.stop(number).status == 0
            with pytest.raises((ClosedError, BrokenPipeError, ConnectionResetError)):
                client.call("group.list")


def test_nothing_is_started_to_describe() -> None:
    done = subprocess.run(
        [program("vcmtsd"), "describe", "--rpc"],
        env={"RUNTIME_DIRECTORY": "/no/such/folder"},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b"" and json.loads(done.stdout)["openrpc"] == "1.3.2"
    assert vcmtsd("describe", "--more").status == 2
