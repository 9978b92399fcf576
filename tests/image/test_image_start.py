# SPDX-License-Identifier: BSD-3-Clause
"""The image started: every program in it, by a user that it does not know, with nothing to write to
but /run/vcmts; and service between two containers, every packet proven."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.machine import check_accounts, proven
from image.containers import run, started
from patience import until
from vcmts.paths import CHECKOUT

PROFILE = "6ofdm-0sc-qam_300cms_aes"
CONFIG = "/etc/vcmts/config/vcmts.yaml"
VCMTSD, TRAFFIC, TOOL = (f"/usr/bin/{name}" for name in ("vcmtsd", "vcmts-traffic", "vcmts"))
MEMIF = "net_memif{number},role={role},id={number},rsize=13,socket-abstract=no"
NOWHERE = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1", "--duration", "10ms")
SOCKET = "/run/vcmts/control.sock"
PORTS = ((0, "network"), (1, "rphy"))


def ends(role: str) -> list[str]:
    return [
        word
        for number, name in PORTS
        for word in (
            f"--{name}",
            f"{MEMIF.format(number=number, role=role)},socket=/run/vcmts/{name}.sock",
        )
    ]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is mounted as a ConfigMap: the published profile, by the image's own tool."""
    folder = tmp_path_factory.mktemp("config")
    done = run(TOOL, "profile", PROFILE)
    assert done.returncode == 0, done.stderr
    (folder / "vcmts.yaml").write_text(done.stdout, encoding="utf-8")
    (folder / "broken.yaml").write_text("name: broken\nservice_group: -1\n", encoding="utf-8")
    folder.chmod(0o755)
    return folder


@pytest.fixture
def share(tmp_path: Path) -> Iterator[Path]:
    """/run/vcmts of two containers, of whatever user."""
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(0o1777)
    yield folder


def test_all_programs_find_their_libraries_and_all_modules_their_imports() -> None:
    """By the image's own loader and Python; only matplotlib, which draws pictures, is not there."""
    done = run(
        "/usr/bin/python3",
        "-",
        given=(CHECKOUT / "tests/image/inside.py").read_text(encoding="utf-8"),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["missing"] == []
    assert set(told["failed"].values()) <= {"No module named 'matplotlib'"}
    assert told["programs"] > 120
    assert told["modules"] > 150


@pytest.mark.parametrize("user", ["10001:0", "12345:0", "1000680000:0", "0:0"])
def test_it_runs_by_any_user(user: str, config: Path) -> None:
    done = run(VCMTSD, "run", "--config", CONFIG, *NOWHERE, user=user, config=config)
    assert done.returncode == 0, done.stderr
    assert "serving service group 1" in done.stderr
    assert "Permission denied" not in done.stderr
    assert "Read-only" not in done.stderr


def test_a_mistake_is_told_and_is_exit_status_two(config: Path) -> None:
    for command in ([VCMTSD, "check", "--config"], [TOOL, "validate"]):
        good = run(*command, CONFIG, config=config)
        assert (good.returncode, good.stderr) == (0, "")
        broken = run(*command, "/etc/vcmts/config/broken.yaml", config=config)
        assert broken.returncode == 2
        assert 'broken.yaml:2: service_group: found "-1"' in broken.stderr + broken.stdout
    assert run(VCMTSD, "run", "--config", "/no/such.yaml").returncode == 2


def test_a_folder_that_cannot_be_written_to_is_told(config: Path) -> None:
    socket = ("--control-socket", "/etc/vcmts/control.sock")
    done = run(VCMTSD, "run", "--config", CONFIG, *NOWHERE, *socket, config=config)
    assert done.returncode == 2
    assert "/etc/vcmts/control.sock" in done.stderr


def test_two_containers_prove_every_packet(config: Path, share: Path) -> None:
    """Also: what `docker stop` sends ends service well, and nobody is healthy without service."""
    plane = [VCMTSD, "run", "--config", CONFIG, *ends("server"), "--ready", "/run/vcmts/ready"]
    plane += ["--control-socket", "/run/vcmts/control.sock", "--metrics", "127.0.0.1:9464"]
    with started("vcmts-test-plane", *plane, share=share, config=config) as server:
        until(lambda: (share / "ready").exists() or not server.runs(), "vcmtsd is ready")
        assert server.runs(), server.said
        traffic = [
            TRAFFIC,
            "--config",
            CONFIG,
            *ends("client"),
            "--json",
            "/run/vcmts/summary.json",
        ]
        traffic += ["--rate", "100Mbps", "--upstream-rate", "20Mbps", "--duration", "2s"]
        done = run(*traffic, share=share, config=config)
        told = json.loads((share / "summary.json").read_text(encoding="utf-8"))
        check_accounts(told)
        assert done.returncode == (0 if proven(told) else 1), done.stderr
        # `exec` finds another root where this machine is a chroot; a container beside it does not.
        words = ("control", "--socket", "/run/vcmts/control.sock", "server.info")
        asked = run(TOOL, *words, share=share)
        assert asked.returncode == 0, asked.stderr
        health = run("/usr/libexec/vcmts/health", network="container:vcmts-test-plane")
        assert (health.returncode, health.stdout.split()[0]) == (0, "200"), health
        assert server.signal("TERM") == 0, server.said
    assert "downstream: received" in server.said


def test_it_is_not_healthy_without_service() -> None:
    done = run("/usr/libexec/vcmts/health")
    assert done.returncode == 1
    assert done.stdout == "health: [Errno 111] Connection refused\n"


def test_the_first_process_without_a_configuration_says_so() -> None:
    done = run(TOOL, "pod", options=["--env", "VCMTS_TERMINATION_LOG=/run/vcmts/said"])
    assert done.returncode == 2
    assert "/etc/vcmts/config/vcmts.yaml" in done.stderr
