# SPDX-License-Identifier: BSD-3-Clause
"""`./vcmts monitor` without a Prometheus: whom it finds, what it refuses, what it configures."""

import html
import json
import re
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from e2e.running import run
from python.deploy.test_alerts import with_promtool
from vcmts.cli import main
from vcmts.monitor import server, targets
from vcmts.paths import data

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid inode\n"
ROW = (
    "   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     0 0 {inode} 1\n"
)


def process(
    root: Path, pid: int, name: str, rows: dict[str, str], own: set[str], file: str = "tcp"
) -> None:
    """As /proc shows it: `rows` of TCP by inode, of which `own` are its sockets."""
    folder = root / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "net").mkdir()
    (folder / "comm").write_text(f"{name}\n")
    for number, inode in enumerate(sorted(own)):
        (folder / "fd" / str(number)).symlink_to(f"socket:[{inode}]")
    (folder / "fd" / "9").symlink_to("/dev/null")
    lines = [ROW.format(local=local, state="0A", inode=inode) for inode, local in rows.items()]
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
def test_addresses(text: str, address: str) -> None:
    assert targets.address_of(text) == address


def test_what_a_process_listens_to(tmp_path: Path) -> None:
    """Its own sockets; neither what others have, nor what is no vcmtsd."""
    rows = {"11": "0100007F:24F8", "12": "0100007F:24F9"}
    process(tmp_path, 20, "vcmtsd", rows, {"12"})
    process(tmp_path, 3, "vcmtsd", rows, {"11"})
    process(tmp_path, 30, "prometheus", rows, {"11", "12"})
    process(tmp_path, 40, "vcmtsd", {"15": f"{'0' * 32}:24FA"}, {"15"}, "tcp6")
    (tmp_path / "50").mkdir()  # has ended
    found = [targets.listens(one) for one in targets.processes(tmp_path)]
    assert found == [["127.0.0.1:9464"], ["127.0.0.1:9465"], ["[::1]:9466"]]
    path = tmp_path / "20" / "net" / "tcp"
    path.write_text(path.read_text().replace(" 0A ", " 01 "))
    assert targets.listens(tmp_path / "20") == [], "a connection is no place to connect to"


def test_only_what_tells_metrics(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    process(tmp_path, 3, "vcmtsd", {"11": "0100007F:24F8", "12": "0100007F:24F9"}, {"11", "12"})
    monkeypatch.setattr(targets, "tells", lambda target: target.endswith("9465"))
    assert targets.targets(tmp_path) == ["127.0.0.1:9465"]


def test_who_does_not_speak_http() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        taken = listening.getsockname()[1]
    assert not targets.tells(f"127.0.0.1:{taken}")


Say = Callable[[], str]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Say:
    return lambda: capsys.readouterr().err


def test_nothing_to_watch(monkeypatch: pytest.MonkeyPatch, said: Say) -> None:
    monkeypatch.setattr(server, "installed", lambda: "prometheus")
    monkeypatch.setattr("vcmts.monitor.command.targets", list)
    assert main(["monitor"]) == 2
    assert "`--metrics 127.0.0.1:9464`" in said()


def test_without_prometheus(monkeypatch: pytest.MonkeyPatch, said: Say, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["monitor", "--target", "127.0.0.1:1"]) == 2
    assert said().startswith("vcmts: needs prometheus") and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words, complaint",
    [
        (["--rules", "/nowhere.yaml"], "found /nowhere.yaml, allowed: a file of rules"),
        (["--target", "127.0.0.1"], "found 127.0.0.1, allowed: ADDRESS:PORT"),
        (["--target", "127.0.0.1:70000"], "allowed: ADDRESS:PORT"),
        (["--target", "a/b:1"], "allowed: ADDRESS:PORT"),
        (["--port", "0"], "found 0, allowed: 1 to 65535"),
        (["--port", "x"], "found x, allowed: 1 to 65535"),
        (["--interval", "0s"], "found 0s, allowed: whole seconds"),
        (["--interval", "2"], "found 2, allowed: whole seconds"),
    ],
)
def test_wrong_arguments(words: list[str], complaint: str, said: Say) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["monitor", *words])
    assert ended.value.code == 2 and complaint in said()


def test_a_port_that_is_taken(monkeypatch: pytest.MonkeyPatch, said: Say) -> None:
    monkeypatch.setattr(server, "installed", lambda: "prometheus")
    with socket.create_server((server.HOST, 0)) as listening:
        taken: int = listening.getsockname()[1]
        words = ["--target", "127.0.0.1:1", "--port", str(taken)]
        assert main(["monitor", *words]) == 2
        assert f"--port {taken}: is in use" in said()
        monkeypatch.setattr(server, "USUAL_PORT", taken)
        assert server.free_port(None) not in (taken, 0)


@with_promtool
def test_prometheus_takes_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "prometheus.yml"
    reference = data("deploy/prometheus/reference.yaml")
    path.write_text(server.configuration(["127.0.0.1:9464", "[::1]:9464"], [reference], 2))
    done = run(["promtool", "check", "config", path])
    assert done.status == 0 and "2 rule files found" in done.stdout, done.stderr
    assert json.loads(path.read_text())["global"]["scrape_interval"] == "2s"


def test_the_page_leads_to_the_graphs() -> None:
    [place] = re.findall(r'content="0; url=([^"]+)"', server.page(5))
    asked = parse_qs(urlsplit(html.unescape(place)).query)
    shown = [asked[f"g{number}.expr"][0] for number in range(len(server.GRAPHS))]
    assert shown == [graph.format(window="20s") for graph in server.GRAPHS]
