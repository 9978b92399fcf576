# SPDX-License-Identifier: BSD-3-Clause
"""Every example that is shipped runs, and every packet is proven: over memif, at the MTU that it
has, and at the largest ones."""

import json
import re
import shutil
from pathlib import Path

import pytest

from e2e.machine import check_accounts, proven
from e2e.running import vcmts, vcmtsd
from vcmts.paths import CHECKOUT

CONFIG = CHECKOUT / "config"
SHORT = ("--rate", "20Mbps", "--duration", "300ms")
AWS = {
    "%NETWORK_DEVICE%": "net_null0",
    "%RPHY_DEVICE%": "net_null1",
    "%RPHY_ADDRESS%": "10.65.0.1",
    "%RPHY_MAC%": "02:00:00:00:00:01",
    "%RPD_MAC%": "02:00:00:00:00:02",
}


def play(config: Path, folder: Path, *more: str) -> dict[str, object]:
    summary = folder / "summary.json"
    ended = vcmts("run", "--config", config, "--json", summary, *SHORT, *more)
    told: dict[str, object] = json.loads(summary.read_text()) if summary.exists() else {}
    assert told, ended.stderr
    check_accounts(told)
    assert ended.status == (0 if proven(told) else 1), ended.stderr
    return told


def here(text: str) -> str:
    """On the cores of the tests, instead of those of a server."""
    text = re.sub(r"^( *)threads: \{.*\}\n", "", text, flags=re.MULTILINE)
    return re.sub(r", threads: \{[^}]*\}", "", text)


@pytest.mark.run
def test_the_example_as_it_is(tmp_path: Path) -> None:
    play(CONFIG / "example.yaml", tmp_path)


@pytest.mark.run
def test_the_example_of_a_server(tmp_path: Path) -> None:
    """On other cores; it names the first example."""
    shutil.copy(CONFIG / "example.yaml", tmp_path)
    config = tmp_path / "server.yaml"
    config.write_text(here((CONFIG / "example-server.yaml").read_text()))
    play(config, tmp_path, "--ports", "own")


@pytest.mark.run
def test_the_example_of_a_cloud(tmp_path: Path) -> None:
    text = (CHECKOUT / "deploy/terraform/aws/example.yaml").read_text()
    for word, value in AWS.items():
        text = text.replace(word, value)
    config = tmp_path / "aws.yaml"
    config.write_text(text)
    play(config, tmp_path)


@pytest.mark.run
@pytest.mark.parametrize(
    ("mtu", "vlan"), [(1500, 102), (2034, 0), (2034, 102), (2035, 0), (9000, 102)]
)
def test_mtus_over_memif(mtu: int, vlan: int, tmp_path: Path) -> None:
    text = (CONFIG / "example.yaml").read_text().replace("mtu: 2000 B", f"mtu: {mtu} B")
    if vlan:
        text += f"ports: {{rphy: {{vlan: {vlan}}}, network: {{vlan: {vlan}}}}}\n"
    config = tmp_path / "sg.yaml"
    config.write_text(text)
    told = play(config, tmp_path)
    assert told["downstream"]["proven"] > 0  # type: ignore[index]


@pytest.mark.parametrize(
    ("mtu", "more", "vlan", "said"),
    [
        (2035, "", 0, "rphy.mtu: found 2035, allowed: up to 2034 on this R-PHY port"),
        (2031, "", 7, "rphy.mtu: found 2031, allowed: up to 2030 on this R-PHY port"),
        (9000, ",bsize=9013", 0, "rphy.mtu: found 9000, allowed: up to 8999 on this R-PHY port"),
        (1500, ",bsize=64", 0, "max_frame: found 2000, allowed: up to 68 on this network port"),
    ],
)
def test_mtus_that_a_memif_has_no_room_for(
    mtu: int, more: str, vlan: int, said: str, tmp_path: Path
) -> None:
    config = tmp_path / "sg.yaml"
    text = (CONFIG / "example.yaml").read_text().replace("mtu: 2000 B", f"mtu: {mtu} B")
    if vlan:
        text += f"ports: {{rphy: {{vlan: {vlan}}}}}\n"
    config.write_text(text)
    network, rphy = ("", more) if "R-PHY" in said else (more, "")
    name = f"socket=/{tmp_path.parent.name}-{tmp_path.name}"  # an abstract one
    done = vcmtsd(
        *("run", "--config", config, "--control-socket", "none", "--duration", "1ms"),
        *("--network", f"net_memif0,role=server,id=0,{name}{network}"),
        *("--rphy", f"net_memif1,role=server,id=1,{name}{rphy}"),
    )
    assert done.status == 2
    assert f"vcmtsd: {said}, or a larger bsize= at both ends of the memif" in done.messages
