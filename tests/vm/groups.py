# SPDX-License-Identifier: BSD-3-Clause
"""Writes small vcmtsd configurations for the guest, with MAC addresses of its cards."""

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
CORES = ("02:00:00:00:c0:01", "02:00:00:00:c0:02")  # MAC addresses of a group's ports
RPD = "02:00:00:00:c0:0d"
NETWORK_VLAN, RPHY_VLAN = 10, 20
SMALL = {"queue_size": 512}


def profile_path(groups: int) -> Path:
    """File with the profile for the guest, where generating it would take a minute."""
    return BUILD / f"guest-profile-{groups}.json"


def write_profile(groups: int) -> None:
    """Runs on the host, before the guest starts."""
    import yaml

    from vcmts import cli

    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        assert cli.main(["profile", PROFILE, "--groups", str(groups)]) == 0
    profile_path(groups).write_text(json.dumps(yaml.safe_load(output.getvalue())), encoding="utf-8")


def profile(groups: int) -> Json:
    tree: Json = json.loads(profile_path(groups).read_text(encoding="utf-8"))
    tree["max_queued"] = 2048
    # an emulated core may be paused for seconds
    tree["upstream"] |= {"reorder_timeout": "1 s", "frame_timeout": "1 min"}
    tree["threads"] = {"downstream": "1ds1t", "main_core": 0, "upper_mac_core": 1}
    tree["threads"] |= {"lower_mac_core": 0, "upstream_core": 1}
    for number, group in enumerate(tree["service_groups"]):
        group["rphy"] |= {"core_mac": CORES[min(number, 1)], "rpd_mac": RPD}
    return tree


def write_config(name: str, tree: Json) -> Path:
    path = Path("/tmp") / f"{name}.yaml"
    path.write_text(json.dumps(tree), encoding="utf-8")
    return path


def ports(network: str, rphy: str, mac: str = "") -> Json:
    result = {"network": {"device": network, **SMALL}, "rphy": {"device": rphy, **SMALL}}
    if mac:
        result["network"]["mac"] = mac
    return result


def shared_config(tree: Json, network: str, rphy: str) -> Path:
    """Two groups share two ports. Subscriber addresses and sessions distinguish them."""
    tree = copy.deepcopy(tree)
    tree["ports"] = ports(network, rphy)
    for group in tree["service_groups"]:
        group["rphy"]["core_mac"] = CORES[0]
    return write_config("shared", tree)


def own_config(tree: Json, pairs: list[tuple[str, str]]) -> Path:
    """Each group has its own pair of ports, with its own MAC addresses."""
    tree = copy.deepcopy(tree)
    for group, pair, mac in zip(tree["service_groups"], pairs, CORES, strict=True):
        group["ports"] = ports(*pair, mac)
    return write_config("own", tree)


def single_config(tree: Json, number: int) -> Path:
    """One of the groups only, for a traffic program that serves just this one."""
    tree = copy.deepcopy(tree)
    group = tree["service_groups"][number]
    group["ports"] = ports("net_null0", "net_null1", CORES[number])
    tree["service_groups"] = [group]
    return write_config(f"alone-{number}", tree)


def plan_config(tree: Json) -> Path:
    """Input of `vcmts host plan`: the two groups, and a third whose VFs the traffic program uses.
    The larger `max_queued` reserves enough pages for groups that share ports too."""
    tree = copy.deepcopy(tree) | {"max_queued": 4 * tree["max_queued"]}
    for number, group in enumerate(tree["service_groups"]):
        peer = number == 2
        group["ports"] = ports(
            f"net_memif{number}0", f"net_memif{number}1", ROUTER if peer else CORES[number]
        )
        if peer:
            group["rphy"] |= {"core_mac": RPD, "rpd_mac": CORES[0]}
    return write_config("planned", tree)


if __name__ == "__main__":
    for number in map(int, sys.argv[1:]):
        write_profile(number)
