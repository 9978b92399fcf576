# SPDX-License-Identifier: BSD-3-Clause
"""A server of several service groups, each of them alone, and traffic for all of it."""

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
# Buffers are touched and rules compiled at each start, which takes longer than what is replayed:
# there are as many as some hundred packets may need, and of the rules those of the modems.
FEW_BUFFERS = {"max_queued": "2048"}
QUEUE_SIZE = "1024"


@cache
def profile() -> str:
    written = vcmts("profile", PROFILE, "--groups", str(GROUPS))
    assert written.status == 0, written.stderr
    return written.stdout


@cache
def large_server() -> str:
    """The profile, in JSON."""
    return json.dumps(load_tree(profile()))


@cache
def _small_server(modems: int) -> str:
    whole = json.loads(large_server())
    for item in whole["service_groups"]:
        item["modems"] = item["modems"][:modems]
    named = {
        number
        for item in whole["service_groups"]
        for modem in item["modems"]
        for number in modem["filter_groups"]
    }
    whole["filter_groups"] = [item for item in whole["filter_groups"] if item["id"] in named]
    for part in (whole, *whole["service_groups"]):
        for port in part.get("ports", {}).values():
            port["queue_size"] = QUEUE_SIZE
    return json.dumps(whole | FEW_BUFFERS)


def small_server(modems: int = 6) -> Json:
    """Of few modems each, so that the witness is quick."""
    whole: Json = json.loads(_small_server(modems))
    return whole


def dump(tree: Json) -> str:
    return json.dumps(tree)  # which is YAML, and quick


def write(folder: Path, name: str, tree: Json) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(dump(tree), encoding="utf-8")
    return path


def goes_to_channels(group: Json) -> Callable[[Record], bool]:
    mine = {int(channel["session"], 0) for channel in group["channels"]}
    return lambda record: decode_datagram(record.data).session in mine


def comes_from_modems(group: Json) -> Callable[[Record], bool]:
    modems = group["modems"]
    mine = {ipaddress.ip_address(a) for modem in modems for a in modem["addresses"]}
    return lambda record: read_frame(record.data).source in mine


def timed(packets: Sequence[bytes], gap_ns: int) -> list[Record]:
    return [Record(START_NS + n * gap_ns, data, len(data)) for n, data in enumerate(packets)]


def mixed(parts: Sequence[Sequence[bytes]]) -> list[bytes]:
    """One of each in turn."""
    return [packet for packet in chain.from_iterable(zip_longest(*parts)) if packet is not None]


def down_traffic(groups: Sequence[Json], seed: int, count: int, gap_ns: int) -> list[Record]:
    parts = [
        generate(parse_config(dump(group)), seed + number, count)
        for number, group in enumerate(groups)
    ]
    return timed(mixed(parts), gap_ns)


def up_packets(group: Json, seed: int, count: int) -> list[bytes]:
    sender = UpstreamSender(parse_config(dump(group)), Random(seed))
    for number in range(count):
        stream = sender.random.choice(sender.streams())
        address = sender.by_stream[stream][0].addresses[0]
        sender.send(stream, numbered_frame(address, number, sender.random.choice([60, 300, 1400])))
        if number % 10 == 9:
            sender.flush()
    sender.flush()
    return sender.packets


def up_traffic(groups: Sequence[Json], seed: int, count: int, gap_ns: int) -> list[Record]:
    parts = [up_packets(group, seed + number, count) for number, group in enumerate(groups)]
    return timed(mixed(parts), gap_ns)
