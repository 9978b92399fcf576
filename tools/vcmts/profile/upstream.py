# SPDX-License-Identifier: BSD-3-Clause
"""The upstream of the published profiles.

The published appendices say of the upstream: 300 modems, grants of 2 KB a SID without a scheduler,
balanced over the modems, all frames encrypted, no CRC verification, one thread (1us1t, 2us1t) with
2 Gbps. They are silent about its channels, service flows and SIDs. Those here are ours: OFDMA
channels with room for what was measured, and each modem bonded over two of them.
"""

from collections.abc import Iterator

from vcmts.profile.numbers import Numbers

CHANNELS, RATE = 4, "1 Gbps"
MOST_SIDS = 0x3FFE  # of one channel: 1 to 0x3FFE
FIRST_FLOW = 1_000_001  # where the ids of downstream flows are all below


def channels(modems: int) -> int:
    """Four, or as many more as it takes for two SIDs of 14 bits per modem."""
    return max(CHANNELS, -(-2 * modems // MOST_SIDS))


def channel_lines(modems: int, numbers: Numbers) -> Iterator[str]:
    """Bandwidth requests come on sessions of their own; modems range on the first channel."""
    yield "upstream_channels:"
    for number in range(1, channels(modems) + 1):
        kinds = {"session": 0x20000, "request_session": 0x21000}
        if number == 1:
            kinds["ranging_session"] = 0x22000
        sessions = ", ".join(
            f"{kind}: {numbers.session(first + number):#010x}" for kind, first in kinds.items()
        )
        yield f"  - {{id: {number}, type: ofdma, rate: {RATE}, {sessions}}}"


def sids_of(modem: int, modems: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Two neighbouring channels, where the first one follows the last; the SID on each.

    A modem has the same SID on both, and no other modem has it: so who reads a capture without the
    configuration knows which segments belong together. Of more modems than a channel has SIDs the
    SIDs are given out by channel: a number then means different modems on different channels.
    """
    turn, first = divmod(modem - 1, channels(modems))
    second = (first + 1) % channels(modems)
    if modems <= MOST_SIDS:
        return (first + 1, modem), (second + 1, modem)
    return (first + 1, 2 * turn + 1), (second + 1, 2 * turn + 2)


def flow_lines(modem: int, modems: int, downstream_flows: int = 0) -> Iterator[str]:
    """One flow, over both channels of the modem, with an id behind those of the downstream."""
    first = max(FIRST_FLOW, downstream_flows + 1)
    sids = ", ".join(
        f"{{channel: {channel}, sid: {sid:#06x}}}" for channel, sid in sids_of(modem, modems)
    )
    yield "    upstream_service_flows:"
    yield f"      - {{id: {first + modem - 1}, sid_clusters: [{{id: 0, sids: [{sids}]}}]}}"
