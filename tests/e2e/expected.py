# SPDX-License-Identifier: BSD-3-Clause
"""What has to become of a capture: every packet, every drop reason, every counter."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from vcmts.witness import bpi
from vcmts.witness.downstream import Result
from vcmts.witness.model import Config, Modem
from vcmts.witness.pcapfile import Record
from witness.classify import Dropped, Headers, Model, matches, parse, untagged

# Those that end a frame before its family is counted.
UNREAD = {
    *("runt", "frame_too_long", "vlan"),
    *("ipv4_header", "ipv4_length", "ipv6_header", "ipv6_length", "arp_malformed"),
    "ipv6_extensions",
}
FAMILIES = {0x0800: "ipv4", 0x86DD: "ipv6"}
FOUND = {"cpe_limit", "filter_deny"}  # dropped after their modem was found
# Counters that tell how the work was done; the tests that care bound them.
FREE = {"depi_full", "depi_flushed"}
ICMP = {("ipv4", 1), ("ipv6", 58)}
DEPI_SEGMENTS = 7  # of a DEPI frame: so many are told apart


@dataclass
class Expectation:
    """By what the data plane was given. `flows` maps the ID of a service flow to its frames;
    `wire_groups` tells which flows look alike behind the R-PHY port."""

    flows: dict[int, list[bytes]] = field(default_factory=dict)
    wire_groups: set[tuple[int, ...]] = field(default_factory=set)
    drops: Counter[str] = field(default_factory=Counter)
    counters: Counter[str] = field(default_factory=Counter)
    rules_met: set[tuple[int, int]] = field(default_factory=set)  # filter group, index
    classifiers_met: set[tuple[bytes, int]] = field(default_factory=set)  # modem, index


def _note_filter(expected: Expectation, config: Config, modem: Modem, headers: Headers) -> None:
    for group in modem.filter_groups:
        for index, rule in enumerate(config.filter_groups[group]):
            if matches(rule.match, headers):
                verdict = "permit" if rule.permit else "deny"
                expected.counters[f"filter_matched_{verdict}"] += 1
                expected.rules_met.add((group, index))
                return
    expected.counters["filter_unmatched"] += 1


def _note_classifier(expected: Expectation, modem: Modem, headers: Headers) -> None:
    for index, classifier in enumerate(modem.classifiers):
        if matches(classifier.match, headers):
            expected.counters["classifier_matched"] += 1
            if headers.family != "llc":
                expected.counters[f"classifier_matched_{headers.family}"] += 1
            is_icmp = (headers.family, headers.protocol) in ICMP
            expected.counters["classifier_matched_icmp"] += is_icmp
            expected.classifiers_met.add((modem.mac, index))
            return
    expected.counters["classifier_unmatched"] += 1


def _modem_of(config: Config, frame: bytes, headers: Headers) -> Modem:
    if headers.destination is None:
        return config.by_mac[frame[:6]]
    return config.by_address[headers.destination]


def _note(expected: Expectation, config: Config, frame: bytes, model: Model, time_ns: int) -> None:
    verdict = model.classify(frame, time_ns)
    reason = verdict.reason if isinstance(verdict, Dropped) else None
    if reason is not None:
        expected.drops[reason] += 1
    if reason in UNREAD:
        return
    frame = untagged(frame)
    family = FAMILIES.get(int.from_bytes(frame[12:14], "big"), "llc")
    expected.counters[family] += 1
    if reason is not None and reason not in FOUND:
        return
    expected.counters["lookup_matched"] += 1
    if reason == "cpe_limit":
        return
    headers = parse(frame, config.max_frame)
    modem = _modem_of(config, frame, headers)
    _note_filter(expected, config, modem, headers)
    if isinstance(verdict, Dropped):
        return
    _note_classifier(expected, modem, headers)
    target = next(flow for flow in modem.flows if flow.id == verdict.flow)
    expected.flows.setdefault(target.id, []).append(verdict.frame)
    expected.wire_groups.add(modem.wire_group(target))
    _, key, _ = modem.security.downstream
    expected.counters["clear" if key is None else "encrypted"] += 1
    if key is not None:
        expected.counters[f"encrypted_{bpi.counted_as(key)}"] += 1


def expect(records: Iterable[Record], config: Config) -> Expectation:
    """For queues that hold everything: what these captured packets lead to."""
    expected = Expectation()
    model = Model(config)
    now: int | None = None
    for record in records:
        now = record.time_ns if now is None else max(now, record.time_ns)
        expected.counters["received"] += 1
        expected.counters["received_bytes"] += len(record.data)
        _note(expected, config, record.data, model, now)
    admitted = expected.counters["received"] - expected.drops.total()
    for name in ("enqueued", "dequeued", "framed", "transmitted"):
        expected.counters[name] = admitted
    expected.counters["crc_generated"] = admitted if config.generate_crc else 0
    return expected


def _seen(decoded: Result) -> dict[str, int]:
    """Counters that the capture of the R-PHY port proves."""
    alike = {n: decoded.counters[f"with_{n}_segments"] for n in range(1, DEPI_SEGMENTS + 1)}
    return {f"depi_segments_{n}": packets for n, packets in alike.items()} | {
        "depi_segments_more": decoded.counters["packets"] - sum(alike.values()),
        "transmitted": decoded.counters["delivered"],
        "transmitted_bytes": decoded.counters["bytes"],
        "depi_frames": decoded.counters["packets"],
        "psp_segments": decoded.counters["segments"],
        "psp_fragments": decoded.counters["fragments"],
    }


def _check_group(group: tuple[int, ...], found: list[bytes], wanted: list[list[bytes]]) -> None:
    """`found` is made of all the wanted frames; those of each flow are in their order."""
    heads = [0] * len(wanted)
    for number, frame in enumerate(found):
        for flow, frames in enumerate(wanted):
            if heads[flow] < len(frames) and frames[heads[flow]] == frame:
                heads[flow] += 1
                break
        else:
            raise AssertionError(f"flow {group}, frame {number}: {frame.hex()} is not next")
    assert heads == [len(frames) for frames in wanted], f"flow {group}: frames are missing"


def check_flows(expected: Expectation, decoded: Result) -> None:
    """Every flow holds exactly the frames that were sent to it, in order, byte by byte."""
    assert decoded.problems == [], [str(p) for p in decoded.problems[:5]]
    assert set(decoded.flows) == expected.wire_groups
    for group, found in decoded.flows.items():
        wanted = [expected.flows[flow] for flow in group if flow in expected.flows]
        _check_group(group, found, wanted)


def check_stats(expected: Expectation, stats: dict[str, object], decoded: Result) -> None:
    """Every drop reason and every counter there is, and the balance of them all."""
    drops, counters = stats["drops"], stats["counters"]
    assert isinstance(drops, dict) and isinstance(counters, dict)
    assert set(expected.drops) <= set(drops)
    assert drops == {name: expected.drops[name] for name in drops}
    wanted = Counter(expected.counters)
    wanted.update({name: 0 for name in counters})
    seen = _seen(decoded)
    assert seen["transmitted"] == wanted["transmitted"]
    wanted.update({name: count for name, count in seen.items() if name != "transmitted"})
    assert {name: counters[name] for name in counters if name not in FREE} == {
        name: count for name, count in wanted.items() if name not in FREE
    }
    assert counters["depi_full"] + counters["depi_flushed"] == counters["depi_frames"]
    assert stats["received"] == counters["received"]
    assert stats["transmitted"] == counters["transmitted"]
    assert stats["dropped"] == sum(drops.values())
    assert stats["held"] == 0
    assert stats["balanced"] is True
    assert stats["received"] == counters["transmitted"] + sum(drops.values())
