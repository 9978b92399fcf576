# SPDX-License-Identifier: BSD-3-Clause
"""The upstream of the published profiles.

The published appendices give: 300 modems, grants of 2 KB per SID without a scheduler, balanced over
the modems, all frames encrypted, no CRC verification, one thread (1us1t, 2us1t) with 2 Gbps. They
do not give channels, service flows and SIDs. This project uses OFDMA channels with enough capacity
for the measured rates, and bonds each modem over two of them.
"""

from collections.abc import Iterator

from vcmts.profile.numbers import Numbers

CHANNELS, RATE = 4, "1 Gbps"
MOST_SIDS = 0x3FFE  # per channel: 1 to 0x3FFE
FIRST_FLOW = 1_000_001  # lowest id of upstream flows; those of downstream flows are usually lower


def channels(modems: int) -> int:
    """The number of upstream channels: four, or more if the 14-bit SIDs, two per modem, need it."""
    return max(CHANNELS, -(-2 * modems // MOST_SIDS))


def channel_lines(modems: int, numbers: Numbers) -> Iterator[str]:
    """YAML of the channels. Requests have their own sessions; the first channel has ranging."""
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
    """The two channels of a modem, with its SID on each. The first channel follows the last.

    A modem has the same SID on both channels, and no other modem has it, so that a capture can be
    decoded without the configuration. With more modems than SIDs per channel, the same SID means
    different modems on different channels.
    """
    round_number, first = divmod(modem - 1, channels(modems))
    second = (first + 1) % channels(modems)
    if modems <= MOST_SIDS:
        return (first + 1, modem), (second + 1, modem)
    return (first + 1, 2 * round_number + 1), (second + 1, 2 * round_number + 2)


def flow_lines(modem: int, modems: int, downstream_flows: int = 0) -> Iterator[str]:
    """YAML of a modem's flow on both its channels; the id is above the downstream ids."""
    first = max(FIRST_FLOW, downstream_flows + 1)
    sids = ", ".join(
        f"{{channel: {channel}, sid: {sid:#06x}}}" for channel, sid in sids_of(modem, modems)
    )
    yield "    upstream_service_flows:"
    yield f"      - {{id: {first + modem - 1}, sid_clusters: [{{id: 0, sids: [{sids}]}}]}}"
