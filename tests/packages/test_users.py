# SPDX-License-Identifier: BSD-3-Clause
"""Ordinary users beside the service: their own runs, and what the tool reports of the service."""

from collections.abc import Iterator

import pytest

from packages.booted import PROFILE, SERVICE, Root, configure, install_traffic

HINT = "join the group vcmts"


@pytest.fixture
def visited(root: Root) -> Iterator[Root]:
    """A root with the ordinary users visitor, and engineer, who is in the group vcmts."""
    root.run("useradd", "--create-home", "visitor")
    root.run("useradd", "--create-home", "--groups", "vcmts", "engineer")
    yield root


def test_run_beside_the_service(visited: Root) -> None:
    install_traffic(visited)
    before = visited.pid()
    words = f"run --profile {PROFILE} --rate 20Mbps --upstream-rate 5Mbps --duration 1s"
    done = visited.call("vcmts", *words.split(), user="visitor")
    # 1: packets were late or lost, which a busy machine may cause.
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "Permission denied" not in done.stdout + done.stderr
    assert visited.pid() == before


@pytest.mark.parametrize(
    "words",
    [
        "control server.info",
        "telemetry groups",
        "control --socket /run/vcmts/control.sock server.info",
        "top",
        "capture --count 1 -o /tmp/out.pcapng",
        "shell show modems",
    ],
)
def test_not_allowed_is_reported(visited: Root, words: str) -> None:
    done = visited.call("vcmts", *words.split(), user="visitor")
    assert done.returncode == 2
    assert "no permission" in done.stderr
    assert HINT in done.stderr
    assert "found no vcmtsd" not in done.stderr


def test_member_of_the_group_learns_the_mode(visited: Root) -> None:
    """The socket is the service user's own, unless --control-mode gives it to the group."""
    done = visited.call("vcmts", "control", "server.info", user="engineer")
    assert done.returncode == 2
    assert "--control-mode 0660" in done.stderr


def test_member_of_the_group_controls(visited: Root) -> None:
    configure(visited, "--control-mode 0660")
    visited.run("systemctl", "restart", SERVICE)
    visited.wait_until_served()
    visited.run("vcmts", "control", "server.info", user="engineer")
    visited.run("vcmts", "telemetry", "groups", user="engineer")
    done = visited.call("vcmts", "control", "server.info", user="visitor")
    assert done.returncode == 2
    assert HINT in done.stderr


def test_stopped_service_is_reported(visited: Root) -> None:
    visited.run("systemctl", "stop", SERVICE)
    done = visited.call("vcmts", "control", "server.info", user="visitor")
    assert done.returncode == 2
    assert "found no vcmtsd in service" in done.stderr
