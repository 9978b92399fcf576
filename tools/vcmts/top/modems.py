# SPDX-License-Identifier: BSD-3-Clause
"""Calculates the figures of modems and downstream service flows from two answers to metrics.get."""

from dataclasses import dataclass

from vcmts.top.model import Drop, bits, drops, number_or_text
from vcmts.top.samples import Answer, Between

MODEM, FLOW = "vcmts_modem_downstream", "vcmts_flow"
NAMES = ("vcmts_modem_", "vcmts_flow_")


@dataclass(frozen=True)
class Modem:
    """Downstream figures of a modem. Rates are per second."""

    mac: str
    bits: float | None
    packets: float | None
    dropped: float | None
    waiting: float | None  # packets in its queues
    active: float | None  # active addresses
    drops: tuple[Drop, ...] = ()


@dataclass(frozen=True)
class Flow:
    """Figures of a downstream service flow. Rates are per second."""

    sfid: str
    bits: float | None
    limit: float | None  # bits per second; 0: none
    packets: float | None
    dropped: float | None
    waiting: float | None  # packets in its queue
    waiting_bytes: float | None
    delay: float | None  # seconds, an estimate
    probability: float | None  # drop probability of DOCSIS-PIE
    drops: tuple[Drop, ...] = ()


def dropped(between: Between, name: str) -> float | None:
    """Drops per second. The metric is missing until the first drop."""
    if name not in between.after.values:
        return 0.0 if between.seconds else None
    return between.rate(name)


def modem_of(between: Between, mac: str) -> Modem:
    """The one modem whose samples, without those of flows, `between` has."""
    after, lost = between.after, f"{MODEM}_dropped_packets_total"
    return Modem(
        mac,
        bits(between, f"{MODEM}_bytes_total"),
        between.rate(f"{MODEM}_packets_total"),
        dropped(between, lost),
        after.one(f"{MODEM}_waiting_packets"),
        after.one("vcmts_modem_active_addresses"),
        drops(between, lost, "reason"),
    )


def queueing_delay(between: Between) -> float | None:
    """The estimated queueing delay in seconds: mean queue length over packet rate (Little)."""
    name = f"{FLOW}_waiting_packets"
    rate, then, now = (
        between.rate(f"{FLOW}_packets_total"),
        between.before.one(name),
        between.after.one(name),
    )
    if not rate or then is None or now is None:
        return None
    return (then + now) / 2 / rate


def flow_of(between: Between, sfid: str) -> Flow:
    """The one service flow whose samples `between` has."""
    after, lost = between.after, f"{FLOW}_dropped_packets_total"
    limit = after.one(f"{FLOW}_max_sustained_bytes_per_second")
    return Flow(
        sfid,
        bits(between, f"{FLOW}_bytes_total"),
        None if limit is None else 8 * limit,
        between.rate(f"{FLOW}_packets_total"),
        dropped(between, lost),
        after.one(f"{FLOW}_waiting_packets"),
        after.one(f"{FLOW}_waiting_bytes"),
        queueing_delay(between),
        after.one(f"{FLOW}_drop_probability_ratio"),
        drops(between, lost, "reason"),
    )


def with_prefix(answer: Answer, prefix: str) -> Answer:
    kept = {name: series for name, series in answer.values.items() if name.startswith(prefix)}
    return Answer(answer.uptime, kept)


def modems(before: Answer, after: Answer) -> tuple[Modem, ...]:
    between = Between(with_prefix(before, "vcmts_modem_"), with_prefix(after, "vcmts_modem_"))
    parts = between.split("modem")
    return tuple(modem_of(part, mac) for mac, part in sorted(parts.items()))


def flows(before: Answer, after: Answer, modem: str) -> tuple[Flow, ...]:
    between = Between(with_prefix(before, "vcmts_flow_"), with_prefix(after, "vcmts_flow_"))
    own = between.split("modem").get(modem)
    parts = {} if own is None else own.split("sfid")
    numbered = sorted(parts.items(), key=lambda item: number_or_text(item[0]))
    return tuple(flow_of(part, sfid) for sfid, part in numbered)
