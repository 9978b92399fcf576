# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios of `vcmts simulate --upstream`, in the JSON that vcmts-simulate-upstream reads."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from vcmts.jsons import Json

Scenario = Json

US = 1e-6
MBPS = 1e6
HEADER = 10  # bytes of the DOCSIS header before the Ethernet frame, as in docsis-ns3
# The published mix (docs/published.md): bytes of Ethernet frames, share.
IMIX = ((84, 0.15), (256, 0.10), (1280, 0.75))
# The OFDMA channel of docsis-ns3, and its MAP intervals in ms: whole OFDMA frames of 135 us.
FRAME, MINISLOTS, MINISLOT = 135 * US, 235, 48
INTERVALS = {1: 7 * FRAME, 2: 15 * FRAME, 4: 30 * FRAME}
OFDMA_RATE = MINISLOTS * MINISLOT * 8 / FRAME
SC_QAM_RATE = 42 * 8 / (12.5 * US)  # 5,120 ksym/s, 64-QAM and FEC
LOADS = (0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.70, 0.80, 0.85, 0.90, 0.95)


def ofdma(count: int = 1, interval: int = 2, **more: Any) -> Scenario:
    return {"kind": "ofdma", "count": count, "map_interval": INTERVALS[interval]} | more


def sc_qam(count: int) -> Scenario:
    return {"kind": "sc-qam", "count": count, "map_interval": 2e-3}


def game(**more: Any) -> Scenario:
    """The game traffic of docsis-ns3: 128 bytes every 33 ms, with jitter against beats."""
    size = 128 + HEADER
    return {
        "label": "light",
        "rate": size * 8 / 0.033,
        "arrivals": "regular",
        "jitter": 0.005,
        "sizes": [{"bytes": size}],
    } | more


def light(interval: int, km: float = 8, seed: int = 1) -> Scenario:
    return {
        "duration": 300,
        "warmup": 1,
        "seed": seed,
        "channels": ofdma(1, interval),
        "flows": [game(km=km)],
    }


def proactive(interval: int) -> Scenario:
    granted = {
        "type": "pgs",
        "guaranteed_rate": 5 * MBPS,
        "grant_interval": INTERVALS[interval],
    }
    return light(interval) | {"flows": [game(**granted)]}


def poisson_modems(count: int, rate: float, **more: Any) -> Scenario:
    """`count` modems with Poisson arrivals of IMIX, 1 to 16 km away; together `rate` bit/s."""
    sizes = [{"bytes": size + HEADER, "share": share} for size, share in IMIX]
    return {
        "label": "all",
        "count": count,
        "rate": rate / count,
        "sizes": sizes,
        "km": 1,
        "km_max": 16,
    } | more


def loaded(count: int, load: float, channels: int = 4, **more: Any) -> Scenario:
    """`count` modems that together send the share `load` of the capacity of OFDMA channels."""
    return {
        "duration": 6 if count < 1000 else 3,
        "warmup": 1,
        "channels": ofdma(channels),
        "flows": [poisson_modems(count, load * channels * OFDMA_RATE)],
    } | more


def single_carrier(count: int, load: float, channels: int = 4) -> Scenario:
    flows = [poisson_modems(count, load * channels * SC_QAM_RATE)]
    return loaded(count, load, channels) | {"channels": sc_qam(channels), "flows": flows}


def game_and_modems(load: float) -> Scenario:
    """A game flow of the highest priority beside 300 modems at a load."""
    return loaded(300, load) | {
        "duration": 30,
        "flows": [game(priority=7, km=8), poisson_modems(300, load * 4 * OFDMA_RATE)],
    }


def impaired(load: float) -> Scenario:
    """1 % of the MAPs and requests are lost, and ten modems request without end."""
    lost = {"map_loss": 10_000, "request_loss": 10_000}
    endless = poisson_modems(10, 0, label="endless", conduct="endless")
    return loaded(300, load) | {
        "flows": [poisson_modems(300, load * 4 * OFDMA_RATE, **lost), endless]
    }


@dataclass(frozen=True)
class Case:
    about: str
    scenario: Callable[[], Scenario]
    ns3: tuple[float, float] | None = None  # results of docsis-ns3: p50 and p99 in ms


CASES = {
    "light-1ms": Case("one light flow, a MAP every 945 us", partial(light, 1), (3.32, 4.57)),
    "light-2ms": Case("the same, 2,025 us", partial(light, 2), (5.03, 7.46)),
    "light-4ms": Case("the same, 4,050 us", partial(light, 4), (8.11, 14.42)),
    "light-80km": Case("945 us, 80 km away", partial(light, 1, 80), (4.28, 5.74)),
    "pgs-1ms": Case("5 Mbps of proactive grants, 945 us", partial(proactive, 1), (0.92, 1.39)),
    "pgs-2ms": Case("the same, 2,025 us", partial(proactive, 2), (1.43, 2.41)),
    "pgs-4ms": Case("the same, 4,050 us", partial(proactive, 4), (2.41, 4.36)),
    "300-10": Case("300 modems, 4 OFDMA channels, 10 % load", partial(loaded, 300, 0.10)),
    "300-50": Case("the same, 50 %", partial(loaded, 300, 0.50)),
    "300-90": Case("the same, 90 %", partial(loaded, 300, 0.90)),
    "300-95": Case("the same, 95 %", partial(loaded, 300, 0.95)),
    "beside-90": Case(
        "one light flow of priority 7 beside them, 90 %", partial(game_and_modems, 0.90)
    ),
    "3000-50": Case("3,000 modems, 4 OFDMA channels, 50 %", partial(loaded, 3000, 0.50)),
    "3000-90": Case("the same, 90 %", partial(loaded, 3000, 0.90)),
    "sc-qam-50": Case("100 modems, 4 SC-QAM channels, 50 %", partial(single_carrier, 100, 0.50)),
    "sc-qam-70": Case("the same, 70 %", partial(single_carrier, 100, 0.70)),
    "impaired-50": Case("300 modems, 1 % of MAPs and requests lost", partial(impaired, 0.50)),
}
