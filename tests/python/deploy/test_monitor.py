# SPDX-License-Identifier: BSD-3-Clause
"""Tests `./vcmts monitor` without Prometheus: vcmtsd processes, options, configuration."""

import json
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.running import run
from python.deploy.test_alerts import needs_promtool
from vcmts.cli import main
from vcmts.monitor import server, targets
from vcmts.paths import data

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid inode\n"
LINE = (
    "   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     0 0 {inode} 1\n"
)


def make_process(
    root: Path,
    pid: int,
    name: str,
    sockets: dict[str, str],
    own_inodes: set[str],
    file: str = "tcp",
) -> None:
    """Makes a process in /proc. `sockets` are its namespace's, `own_inodes` are its own."""
    folder = root / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "net").mkdir()
    (folder / "comm").write_text(f"{name}\n")
    for number, inode in enumerate(sorted(own_inodes)):
        (folder / "fd" / str(number)).symlink_to(f"socket:[{inode}]")
    (folder / "fd" / "9").symlink_to("/dev/null")
    lines = [LINE.format(local=local, state="0A", inode=inode) for inode, local in sockets.items()]
    (folder / "net" / file).write_text(HEAD + "".join(lines))


@pytest.mark.parametrize(
    "text, address",
    [
        ("0100007F:24F8", "127.0.0.1:9464"),
        ("00000000:24F8", "127.0.0.1:9464"),
        ("0A0200C0:0050", "192.0.2.10:80"),
        ("00000000000000000000000001000000:24F8", "[::1]:9464"),
        ("00000000000000000000000000000000:24F8", "[::1]:9464"),
        ("B80D0120000000000000000001000000:24F8", "[2001:db8::1]:9464"),
    ],
)
def test_addresses_of_proc_net_tcp(text: str, address: str) -> None:
    assert targets.parse_address(text) == address


def test_listening_sockets_of_vcmtsd_are_found(tmp_path: Path) -> None:
    """Only sockets of vcmtsd processes count."""
    sockets = {"11": "0100007F:24F8", "12": "0100007F:24F9"}
    make_process(tmp_path, 20, "vcmtsd", sockets, {"12"})
    make_process(tmp_path, 3, "vcmtsd", sockets, {"11"})
    make_process(tmp_path, 30, "prometheus", sockets, {"11", "12"})
    make_process(tmp_path, 40, "vcmtsd", {"15": f"{'0' * 32}:24FA"}, {"15"}, "tcp6")
    (tmp_path / "50").mkdir()  # an ended process
    addresses = [targets.listening_addresses(one) for one in targets.processes(tmp_path)]
    assert addresses == [["127.0.0.1:9464"], ["127.0.0.1:9465"], ["[::1]:9466"]]
    path = tmp_path / "20" / "net" / "tcp"
    path.write_text(path.read_text().replace(" 0A ", " 01 "))
    assert targets.listening_addresses(tmp_path / "20") == [], (
        "a connection is not a listening socket"
    )


def test_only_metrics_ports_are_targets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make_process(
        tmp_path, 3, "vcmtsd", {"11": "0100007F:24F8", "12": "0100007F:24F9"}, {"11", "12"}
    )
    monkeypatch.setattr(targets, "serves_metrics", lambda target: target.endswith("9465"))
    make_process(tmp_path, 4, "vcmtsd", {"12": "0100007F:24F9"}, {"12"})  # in another namespace
    assert targets.targets(tmp_path) == ["127.0.0.1:9465"]


def test_process_selects_its_targets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(targets, "serves_metrics", lambda target: True)
    for number, port in ((3, "24F8"), (4, "24F9")):
        make_process(tmp_path, number, "vcmtsd", {"1": f"0100007F:{port}"}, {"1"})
    assert targets.targets(tmp_path, 4) == ["127.0.0.1:9465"]
    assert targets.targets(tmp_path, 5) == []


def test_port_without_http_is_no_target() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert not targets.serves_metrics(f"127.0.0.1:{port}")


Stderr = Callable[[], str]


@pytest.fixture
def stderr(capsys: pytest.CaptureFixture[str]) -> Stderr:
    return lambda: capsys.readouterr().err


