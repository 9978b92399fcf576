# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of every kind, computed by formulas that tests of reports know."""

import math
from typing import Any

Json = dict[str, Any]

# Reference cycles per packet, and per byte.
STAGES = {
    "downstream": {
        "receive": (22, 0.0),
        "modem_lookup": (116, 0.0),
        "filter": (88, 0.0),
        "classify": (120, 0.04),
        "enqueue": (40, 0.0),
        "schedule": (84, 0.0),
        "hand_over": (13, 0.0),
        "take_over": (3, 0.0),
        "frame": (66, 0.0),
        "encrypt_submit": (19, 0.0),
        "encrypt_collect": (130, 0.66),
        "depi": (50, 0.16),
        "transmit": (2, 0.006),
    },
    "upstream": {
        "receive": (1, 0.02),
        "validate": (2, 0.086),
        "uepi": (8, 0.2),
        "reassemble": (2, 0.07),
        "extract": (170, 0.42),
        "decrypt_submit": (23, 0.01),
        "decrypt_collect": (88, 0.17),
        "verify_source": (32, 0.0),
        "transmit": (5, 0.0),
        "requests": (2, 0.004),
    },
}
# Mean bytes of a packet.
MIXES = {
    "downstream": {"imix": 998.2, "84": 84, "256": 256, "512": 512, "1024": 1024, "1518": 1518},
    "upstream": {"upstream-imix": 318.3, "84": 84, "256": 256, "1280": 1280},
}
TSC = 2.3e9  # Hz
HOST: Json = {"cpu": "Sample processor", "tsc_hz": 2300000000, "core_hz": 3000000000}
HOST |= {"huge_pages": False}


def measurement(kind: str, results: list[Json], **more: Any) -> Json:
    return {
        "schema": 1,
        "kind": kind,
        "command": ["./vcmts", "bench", kind],
        "started": "2026-11-20T12:00:00+00:00",
        "seconds": 61.5,
        "complete": True,
        "configuration": "6ofdm-0sc-qam_300cms_aes",
        "host": dict(HOST),
        **more,
        "results": results,
    }


