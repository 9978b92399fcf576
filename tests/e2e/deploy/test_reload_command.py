# SPDX-License-Identifier: BSD-3-Clause
"""`vcmtsd reload`, which `systemctl reload` runs: it waits and reports a refused reload."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.control.server import config_folder, config_text, start_server
from e2e.running import Completed, vcmtsd
from patience import TIMEOUT, until
from vcmts.control.client import Client
from vcmts.paths import build_directory

UNIT = build_directory() / "deploy" / "vcmtsd.service"


@pytest.fixture
def folder() -> Iterator[Path]:
    with config_folder() as path:
        yield path


def reload(path: Path, *options: str) -> Completed:
    return vcmtsd("reload", "--control-socket", path, *options)


def test_reload_reports_result(folder: Path) -> None:
    config = folder / "sg.yaml"
    with start_server(folder) as (server, path), Client(path, TIMEOUT) as client:
        config.write_text(config_text("800 Mbps"))
        done = reload(path)
        assert (done.status, done.stderr) == (0, "")
        assert done.stdout == f"{config}: reloaded: 1 channel changed\n"

        config.write_text("channels: nonsense\n")
        done = reload(path)
        assert (done.status, done.stdout) == (1, "")
        assert f"vcmtsd reload: refused: {config}: " in done.stderr
        assert f"nothing was changed: {config}:1: " in done.stderr

        config.write_text(config_text("800 Mbps"))
        client.call("modem.remove", mac="02:01:00:00:00:01")
        done = reload(path)
        assert done.status == 1 and "modem 02:01:00:00:00:01" in done.stderr
        assert len(client.call("modem.list")["modems"]) == 3
        assert reload(path, "--force").status == 0
        assert len(client.call("modem.list")["modems"]) == 4
        assert server.stop().status == 0


def test_reload_signals_process_without_socket(folder: Path) -> None:
    """VCMTS_OPTIONS may name another control socket than the unit."""
    absent = folder / "absent.sock"
    with start_server(folder) as (server, path), Client(path, TIMEOUT) as client:
        done = reload(absent)
        assert done.status == 2 and "no vcmtsd listens on this socket" in done.stderr
        (folder / "sg.yaml").write_text(config_text("800 Mbps"))
        done = reload(absent, "--signal", str(server.process.pid))
        assert done.status == 0 and "sent SIGHUP" in done.stdout
        until(lambda: client.call("server.info")["generation"] == 1, "the reload")
        assert server.stop().status == 0
    done = reload(path)  # no process serves it
    assert done.status == 2


def test_reload_sends_no_signal_if_the_socket_is_at_fault(folder: Path) -> None:
    """A socket that cannot be reached may have a server, whose configuration would be another."""
    process = subprocess.Popen(["sleep", "60"])
    try:
        done = reload(folder / ("a" * 120), "--signal", str(process.pid))
        assert done.status == 2 and done.stderr.endswith(": File name too long\n")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("value", ["0", "-1", "1x", "", "99999999999"])
def test_reload_rejects_invalid_process(folder: Path, value: str) -> None:
    """A signal to process 0 or -1 would reach other processes."""
    done = reload(folder / "absent.sock", "--signal", value)
    assert done.status == 2
    assert f'--signal: found "{value}", allowed: a process ID' in done.stderr


def test_unit_waits_for_reload() -> None:
    [line] = re.findall(r"^ExecReload=(.*)$", UNIT.read_text(), re.M)
    program, *options = line.split()
    assert program.endswith("/vcmtsd")
    sockets = "--control-socket /run/vcmts/control.sock"
    assert " ".join(options) == f"reload {sockets} --signal $MAINPID"
    assert f" {sockets} " in UNIT.read_text().replace(line, "")  # ExecStart
