# SPDX-License-Identifier: BSD-3-Clause
"""Configurations of servers with several service groups, and captures of traffic for all groups."""

import ipaddress
import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import Any

from e2e.running import vcmts
from e2e.traffic import START_NS, generate
from vcmts.witness.config import load_tree, parse_config
from vcmts.witness.ip import read_frame
from vcmts.witness.l2tp import decode_datagram
from vcmts.witness.pcapfile import Record
from witness.subscriber import numbered_frame
from witness.upstream_sender import UpstreamSender

Json = dict[str, Any]
PROFILE = "2ofdm-0sc-qam_20cms_aes"
GROUPS = 3
# A start initialises all buffers and compiles all rules, which takes longer than a replay of some
# hundred packets. So the servers have few buffers, and only the rules that modems refer to.
FEW_BUFFERS = {"max_queued": "2048"}
QUEUE_SIZE = "1024"


@cache
def profile_yaml() -> str:
    done = vcmts("profile", PROFILE, "--groups", str(GROUPS))
    assert done.status == 0, done.stderr
    return done.stdout


@cache
def profile_json() -> str:
    """The configuration of the profile, as JSON."""
    return json.dumps(load_tree(profile_yaml()))


@cache
def _small_server(modems: int) -> str:
    server = json.loads(profile_json())
    for item in server["service_groups"]:
        item["modems"] = item["modems"][:modems]
    used = {
        group_id
        for item in server["service_groups"]
        for modem in item["modems"]
        for group_id in modem["filter_groups"]
    }
    server["filter_groups"] = [item for item in server["filter_groups"] if item["id"] in used]
    for owner in (server, *server["service_groups"]):
        for port in owner.get("ports", {}).values():
            port["queue_size"] = QUEUE_SIZE
    return json.dumps(server | FEW_BUFFERS)


def small_server_config(modems: int = 6) -> Json:
    """The configuration of the profile with the first `modems` modems of each group."""
    server: Json = json.loads(_small_server(modems))
    return server


def to_yaml(tree: Json) -> str:
    return json.dumps(tree)  # JSON is YAML, and faster to write


def write_config(folder: Path, name: str, tree: Json) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(to_yaml(tree), encoding="utf-8")
    return path


def sent_to_channels(group: Json) -> Callable[[Record], bool]:
    """Whether a record of the R-PHY port is for a channel of the group."""
    sessions = {int(channel["session"], 0) for channel in group["channels"]}
    return lambda record: decode_datagram(record.data).session in sessions


def sent_by_modems(group: Json) -> Callable[[Record], bool]:
    """Whether a record of the network port is from a modem of the group."""
    modems = group["modems"]
    addresses = {ipaddress.ip_address(a) for modem in modems for a in modem["addresses"]}
    return lambda record: read_frame(record.data).source in addresses


def at_intervals(packets: Sequence[bytes], gap_ns: int) -> list[Record]:
    return [Record(START_NS + n * gap_ns, data, len(data)) for n, data in enumerate(packets)]


def interleave(parts: Sequence[Sequence[bytes]]) -> list[bytes]:
    """The packets of all parts, by round robin."""
    return [packet for packet in chain.from_iterable(zip_longest(*parts)) if packet is not None]


def downstream_traffic(groups: Sequence[Json], seed: int, count: int, gap_ns: int) -> list[Record]:
    """`count`: frames per group; `gap_ns`: between packets."""
    parts = [
        generate(parse_config(to_yaml(group)), seed + number, count)
        for number, group in enumerate(groups)
    ]
    return at_intervals(interleave(parts), gap_ns)


def upstream_packets(group: Json, seed: int, count: int) -> list[bytes]:
    """UEPI packets of `count` frames."""
    sender = UpstreamSender(parse_config(to_yaml(group)), Random(seed))
    for number in range(count):
        stream = sender.random.choice(sender.streams())
        address = sender.by_stream[stream][0].addresses[0]
        sender.send(stream, numbered_frame(address, number, sender.random.choice([60, 300, 1400])))
        if number % 10 == 9:
            sender.flush()
    sender.flush()
    return sender.packets


def upstream_traffic(groups: Sequence[Json], seed: int, count: int, gap_ns: int) -> list[Record]:
    """`count`: frames per group; `gap_ns`: between packets."""
    parts = [upstream_packets(group, seed + number, count) for number, group in enumerate(groups)]
    return at_intervals(interleave(parts), gap_ns)
