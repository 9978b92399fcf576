# SPDX-License-Identifier: BSD-3-Clause
"""Upstream traffic for tests, and impairments of it between the R-PHY device and the core.

It needs a configuration such as witness.sample.UPSTREAM.
"""

from collections.abc import Sequence
from random import Random

from vcmts.witness.model import Config
from vcmts.witness.uepi import RequestRecord
from witness.cable_modem import RNG_REQ, management_message
from witness.subscriber import numbered_frame
from witness.upstream_sender import UpstreamSender

SIZES = [60, 66, 252, 1276, 1500, 1996]


def sending(
    seed: int, config: Config, *, most: int = 40, udp: bool | None = None
) -> UpstreamSender:
    """Returns a sender that has sent up to `most` frames with messages and request records. `udp`:
    None for a random choice."""
    random = Random(seed)
    by_chance = random.random() < 0.3
    sender = UpstreamSender(config, random, udp=by_chance if udp is None else udp)
    sc_qam, ofdma = config.upstream.channels
    for number in range(random.randint(1, most)):
        stream = random.choice(sender.streams())
        modem, flow, _ = sender.by_stream[stream]
        address = random.choice(modem.addresses)
        sender.send(stream, numbered_frame(address, number, random.choice(SIZES)))
        message = management_message(modem.mac, RNG_REQ, bytes(random.randint(1, 50)))
        kind = random.random()
        if kind < 0.1:
            sender.flush()
        elif kind < 0.15:
            sender.send_ranging(sc_qam, random.choice([0, 1, 0x3FFF]), message)
        elif kind < 0.2 and flow.id != 301:  # not the modem that sends fragments
            sender.send_management(stream, message)
        elif kind < 0.25:
            record = RequestRecord(1, 7, 1, 1, number, ofdma.session, 0, True)
            sender.send_record(ofdma, record)
    sender.flush()
    return sender


def impair_by_loss(random: Random, packets: Sequence[bytes]) -> list[bytes]:
    return [packet for packet in packets if random.random() > 0.1]


def impair_by_copies(random: Random, packets: Sequence[bytes]) -> list[bytes]:
    return [packet for packet in packets for _ in range(1 + (random.random() < 0.1))]


def impair_by_order(random: Random, packets: Sequence[bytes]) -> list[bytes]:
    positions = [(index + random.randint(0, 6), index) for index in range(len(packets))]
    return [packets[index] for _, index in sorted(positions)]


def _flip(random: Random, packet: bytes) -> bytes:
    """Flips some bits after the IP header, or truncates the packet."""
    if random.random() < 0.1:
        return packet[: random.randint(0, len(packet))]
    damaged = bytearray(packet)
    for _ in range(random.randint(1, 3)):
        damaged[random.randrange(34, len(packet))] ^= 1 << random.randrange(8)
    return bytes(damaged)


def impair_by_flips(random: Random, packets: Sequence[bytes], share: float = 0.2) -> list[bytes]:
    return [_flip(random, packet) if random.random() < share else packet for packet in packets]
