# SPDX-License-Identifier: BSD-3-Clause
"""Configurations of the guest: small, and with the MAC addresses that its functions have."""

import contextlib
import copy
import io
import json
import sys
from pathlib import Path
from typing import Any

from vm.served import BUILD, ROUTER

Json = dict[str, Any]
PROFILE = "2ofdm-0sc-qam_20cms_aes"
CORES = ("02:00:00:00:c0:01", "02:00:00:00:c0:02")  # of the ports of a group: MAC addresses
RPD = "02:00:00:00:c0:0d"
NETWORK_VLAN, RPHY_VLAN = 10, 20
SMALL = {"queue_size": 512}


def stored(groups: int) -> Path:
    """Where the profile is kept for the guest, in which writing it takes a minute."""
    return BUILD / f"guest-profile-{groups}.json"


def store(groups: int) -> None:
    """On this machine, before the guest starts."""
    import yaml

    from vcmts import cli

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert cli.main(["profile", PROFILE, "--groups", str(groups)]) == 0
    stored(groups).write_text(json.dumps(yaml.safe_load(said.getvalue())), encoding="utf-8")


def profile(groups: int) -> Json:
    tree: Json = json.loads(stored(groups).read_text(encoding="utf-8"))
    tree["max_queued"] = 2048
    # an emulated core may stand still in between
    tree["upstream"] |= {"reorder_timeout": "1 s", "frame_timeout": "1 min"}
    tree["threads"] = {"downstream": "1ds1t", "main_core": 0, "upper_mac_core": 1}
    tree["threads"] |= {"lower_mac_core": 0, "upstream_core": 1}
    for number, group in enumerate(tree["service_groups"]):
        group["rphy"] |= {"core_mac": CORES[min(number, 1)], "rpd_mac": RPD}
    return tree


def kept(name: str, tree: Json) -> Path:
    path = Path("/tmp") / f"{name}.yaml"
    path.write_text(json.dumps(tree), encoding="utf-8")
    return path


def ports(network: str, rphy: str, mac: str = "") -> Json:
    found = {"network": {"device": network, **SMALL}, "rphy": {"device": rphy, **SMALL}}
    if mac:
        found["network"]["mac"] = mac
    return found


def shared(tree: Json, network: str, rphy: str) -> Path:
    """Two groups on two ports, which subscribers' addresses and sessions tell apart."""
    tree = copy.deepcopy(tree)
    tree["ports"] = ports(network, rphy)
    for group in tree["service_groups"]:
        group["rphy"]["core_mac"] = CORES[0]
    return kept("shared", tree)


def own(tree: Json, pairs: list[tuple[str, str]]) -> Path:
    """A pair of ports for each group, with MAC addresses of their own."""
    tree = copy.deepcopy(tree)
    for group, pair, mac in zip(tree["service_groups"], pairs, CORES, strict=True):
        group["ports"] = ports(*pair, mac)
    return kept("own", tree)


def alone(tree: Json, number: int) -> Path:
    """One of the groups, for a traffic program that speaks to this one alone."""
    tree = copy.deepcopy(tree)
    group = tree["service_groups"][number]
    group["ports"] = ports("net_null0", "net_null1", CORES[number])
    tree["service_groups"] = [group]
    return kept(f"alone-{number}", tree)


def planned(tree: Json) -> Path:
    """For `vcmts host plan`: the two groups, and the functions of who plays their peers as those of
    a third one."""
    tree = copy.deepcopy(tree)
    for number, group in enumerate(tree["service_groups"]):
        peer = number == 2
        group["ports"] = ports(
            f"net_memif{number}0", f"net_memif{number}1", ROUTER if peer else CORES[number]
        )
        if peer:
            group["rphy"] |= {"core_mac": RPD, "rpd_mac": CORES[0]}
    return kept("planned", tree)


if __name__ == "__main__":
    for number in map(int, sys.argv[1:]):
        store(number)
