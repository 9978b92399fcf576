# SPDX-License-Identifier: BSD-3-Clause
"""Control socket of a vcmtsd in service: answers, reloads, path and mode of the socket, signals."""

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

from e2e.control.server import (
    NULL_PORTS,
    config_folder,
    config_text,
    connect_raw,
    request,
    responds,
    start_server,
)
from e2e.ports import Run, serve
from e2e.running import vcmts, vcmtsd
from patience import TIMEOUT, until
from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.paths import program

MAC = "02:01:00:00:00:02"


@pytest.fixture
def folder() -> Iterator[Path]:
    with config_folder() as path:
        yield path


def change_answers(client: Client) -> dict[str, Any]:
    """Answers of methods that change the configuration. At the end it is as before."""
    config = client.call("config.get", keys=True)["config"]["service_groups"][0]
    modem, channel, group = config["modems"][3], config["channels"][0], config["bonding_groups"][0]
    said, key = config["modems"][2]["security"]["said"], "00" * 16
    rule = {"family": "ipv4", "action": "permit"}
    slower = channel | {"rate": "600 Mbps"}
    upstream_channel = {"id": 1, "type": "ofdma", "rate": "100 Mbps", "session": 99}
    with pytest.raises(RefusedError, match="upstream_channel"):  # it has no upstream
        client.call("upstream_channel.add", upstream_channel=upstream_channel)
    answers = {
        "modem.remove": client.call("modem.remove", mac=modem["mac"]),
        "modem.add": client.call("modem.add", modem=modem),
        "modem.set": client.call("modem.set", modem={"mac": modem["mac"], "cpe_limit": 3}),
        "modem.replace": client.call("modem.replace", modem=modem),
        "channel.replace": client.call("channel.replace", channel=slower),
        "channel.set": client.call("channel.set", channel=channel),
        "bonding_group.replace": client.call("bonding_group.replace", bonding_group=group),
        "filter_group.add": client.call(
            "filter_group.add", filter_group={"id": 9, "rules": [rule]}
        ),
        "filter_group.remove": client.call("filter_group.remove", id=9),
        "upstream_channel.none": None,  # stands for its methods, which this server refuses
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


def test_answers_match_their_schemas(client: Client) -> None:
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
        "config.changes": client.call("config.changes"),
        "config.save": client.call("config.save"),
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
        **change_answers(client),
    }
    schemas = {method["name"]: method["result"]["schema"] for method in described["methods"]}
    families = {name.split(".")[0] for name in answers}
    assert families == {name.split(".")[0] for name in schemas}
    answers.pop("upstream_channel.none")
    for name, answer in answers.items():
        jsonschema.validate(answer, schemas[name])
    samples = {
        (sample["name"], sample["labels"].get("modem"))
        for sample in answers["metrics.get"]["samples"]
    }
    assert {("vcmts_flow_packets_total", MAC), ("vcmts_worker_rounds_total", None)} <= samples
    assert client.call("modem.get", mac=MAC)["service_flows"][0]["id"] == 2
    listed = client.call("modem.list", first=answers["modem.list"]["next"])
    assert [modem["mac"][-1] for modem in listed["modems"]] == ["3", "4"] and "next" not in listed


def test_reload_applies_differences_or_nothing(folder: Path) -> None:
    with start_server(folder) as (run, path), Client(path, TIMEOUT) as client:
        (folder / "sg.yaml").write_text(config_text("800 Mbps"))
        assert client.call("config.reload")["done"].endswith("reloaded: 1 channel changed")
        assert client.call("group.get")["channels"][0]["rate"] == 800_000_000
        (folder / "sg.yaml").write_text(config_text(core="192.0.2.9"))
        with pytest.raises(RefusedError, match=r"rphy\.core_ip: .*nothing was changed"):
            client.call("config.reload")
        (folder / "sg.yaml").write_text("channels: nonsense\n")
        with pytest.raises(RefusedError, match=r"nothing was changed: .*sg\.yaml:1: "):
            client.call("config.reload")
        assert client.call("server.info")["groups"][0]["modems"] == 4
        assert run.stop().status == 0