def test_no_vcmtsd_is_refused(monkeypatch: pytest.MonkeyPatch, stderr: Stderr) -> None:
    monkeypatch.setattr(server, "prometheus_path", lambda: "prometheus")
    monkeypatch.setattr("vcmts.monitor.command.targets", lambda pid: [])
    assert main(["monitor"]) == 2
    assert "`--metrics 127.0.0.1:9464`" in stderr()
    assert main(["monitor", "--pid", "7"]) == 2
    assert "vcmtsd 7 has no metrics" in stderr()


def test_missing_prometheus_is_refused(
    monkeypatch: pytest.MonkeyPatch, stderr: Stderr, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["monitor", "--target", "127.0.0.1:1"]) == 2
    assert stderr().startswith("vcmts: prometheus is not installed") and not list(
        tmp_path.iterdir()
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--rules", "/nowhere.yaml"], "found /nowhere.yaml, allowed: an existing file"),
        (["--target", "127.0.0.1"], "found 127.0.0.1, allowed: ADDRESS:PORT"),
        (["--target", "127.0.0.1:70000"], "allowed: ADDRESS:PORT"),
        (["--target", "a/b:1"], "allowed: ADDRESS:PORT"),
        (["--port", "0"], "found 0, allowed: 1 to 65535"),
        (["--port", "x"], "found x, allowed: 1 to 65535"),
        (["--interval", "0s"], "found 0s, allowed: whole seconds"),
        (["--interval", "2"], "found 2, allowed: whole seconds"),
    ],
)
def test_wrong_options_are_refused(arguments: list[str], message: str, stderr: Stderr) -> None:
    with pytest.raises(SystemExit) as error:
        main(["monitor", *arguments])
    assert error.value.code == 2 and message in stderr()


def test_used_port_is_refused(monkeypatch: pytest.MonkeyPatch, stderr: Stderr) -> None:
    monkeypatch.setattr(server, "prometheus_path", lambda: "prometheus")
    with socket.create_server((server.HOST, 0)) as listening:
        used: int = listening.getsockname()[1]
        arguments = ["--target", "127.0.0.1:1", "--port", str(used)]
        assert main(["monitor", *arguments]) == 2
        assert f"--port {used}: in use or not permitted" in stderr()
        monkeypatch.setattr(server, "USUAL_PORT", used)
        assert server.free_port(None) not in (used, 0)


@needs_promtool
def test_promtool_accepts_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "prometheus.yml"
    reference = data("deploy/prometheus/reference.yaml")
    path.write_text(server.configuration(["127.0.0.1:9464", "[::1]:9464"], [reference], 2))
    done = run(["promtool", "check", "config", path])
    assert done.status == 0 and "2 rule files found" in done.stdout, done.stderr
    assert json.loads(path.read_text())["global"]["scrape_interval"] == "2s"


def test_pages_are_written_with_all_boards(tmp_path: Path) -> None:
    server.write_pages(tmp_path / "page", 5)
    settings = json.loads((tmp_path / "page" / "settings.json").read_text())
    assert settings["interval"] == 5 and settings["started"] == pytest.approx(time.time(), abs=600)
    boards = {path.stem: path for path in data("deploy/grafana").glob("*.json")}
    assert {board["name"] for board in settings["boards"]} == boards.keys()
    for board in settings["boards"]:
        copy = (tmp_path / "page" / f"{board['name']}.json").read_text()
        assert copy == boards[board["name"]].read_text()
        assert json.loads(copy)["title"] == f"OpenVCMTS: {board['title']}"


def test_pages_know_what_the_boards_use() -> None:
    """Another unit, or kind of panel or variable, needs code in the page."""
    units = re.findall(
        r"^  \"?([\w:/]+)\"?: (?:si\(|\[\[)", (server.PAGES / "units.js").read_text(), re.M
    )
    for path in data("deploy/grafana").glob("*.json"):
        board = json.loads(path.read_text())
        panels = [panel for panel in board["panels"] if panel["type"] != "row"]
        assert {panel["type"] for panel in panels} <= {"timeseries", "stat", "bargauge"}
        used = {panel["fieldConfig"]["defaults"].get("unit", "short") for panel in panels}
        assert used <= set(units), path.name
        queries = [one["query"] for one in board["templating"]["list"] if one["type"] == "query"]
        assert all(re.match(r"(label_values|query_result)\(", query) for query in queries)
