# SPDX-License-Identifier: BSD-3-Clause
"""A correct sender of downstream traffic, to test receivers without the data plane."""

from dataclasses import dataclass, field

from vcmts.witness import bpi
from vcmts.witness.crc import frame_check_sequence
from vcmts.witness.depi import Packetizer
from vcmts.witness.docsis import Frame, encode_frame
from vcmts.witness.ehdr import BpDown, DsService
from vcmts.witness.model import Config, Modem, ServiceFlow


def find_flow(config: Config, flow_id: int) -> tuple[Modem, ServiceFlow]:
    """The service flow of this ID, and its modem."""
    return next(
        (modem, flow) for modem in config.modems for flow in modem.flows if flow.id == flow_id
    )


def mac_frame(modem: Modem, flow: ServiceFlow, packet: bytes, sequence: int = 0) -> Frame:
    """The MAC frame of an Ethernet frame, encrypted for the modem."""
    security = modem.security
    pdu = packet + frame_check_sequence(packet)
    key_sequence, key, iv = security.downstream
    if key is not None:
        pdu = bpi.encrypt_pdu(pdu, key, iv)
    privacy = BpDown(key_sequence, key is not None, key_sequence & 1, security.said)
    numbered = None if flow.dsid is None else sequence & 0xFFFF
    return Frame(pdu, (privacy, DsService(flow.priority, flow.dsid, numbered)))


@dataclass
class Sender:
    """The sender: a packetizer per channel, and a sequence per DSID."""

    config: Config
    first_sequence: int = 65533  # so that numbers wrap soon
    sequences: dict[int, int] = field(default_factory=dict)
    packetizers: dict[int, Packetizer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rphy = self.config.rphy
        for channel in self.config.channels:
            self.packetizers[channel.id] = Packetizer(
                rphy.carrier, channel.session, rphy.mtu, channel.extra, rphy.max_segments
            )

    def send(self, flow_id: int, packet: bytes, channel: int) -> list[bytes]:
        """Queues an Ethernet frame on a channel. Returns the packets that it filled."""
        modem, flow = find_flow(self.config, flow_id)
        sequence = self.sequences.get(flow_id, self.first_sequence)
        self.sequences[flow_id] = sequence + 1
        frame = mac_frame(modem, flow, packet, sequence)
        return self.packetizers[channel].push(encode_frame(frame))

    def flush(self) -> list[bytes]:
        """Sends pending segments of all channels."""
        return [packet for sender in self.packetizers.values() for packet in sender.flush()]
