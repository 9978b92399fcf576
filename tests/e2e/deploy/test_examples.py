# SPDX-License-Identifier: BSD-3-Clause
"""Runs every example configuration over memif, with its MTU and with the largest ones. Every packet
must be proven."""

import json
import re
import shutil
from pathlib import Path

import pytest

from e2e.machine import all_proven, check_balance
from e2e.running import vcmts, vcmtsd
from vcmts.paths import CHECKOUT

CONFIG = CHECKOUT / "config"
SHORT = ("--rate", "20Mbps", "--duration", "300ms")
AWS_VALUES = {
    "%NETWORK_DEVICE%": "net_null0",
    "%RPHY_DEVICE%": "net_null1",
    "%RPHY_ADDRESS%": "10.65.0.1",
    "%RPHY_MAC%": "02:00:00:00:00:01",
    "%RPD_MAC%": "02:00:00:00:00:02",
}


def run_example(config: Path, folder: Path, *options: str) -> dict[str, object]:
    """Runs a configuration for a short time. Checks the summary and returns it."""
    summary = folder / "summary.json"
    done = vcmts("run", "--config", config, "--json", summary, *SHORT, *options)
    result: dict[str, object] = json.loads(summary.read_text()) if summary.exists() else {}
    assert result, done.stderr
    check_balance(result)
    assert done.status == (0 if all_proven(result) else 1), done.stderr
    return result


def without_threads(text: str) -> str:
    """The configuration without `threads`, as test machines have other cores."""
    text = re.sub(r"^( *)threads: \{.*\}\n", "", text, flags=re.MULTILINE)
    return re.sub(r", threads: \{[^}]*\}", "", text)


@pytest.mark.run
def test_example_runs(tmp_path: Path) -> None:
    run_example(CONFIG / "example.yaml", tmp_path)


@pytest.mark.run
def test_starter_runs(tmp_path: Path) -> None:
    """What `vcmts init` writes carries traffic both ways."""
    config = tmp_path / "sg.yaml"
    config.write_text(vcmts("init").stdout)
    run_example(config, tmp_path)


@pytest.mark.run
def test_server_example_runs(tmp_path: Path) -> None:
    """config/example-server.yaml, which refers to example.yaml."""
    shutil.copy(CONFIG / "example.yaml", tmp_path)
    config = tmp_path / "server.yaml"
    config.write_text(without_threads((CONFIG / "example-server.yaml").read_text()))
    run_example(config, tmp_path, "--ports", "own")


@pytest.mark.run
def test_aws_example_runs(tmp_path: Path) -> None:
    text = (CHECKOUT / "deploy/terraform/aws/example.yaml").read_text()
    for word, value in AWS_VALUES.items():
        text = text.replace(word, value)
    config = tmp_path / "aws.yaml"
    config.write_text(text)
    run_example(config, tmp_path)


@pytest.mark.run
@pytest.mark.parametrize(
    ("mtu", "vlan"), [(1500, 102), (2034, 0), (2034, 102), (2035, 0), (9000, 102)]
)
def test_mtu_of_memif_is_carried(mtu: int, vlan: int, tmp_path: Path) -> None:
    text = (CONFIG / "example.yaml").read_text().replace("mtu: 2000 B", f"mtu: {mtu} B")
    if vlan:
        text += f"ports: {{rphy: {{vlan: {vlan}}}, network: {{vlan: {vlan}}}}}\n"
    config = tmp_path / "sg.yaml"
    config.write_text(text)
    result = run_example(config, tmp_path)
    assert result["downstream"]["proven"] > 0  # type: ignore[index]


@pytest.mark.parametrize(
    ("mtu", "memif_options", "vlan", "message"),
    [
        (2035, "", 0, "rphy.mtu: found 2035, allowed: up to 2034 on this R-PHY port"),
        (2031, "", 7, "rphy.mtu: found 2031, allowed: up to 2030 on this R-PHY port"),
        (9000, ",bsize=9013", 0, "rphy.mtu: found 9000, allowed: up to 8999 on this R-PHY port"),
        (1500, ",bsize=64", 0, "max_frame: found 2000, allowed: up to 68 on this network port"),
    ],
)
def test_mtu_above_memif_buffer_is_rejected(
    mtu: int, memif_options: str, vlan: int, message: str, tmp_path: Path
) -> None:
    config = tmp_path / "sg.yaml"
    text = (CONFIG / "example.yaml").read_text().replace("mtu: 2000 B", f"mtu: {mtu} B")
    if vlan:
        text += f"ports: {{rphy: {{vlan: {vlan}}}}}\n"
    config.write_text(text)
    network, rphy = ("", memif_options) if "R-PHY" in message else (memif_options, "")
    name = f"socket=/{tmp_path.parent.name}-{tmp_path.name}"  # abstract
    done = vcmtsd(
        *("run", "--config", config, "--control-socket", "none", "--duration", "1ms"),
        *("--network", f"net_memif0,role=server,id=0,{name}{network}"),
        *("--rphy", f"net_memif1,role=server,id=1,{name}{rphy}"),
    )
    assert done.status == 1  # the device refuses it, and may be another one at the next start
    assert f"vcmtsd: {message}, or a larger bsize= at both ends of the memif" in done.messages
