# SPDX-License-Identifier: BSD-3-Clause
"""Starts the image as an unknown user. Tests its programs, and traffic between containers."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.machine import all_proven, check_balance
from image.containers import background_container, run
from patience import until
from vcmts.paths import CHECKOUT

PROFILE = "6ofdm-0sc-qam_300cms_aes"
CONFIG = "/etc/vcmts/config/vcmts.yaml"
VCMTSD, TRAFFIC, TOOL = (f"/usr/bin/{name}" for name in ("vcmtsd", "vcmts-traffic", "vcmts"))
MEMIF = "net_memif{number},role={role},id={number},rsize=13,socket-abstract=no"
NULL_PORTS = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1", "--duration", "10ms")
SOCKET = "/run/vcmts/control.sock"
PORTS = ((0, "network"), (1, "rphy"))


def port_options(role: str) -> list[str]:
    options = []
    for number, name in PORTS:
        device = MEMIF.format(number=number, role=role)
        options += [f"--{name}", f"{device},socket=/run/vcmts/{name}.sock"]
    return options


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """/etc/vcmts/config with a profile, written by the image's own tool, and a broken file."""
    folder = tmp_path_factory.mktemp("config")
    done = run(TOOL, "profile", PROFILE)
    assert done.returncode == 0, done.stderr
    (folder / "vcmts.yaml").write_text(done.stdout, encoding="utf-8")
    (folder / "broken.yaml").write_text("name: broken\nservice_group: -1\n", encoding="utf-8")
    folder.chmod(0o755)
    return folder


@pytest.fixture
def share(tmp_path: Path) -> Iterator[Path]:
    """A folder for /run/vcmts of two containers, writable for any user."""
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(0o1777)
    yield folder


def test_libraries_and_imports_are_complete() -> None:
    """Uses the image's own loader and Python. Without their libraries the tool draws no charts, and
    its prompt has no completion."""
    script = (CHECKOUT / "tests/image/inside.py").read_text(encoding="utf-8")
    done = run("/usr/bin/python3", "-", stdin=script)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["missing"] == []
    missing = {f"No module named '{name}'" for name in ("matplotlib", "prompt_toolkit")}
    assert set(result["failed"].values()) <= missing
    assert result["elf_files"] > 120
    assert result["modules"] > 150


@pytest.mark.parametrize("user", ["10001:0", "12345:0", "1000680000:0", "0:0"])
def test_vcmtsd_runs_as_any_user(user: str, config: Path) -> None:
    done = run(VCMTSD, "run", "--config", CONFIG, *NULL_PORTS, user=user, config=config)
    assert done.returncode == 0, done.stderr
    assert "serving service group 1" in done.stderr
    assert "Permission denied" not in done.stderr
    assert "Read-only" not in done.stderr


def test_invalid_configuration_exits_with_status_two(config: Path) -> None:
    for command in ([VCMTSD, "check", "--config"], [TOOL, "validate"]):
        good = run(*command, CONFIG, config=config)
        assert (good.returncode, good.stderr) == (0, "")
        broken = run(*command, "/etc/vcmts/config/broken.yaml", config=config)
        assert broken.returncode == 2
        assert 'broken.yaml:2: service_group: found "-1"' in broken.stderr + broken.stdout
    assert run(VCMTSD, "run", "--config", "/no/such.yaml").returncode == 2


def test_unwritable_control_socket_folder_is_reported(config: Path) -> None:
    socket = ("--control-socket", "/etc/vcmts/control.sock")
    done = run(VCMTSD, "run", "--config", CONFIG, *NULL_PORTS, *socket, config=config)
    assert done.returncode == 2
    assert "/etc/vcmts/control.sock" in done.stderr


def test_two_containers_prove_every_packet(config: Path, share: Path) -> None:
    """`vcmts control` and the health check work in other containers. SIGTERM, as `docker stop`
    sends it, stops vcmtsd with status 0."""
    command = [VCMTSD, "run", "--config", CONFIG, *port_options("server")]
    command += ["--ready", "/run/vcmts/ready"]
    command += ["--control-socket", SOCKET, "--metrics", "127.0.0.1:9464"]
    with background_container("vcmts-test-plane", *command, share=share, config=config) as server:
        until(lambda: (share / "ready").exists() or not server.is_running(), "vcmtsd is ready")
        assert server.is_running(), server.output
        traffic = [TRAFFIC, "--config", CONFIG, *port_options("client")]
        traffic += ["--json", "/run/vcmts/summary.json"]
        traffic += ["--rate", "100Mbps", "--upstream-rate", "20Mbps", "--duration", "2s"]
        done = run(*traffic, share=share, config=config)
        summary = json.loads((share / "summary.json").read_text(encoding="utf-8"))
        check_balance(summary)
        assert done.returncode == (0 if all_proven(summary) else 1), done.stderr
        # `podman exec` sees another root if the host is a chroot, so another container is started.
        done = run(TOOL, "control", "--socket", SOCKET, "server.info", share=share)
        assert done.returncode == 0, done.stderr
        health = run("/usr/libexec/vcmts/health", network="container:vcmts-test-plane")
        assert (health.returncode, health.stdout.split()[0]) == (0, "200"), health
        assert server.signal("TERM") == 0, server.output
    assert "downstream: received" in server.output


def test_health_check_fails_without_vcmtsd() -> None:
    done = run("/usr/libexec/vcmts/health")
    assert done.returncode == 1
    assert done.stdout == "health: [Errno 111] Connection refused\n"


def test_pod_without_configuration_is_reported() -> None:
    done = run(TOOL, "pod", options=["--env", "VCMTS_TERMINATION_LOG=/run/vcmts/message"])
    assert done.returncode == 2
    assert "/etc/vcmts/config/vcmts.yaml" in done.stderr
