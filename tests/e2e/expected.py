# SPDX-License-Identifier: BSD-3-Clause
"""Expected frames, drops and counters of a downstream replay, by an independent model."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from vcmts.witness import bpi
from vcmts.witness.downstream import Result
from vcmts.witness.model import Config, Modem
from vcmts.witness.pcapfile import Record
from witness.classify import Dropped, Headers, Model, matches, parse, untagged

# Drop reasons of frames that are dropped before their family is counted.
DROPPED_BEFORE_FAMILY = {
    *("runt", "frame_too_long", "vlan"),
    *("ipv4_header", "ipv4_length", "ipv6_header", "ipv6_length", "arp_malformed"),
    "ipv6_extensions",
}
FAMILIES = {0x0800: "ipv4", 0x86DD: "ipv6"}
DROPPED_AFTER_LOOKUP = {"cpe_limit", "filter_deny"}  # dropped after the lookup of the modem
# Counters that depend on time; test_replay_depi.py checks them.
TIMING_COUNTERS = {"depi_full", "depi_flushed"}
ICMP = {("ipv4", 1), ("ipv6", 58)}
DEPI_SEGMENTS = 7  # DEPI frames of up to so many segments have a counter each


@dataclass
class Expectation:
    """`flows` maps the ID of a service flow to its frames. `wire_groups`: flows that cannot be
    distinguished in the output of the R-PHY port, by tuples of IDs."""

    flows: dict[int, list[bytes]] = field(default_factory=dict)
    wire_groups: set[tuple[int, ...]] = field(default_factory=set)
    drops: Counter[str] = field(default_factory=Counter)
    counters: Counter[str] = field(default_factory=Counter)
    matched_rules: set[tuple[int, int]] = field(default_factory=set)  # filter group, index
    matched_classifiers: set[tuple[bytes, int]] = field(default_factory=set)  # modem, index


def _count_filter(expected: Expectation, config: Config, modem: Modem, headers: Headers) -> None:
    for group in modem.filter_groups:
        for index, rule in enumerate(config.filter_groups[group]):
            if matches(rule.match, headers):
                verdict = "permit" if rule.permit else "deny"
                expected.counters[f"filter_matched_{verdict}"] += 1
                expected.matched_rules.add((group, index))
                return
    expected.counters["filter_unmatched"] += 1


def _count_classifier(expected: Expectation, modem: Modem, headers: Headers) -> None:
    for index, classifier in enumerate(modem.classifiers):
        if matches(classifier.match, headers):
            expected.counters["classifier_matched"] += 1
            if headers.family != "llc":
                expected.counters[f"classifier_matched_{headers.family}"] += 1
            is_icmp = (headers.family, headers.protocol) in ICMP
            expected.counters["classifier_matched_icmp"] += is_icmp
            expected.matched_classifiers.add((modem.mac, index))
            return
    expected.counters["classifier_unmatched"] += 1


def _find_modem(config: Config, frame: bytes, headers: Headers) -> Modem:
    if headers.destination is None:
        return config.by_mac[frame[:6]]
    return config.by_address[headers.destination]


def _count(expected: Expectation, config: Config, frame: bytes, model: Model, time_ns: int) -> None:
    verdict = model.classify(frame, time_ns)
    reason = verdict.reason if isinstance(verdict, Dropped) else None
    if reason is not None:
        expected.drops[reason] += 1
    if reason in DROPPED_BEFORE_FAMILY:
        return
    frame = untagged(frame)
    family = FAMILIES.get(int.from_bytes(frame[12:14], "big"), "llc")
    expected.counters[family] += 1
    if reason is not None and reason not in DROPPED_AFTER_LOOKUP:
        return
    expected.counters["lookup_matched"] += 1
    if reason == "cpe_limit":
        return
    headers = parse(frame, config.max_frame)
    modem = _find_modem(config, frame, headers)
    _count_filter(expected, config, modem, headers)
    if isinstance(verdict, Dropped):
        return
    _count_classifier(expected, modem, headers)
    target = next(flow for flow in modem.flows if flow.id == verdict.flow)
    expected.flows.setdefault(target.id, []).append(verdict.frame)
    expected.wire_groups.add(modem.wire_group(target))
    _, key, _ = modem.security.downstream
    expected.counters["clear" if key is None else "encrypted"] += 1
    if key is not None:
        expected.counters[f"encrypted_{bpi.counter_name(key)}"] += 1


def expect_downstream(records: Iterable[Record], config: Config) -> Expectation:
    """The expected result for these records, if no queue overflows."""
    expected = Expectation()
    model = Model(config)
    now: int | None = None
    for record in records:
        now = record.time_ns if now is None else max(now, record.time_ns)
        expected.counters["received"] += 1
        expected.counters["received_bytes"] += len(record.data)
        _count(expected, config, record.data, model, now)
    admitted = expected.counters["received"] - expected.drops.total()
    for name in ("enqueued", "dequeued", "framed", "transmitted"):
        expected.counters[name] = admitted
    expected.counters["crc_generated"] = admitted if config.generate_crc else 0
    return expected


def _captured_counters(decoded: Result) -> dict[str, int]:
    """Counters that follow from the capture of the R-PHY port."""
    segments = {n: decoded.counters[f"with_{n}_segments"] for n in range(1, DEPI_SEGMENTS + 1)}
    return {f"depi_segments_{n}": packets for n, packets in segments.items()} | {
        "depi_segments_more": decoded.counters["packets"] - sum(segments.values()),
        "transmitted": decoded.counters["delivered"],
        "transmitted_bytes": decoded.counters["bytes"],
        "depi_frames": decoded.counters["packets"],
        "psp_segments": decoded.counters["segments"],
        "psp_fragments": decoded.counters["fragments"],
    }


def _check_group(group: tuple[int, ...], frames: list[bytes], flows: list[list[bytes]]) -> None:
    """Checks that `frames` contains exactly the frames of all `flows`, each flow in order."""
    heads = [0] * len(flows)
    for number, frame in enumerate(frames):
        for index, flow in enumerate(flows):
            if heads[index] < len(flow) and flow[heads[index]] == frame:
                heads[index] += 1
                break
        else:
            raise AssertionError(f"flows {group}: frame {number} is unexpected: {frame.hex()}")
    assert heads == [len(flow) for flow in flows], f"flows {group}: frames are missing"


def check_flows(expected: Expectation, decoded: Result) -> None:
    """Checks that every flow has exactly the expected frames, in order, byte by byte."""
    assert decoded.problems == [], [str(p) for p in decoded.problems[:5]]
    assert set(decoded.flows) == expected.wire_groups
    for group, frames in decoded.flows.items():
        flows = [expected.flows[flow] for flow in group if flow in expected.flows]
        _check_group(group, frames, flows)


def check_stats(expected: Expectation, stats: dict[str, object], decoded: Result) -> None:
    """Checks every drop reason, every counter, and their balance."""
    drops, counters = stats["drops"], stats["counters"]
    assert isinstance(drops, dict) and isinstance(counters, dict)
    assert set(expected.drops) <= set(drops)
    assert drops == {name: expected.drops[name] for name in drops}
    counts = Counter(expected.counters)
    counts.update({name: 0 for name in counters})
    captured = _captured_counters(decoded)
    assert captured["transmitted"] == counts["transmitted"]
    counts.update({name: count for name, count in captured.items() if name != "transmitted"})
    assert {name: counters[name] for name in counters if name not in TIMING_COUNTERS} == {
        name: count for name, count in counts.items() if name not in TIMING_COUNTERS
    }
    assert counters["depi_full"] + counters["depi_flushed"] == counters["depi_frames"]
    assert stats["received"] == counters["received"]
    assert stats["transmitted"] == counters["transmitted"]
    assert stats["dropped"] == sum(drops.values())
    assert stats["held"] == 0
    assert stats["balanced"] is True
    assert stats["received"] == counters["transmitted"] + sum(drops.values())
