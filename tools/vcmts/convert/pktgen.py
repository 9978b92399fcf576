# SPDX-License-Identifier: BSD-3-Clause
"""Converts values of the reference's chart pktgen to calls of vcmts-traffic."""

from vcmts.convert.reading import Map, Notes
from vcmts.convert.vcmtsd import pci, profile_name
from vcmts.profile.numbers import MOST_GROUPS

# The reference's traffic type to the packet mixes of downstream and upstream.
MIXES = {"imix2": ("imix", "upstream-imix")}
UNUSED_KEYS = {
    "num_sockets": "the traffic program runs on one",
    "cpu_socket_id": "the kubelet's topology manager chooses, or taskset",
    "hpg_sz": "it uses any free huge pages",
    "pf_index": "--network and --rphy name its ports",
    "num_ports": "the number of items in the list",
}
UNNAMED = {"network": "NETWORK", "rphy": "RPHY"}


def mixes(port: Map, notes: Notes) -> tuple[str, str]:
    kind = port.text("traffic_type") or "imix2"
    if kind.isascii() and kind.isdigit() and 64 <= int(kind[:6]) <= 2000:
        return kind, kind
    if kind not in MIXES:
        notes.add(
            port, "traffic_type", f"{kind} is not known: taken as imix2; --mix sets another one"
        )
    return MIXES.get(kind, MIXES["imix2"])


def call(number: int, upstream: Map, downstream: Map, notes: Notes) -> list[str]:
    """The commands for a pair of ports: the first has upstream traffic, the second downstream."""
    sizes = []
    for port in (upstream, downstream):
        ofdm, modems = port.number("num_ofdm", 1, 999), port.number("num_subs", 1, 65535)
        if ofdm is None or modems is None:
            raise port.needed("num_ofdm" if ofdm is None else "num_subs")
        sizes.append((ofdm, modems))
    if sizes[0] != sizes[1]:
        found = (
            f"{sizes[1][0]} beside {sizes[0][0]}" if sizes[0][0] != sizes[1][0] else "other modems"
        )
        raise downstream.mistake("num_ofdm", found, "the same for both ports of a group")
    ofdm, modems = sizes[0]
    (mix, _), (_, upstream_mix) = mixes(downstream, notes), mixes(upstream, notes)
    profile = profile_name(ofdm, modems, "aes")
    rphy, network = (pci(port, "net_pktgen") for port in (upstream, downstream))
    for port in (upstream, downstream):
        names = {key: "" for key in port.keys if key.startswith("port_")}
        notes.add_unused(port, UNUSED_KEYS | names)
    words = ["vcmts-traffic", "--config", f"sg-{number}.yaml", "--mix", mix]
    words += ["--upstream-mix", upstream_mix, "--upstream-rate", "300Mbps"]
    words += ["--network", network or UNNAMED["network"], "--rphy", rphy or UNNAMED["rphy"]]
    return [f"vcmts profile {profile} --part {number} -o sg-{number}.yaml", " ".join(words)]


def calls(topology: Map, notes: Notes) -> list[str]:
    pods = list(topology.maps("pktgen_pods"))
    replicas = topology.number("pktgen_replicas", 1, len(pods)) or len(pods)
    lines: list[str] = []
    number = 0
    for pod in pods[:replicas]:
        name = pod.number("pktgen_id", 0, 65535)
        lines.append(f"# pktgen {name}" if name is not None else "# pktgen")
        ports = list(pod.maps("ports"))
        if len(ports) % 2:
            raise pod.mistake("ports", f"{len(ports)} ports", "two for each group")
        for first in range(0, len(ports), 2):
            number += 1
            if number > MOST_GROUPS:
                raise pod.mistake("ports", f"{number} groups", f"1 to {MOST_GROUPS}")
            lines += call(number, ports[first], ports[first + 1], notes)
        notes.add_unused(pod, UNUSED_KEYS)
    return lines