def cycles_result(direction: str, mix: str, scale: float = 1.0, runs: int = 5) -> Json:
    size = MIXES[direction][mix]
    stages = {s: scale * (a + b * size) for s, (a, b) in STAGES[direction].items()}
    total = sum(stages.values())
    values = [total * (1 + 0.002 * (run - runs // 2)) for run in range(runs)]
    bound = 120 + 0.6 * size
    return {
        "direction": direction,
        "mix": mix,
        "mean_bytes": size,
        "threads": 1,
        "cycles_per_packet": total,
        "stages": stages,
        "gbps_per_core": TSC / total * size * 8 / 1e9,
        "crypto_bound_cycles": bound,
        "share_of_crypto_bound": bound / total,
        "cycles_without_accounting": total - 4,
        "core_cycles_per_packet": total * 3.0 / 2.3,
        "runs": runs,
        "min": min(values),
        "max": max(values),
        "values": values,
    }


def pipeline(scale: float = 1.0, runs: int = 5) -> Json:
    """`scale` multiplies all cycles."""
    mixes = [(direction, mix) for direction in STAGES for mix in MIXES[direction]]
    results = [cycles_result(direction, mix, scale, runs) for direction, mix in mixes]
    fits: list[Json] = []
    for direction, stages in STAGES.items():
        for stage, (fixed, per_byte) in stages.items():
            fits.append(fit(direction, stage, scale * fixed, scale * per_byte))
        every = [scale * sum(pair[i] for pair in stages.values()) for i in (0, 1)]
        fits.append(fit(direction, "all", every[0], every[1]))
    return measurement("pipeline", results, fits=fits)


def fit(direction: str, stage: str, fixed: float, per_byte: float) -> Json:
    whole = {"direction": direction, "stage": stage, "fixed": fixed, "per_byte": per_byte}
    return {**whole, "r2": 0.998}


def cost() -> Json:
    swept = {
        "modems": (300, 1000, 3000, 10000, 30000),
        "filter_rules": (1, 8, 22, 64, 200),
        "classifiers": (1, 4, 16, 64),
        "service_flows": (1, 4, 8, 16),
        "channels": (1, 2, 6, 34, 200),
        "flows": (1000, 100000, 1000000),
    }
    results: list[Json] = []
    for what, values in swept.items():
        for value in values:
            for direction in STAGES if what == "modems" else ("downstream",):
                mix = next(iter(MIXES[direction]))
                total = (1300.0 if direction == "downstream" else 680.0) + 45 * math.log(value)
                memory = 98.0 * 2**20 + value * 4200 if what == "modems" else 1.2e8
                result = {
                    "what": what,
                    "value": value,
                    "profile": "6ofdm-0sc-qam_300cms_aes",
                    "direction": direction,
                    "mix": mix,
                    "cycles_per_packet": total,
                    "min": total - 12,
                    "max": total + 25,
                    "runs": 3,
                    "stages": {"classify": 100.0},
                    "memory_bytes": memory,
                    "memory_bytes_per_modem": 4200.0,
                    "start_seconds": 0.4 + value / 20000,
                }
                results.append(result)
    return measurement("cost", results)


def scheduler() -> Json:
    def figures(cycles: float, load: int) -> Json:
        return {
            "enqueue": cycles / 4,
            "dequeue": cycles * 3 / 4,
            "cycles_per_packet": cycles,
            "core_cycles_per_packet": cycles * 1.3,
            "min": cycles - 2,
            "max": cycles + 3,
            "runs": 5,
            "idle_call": 0.0,
            "offered_gbps": 10.0 * load / 100,
            "gbps": min(10.0, 10.0 * load / 100),
            "dropped": max(0.0, 1 - 100 / load),
        }

    results: list[Json] = []
    for case, base in (("6ofdm", 127), ("2ofdm-32sc-qam", 151), ("8ofdm-192sc-qam", 229)):
        for load in (50, 95, 120):
            own, other = base * (1.5 if load > 100 else 1), 325.0 if load < 100 else 150.0
            result = {"case": case, "flows": 2400, "modems": 300, "channels": 6, "load": load}
            result |= figures(own, load)
            result |= {"rte_sched": figures(other, load), "priorities": figures(own + 20, load)}
            result |= {"rte_sched_turns": figures(other + 40, load)}
            result |= {"ratio": own / other, "ratio_turns": own / (other + 40)}
            results.append(result)
    return measurement("scheduler", results)


def throughput(scale: float = 1.0) -> Json:
    """`scale` multiplies all rates."""
    results: list[Json] = []
    for point, down in (("imix", 5.6), ("64", 0.62), ("256", 2.3), ("1024", 5.9), ("1518", 6.8)):
        total = scale * down * 1.15
        repeats = [total * factor for factor in (0.98, 1.0, 1.01)]
        size = 998.2 if point == "imix" else float(point)
        trials = [
            trial(total * 2, "failed", 5000, 0),
            trial(total * 1.05, "disturbed", 120, 2),
            trial(total * 1.3, "traffic", 0, 0),
            trial(total, "passed", 0, 0),
        ]
        result = {
            "point": point,
            "mix": point,
            "upstream_mix": "upstream-imix" if point == "imix" else point,
            "mean_bytes": {"downstream": size, "upstream": size},
            "gbps": {"downstream": scale * down, "upstream": scale * down * 0.15, "total": total},
            "mpps": {"total": total * 1e3 / 8 / size},
            "repeats": repeats,
            "min": min(repeats),
            "max": max(repeats),
            "bound_by": "data plane",
            "trials": trials,
        }
        results.append(result)
    more = {"transport": "rings", "trial_seconds": 1.0, "resolution": 0.01, "accepted_loss": 0.0}
    return measurement("throughput", results, **more, repeats=3, upstream_share=0.15)


def trial(gbps: float, verdict: str, lost: int, descheduled: int) -> Json:
    rates = {"downstream": gbps / 1.15, "upstream": gbps - gbps / 1.15}
    gaps = {"count": descheduled, "longest_us": 1500.0 * (descheduled > 0)}
    return {
        "search": 1,
        "asked_gbps": rates,
        "gbps": rates,
        "verdict": verdict,
        "bound_by": None if verdict == "passed" else "data plane",
        "why": "",
        "sent": dict.fromkeys(rates, 1000000),
        "proven": dict.fromkeys(rates, 1000000),
        "lost": {"downstream": lost, "upstream": 0},
        "descheduled": gaps,
        "busy_share": [0.9],
        "drops": {},
    }


def percentiles(mean: float) -> Json:
    """Percentiles and histogram (us) of an exponential distribution."""
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}
    shares |= {"p99_99": 0.9999, "p99_999": 0.99999}
    result: Json = {"mean": mean, **{k: -mean * math.log(1 - p) for k, p in shares.items()}}
    histogram, total, before = [], 1000000, 0
    for step in range(1, 260):
        us = mean * 0.02 * 1.045**step
        below = round(total * (1 - math.exp(-us / mean)))
        if below > before:
            histogram.append([us, below - before])
        before = below
    result["max"] = histogram[-1][0]
    result["histogram"] = histogram
    return result


def latency() -> Json:
    results: list[Json] = []
    for tenth in range(1, 11):
        load = tenth / 10
        for direction in STAGES:
            end = 30 / (1.05 - load)
            result = {
                "load": load,
                "asked_gbps": {"downstream": 5.6 * load, "upstream": 0.8 * load},
                "direction": direction,
                "end_to_end_us": percentiles(end),
                "pipeline_us": percentiles(end / 3),
                "share_of_round_trip": end / 1e4,
                "disturbed": tenth == 10,
            }
            results.append(result)
    cost = {"downstream": 24.5, "upstream": 6.5}
    return measurement("latency", results, cost_of_measuring=cost)


def power_result(what: str, unit: str, value: float, **more: Any) -> Json:
    values = [value + 0.01 * (run - 2) for run in range(5)]
    spread = {"min": min(values), "max": max(values), "runs": 5, "values": values}
    return {"what": what, **more, "unit": unit, "value": value, **spread}


def power_steps(idle: str, load: float, lost: int, **more: Any) -> Json:
    run = {"verdict": "failed" if lost else "passed", "steps": 1000, "lost": lost, "sent": 10**6}
    governor = {"policy": "saving", "queues": True, "jumps_a_step": 1.0, "disturbed": False}
    result = {"what": "steps", "idle": idle, "load": load, "steps": 1000, "lost": lost}
    result |= {"unit": "packets", "value": lost, "min": lost, "max": lost, "runs": 1}
    result |= {"values": [lost], "repeated": 50, "repeated_lost": 7, "trials": [run], "sent": 10**6}
    return result | governor | more


def power() -> Json:
    results: list[Json] = []
    for load in (0.9, 1.0):
        results += [power_steps("poll", load, 0), power_steps("spin", load, 3)]
        results.append(power_steps("poll", load, 4000, queues=False, steps=250))
        results.append(power_steps("poll", load, 0, policy="none", jumps_a_step=None, steps=250))
    for load in (0.1, 0.5, 0.9):
        for way in STAGES:
            labels = {"idle": "spin", "load": load, "direction": way, "disturbed": load == 0.9}
            for key, more in (("mean", 1.5), ("p99_9", 12.0)):
                pairs = [[40.0, 40.0 + more]] * 5
                added = power_result(f"latency.{key}", "us", more, pairs=pairs, **labels)
                results.append(added)
    pairs = [[900.0, 903.0]] * 5
    results.append(power_result("cost", "times", 1.003, idle="spin", load=1.0, pairs=pairs))
    for kind, paused, cpu, first in (("spin", 0.97, 1.0, 30.0), ("sleep", 0.9, 0.01, 120.0)):
        results.append(power_result("paused", "share", paused, idle=kind))
        results.append(power_result("cpu", "cores", cpu, idle=kind))
        for apart in (0.1, 1.5):
            for key, more in (("p50", 0.0), ("p99", 20.0), ("max", 25.0)):
                labels = {"idle": kind, "apart_seconds": apart}
                results.append(power_result(f"first.{key}", "us", first + more, **labels))
    return measurement(
        "power",
        results,
        zero_loss_gbps={"downstream": 4.0, "upstream": 0.6},
        kinds=["poll", "spin", "sleep"],
        ring=1024,
        driver="simulated",
        policy="saving",
    )


def goals() -> Json:
    def result(goal: str, unit: str, value: float, **more: Any) -> Json:
        values = [value * (1 + 0.01 * (run - 2)) for run in range(5)]
        spread = {"min": min(values), "max": max(values), "runs": 5, "values": values}
        return {"goal": goal, "unit": unit, "value": value, **spread, **more}

    clock = {"core_hz": 3.0e9, "crypto_bound_cycles": 390.0}
    results = [
        result("downstream", "reference cycles", 612.0, core_cycles_per_packet=798.0, **clock),
        result("downstream.core-cycles", "core cycles", 798.0, **clock),
        result("stage.64", "reference cycles", 131.0, remark="classify", stage="classify"),
        result("channels", "times", 1.05, remark="642 over 612 reference cycles"),
    ]
    return measurement("goals", results, not_measured={"cores": "needs two cores"})


def all_kinds() -> dict[str, Json]:
    functions = {"pipeline": pipeline, "cost": cost, "scheduler": scheduler}
    samples = {kind: function() for kind, function in functions.items()}
    samples |= {"throughput": throughput(), "latency": latency(), "power": power()}
    return {**samples, "goals": goals()}