def test_many_reload_signals_apply_last_file(folder: Path) -> None:
    """Clients are served meanwhile. SIGTERM ends vcmtsd while requests are pending."""

    def edit(rate: int) -> None:
        new = folder / "new.yaml"
        new.write_text(config_text(f"{rate} Mbps"))
        new.rename(folder / "sg.yaml")
        for _ in range(20):
            run.process.send_signal(signal.SIGHUP)

    def rate() -> int:
        rate_: int = client.call("group.get")["channels"][0]["rate"]
        return rate_ // 1_000_000

    with (
        start_server(folder) as (run, path),
        Client(path, TIMEOUT) as client,
        connect_raw(path) as raw,
    ):
        for number in range(20):
            edit(700 + number % 2)
            assert rate() in (700, 701, 900)
        edit(800)
        until(lambda: rate() == 800, "the last file")
        raw.sendall(request("config.reload") * 50)
        run.process.send_signal(signal.SIGHUP)
        assert run.stop().status == 0


def test_second_process_with_same_socket_is_rejected(folder: Path) -> None:
    """The second process ends with one line and leaves the socket unchanged."""
    with start_server(folder) as (run, path):
        done = vcmtsd("run", "--config", folder / "sg.yaml", *NULL_PORTS, "--control-socket", path)
        assert done.status == 2
        text = (
            f"control socket {path}: another process serves this socket; each process needs its own"
        )
        assert done.stderr == f"vcmtsd: {text}\n"
        assert responds(path)
        assert run.stop().status == 0
    assert sorted(file.name for file in folder.iterdir()) == ["sg.yaml"]


def file_mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_socket_has_configured_mode(folder: Path) -> None:
    with start_server(folder) as (run, path):
        assert file_mode(path) == 0o600
        assert f"vcmtsd: control socket {path}\n" in run.stderr
    before = os.umask(0o077)
    try:
        with start_server(folder, "--control-mode", "0660") as (run, path):
            assert file_mode(path) == 0o660
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--control-mode", "0999"), "--control-mode: found"),
        (("--control-mode", "01000"), "--control-mode: found"),
        (("--control-socket", "/no/such/folder/c.sock"), "No such file or directory"),
        (("--control-socket", "/" + "x" * 120), "longer than 107 bytes"),
        (("--control-socket", "{folder}/sg.yaml"), "found a file that is no socket"),
    ],
)
def test_invalid_socket_is_rejected(folder: Path, options: tuple[str, ...], message: str) -> None:
    arguments = (word.format(folder=folder) for word in options)
    done = vcmtsd("run", "--config", folder / "sg.yaml", *NULL_PORTS, *arguments)
    assert done.status == 2 and message in done.messages[0], done.stderr
    assert "serving" not in done.stderr and (folder / "sg.yaml").read_text() == config_text()


def socket_path(run: Run) -> Path:
    [line] = [line for line in run.stderr if line.startswith("vcmtsd: control socket ")]
    return Path(line.split()[-1])


def test_default_socket_path_is_unique(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes in RUNTIME_DIRECTORY. The tool finds a socket if it is the only one."""
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(folder))
    options = ("--config", folder / "sg.yaml", *NULL_PORTS)
    with serve(*options) as first:
        path = socket_path(first)
        assert path == folder / "vcmts" / f"{first.process.pid}-control.sock"
        assert file_mode(path.parent) == 0o700
        with serve(*options) as second:
            assert socket_path(second) != path
            done = vcmts("control", "group.list", "--socket", socket_path(second))
            assert done.status == 0
            done = vcmts("control", "group.list")
            assert done.status == 2 and f"--pid {second.process.pid}" in done.stderr
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


def test_signal_ends_vcmtsd_with_connected_clients(folder: Path) -> None:
    """Connected clients do not delay the end."""
    for number in (signal.SIGTERM, signal.SIGINT):
        with start_server(folder) as (run, path), Client(path, TIMEOUT) as client:
            assert client.call("group.list")["groups"]
            assert run.stop(number).status == 0
            with pytest.raises((ClosedError, BrokenPipeError, ConnectionResetError)):
                client.call("group.list")


def test_describe_needs_no_runtime_directory() -> None:
    done = subprocess.run(
        [program("vcmtsd"), "describe", "--rpc"],
        env={"RUNTIME_DIRECTORY": "/no/such/folder"},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b"" and json.loads(done.stdout)["openrpc"] == "1.3.2"
    assert vcmtsd("describe", "--more").status == 2
