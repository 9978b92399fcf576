# SPDX-License-Identifier: BSD-3-Clause
"""One summary out of two programs' words."""

import re
from typing import Any

import pytest
from rich.console import Console

from vcmts.run import complaints, groups, summary

COMMON = {
    "duplicated": 0,
    "reordered": 0,
    "corrupted": 0,
    "latency_us": {"mean": 4.2, "p99_9": 9.1},
}
DOWN = {
    "sent": 1000,
    "proven": 1000,
    "lost": 0,
    "gbps": 3.456,
    "seconds": 2.0,
    "sent_seconds": 2.0,
    "sent_bytes": 10**9,
} | COMMON
UP = {"sent": 300, "proven": 300, "lost": 0, "gbps": 0.5, "requests": 7} | COMMON
UP |= {"seconds": 2.5, "sent_seconds": 2.5}
UP |= {"sent_bytes": 2 * 10**8}
ASKED = {"downstream": 4.5, "upstream": None}
PLANE: dict[str, Any] = {
    "downstream": {"balanced": True, "held": 0, "drops": {"runt": 0, "vlan": 2}, "received": 1},
    "upstream": {
        "balanced": True,
        "drops": {"vlan": 0, "frame_hcs": 1234},
        "units": {"packets": {"in": 5, "out": 4, "dropped": 1, "held": 0}},
        "requests": {"by_kind": {"frame": 0, "record": 1500}, "modems": 20},
    },
    "workers": [{"name": "upstream", "busy_share": 0.25}],
    "power": {"workers": [{"kind": "sleep", "busy": 1.0, "idle": 3.0, "paused": 2.0}]},
    "ports": {},
    "host": {"tsc_hz": 2e9, "core_hz": 3e9},
}


def test_each_direction_that_was_sent() -> None:
    whole = summary.merge(PLANE, {"downstream": DOWN}, ASKED)
    assert set(whole) == {"downstream", "groups", "workers", "power", "ports", "host"}
    both = summary.merge(PLANE, {"downstream": DOWN, "upstream": UP}, ASKED)
    assert both["downstream"]["drops"] == {"runt": 0, "vlan": 2}
    assert "received" not in both["downstream"], "it is among the counters"
    assert both["upstream"]["requests"]["modems"] == 20
    assert both["upstream"]["requests_sent"] == 7, "what the traffic calls the same"


@pytest.mark.parametrize("direction", ["downstream", "upstream"])
def test_both_directions_must_balance(direction: str) -> None:
    proven = {"downstream": DOWN, "upstream": UP}
    assert summary.balanced(summary.merge(PLANE, proven, ASKED))
    unbalanced = PLANE | {direction: PLANE[direction] | {"balanced": False}}
    assert not summary.balanced(summary.merge(unbalanced, proven, ASKED))


@pytest.mark.parametrize(
    ("proven", "line"),
    [
        (
            {"downstream": DOWN},
            "every packet proven: 1,000 of 1,000 downstream at 3.46 Gbps, 0 lost, in 2.0 s",
        ),
        (
            {"downstream": DOWN, "upstream": UP},
            "every packet proven: 1,000 of 1,000 downstream at "
            "3.46 Gbps, 300 of 300 upstream at 0.50 Gbps, 0 lost, in 2.5 s",
        ),
        (
            {"downstream": DOWN, "upstream": UP | {"proven": 290, "lost": 10}},
            "NOT every packet "
            "proven: 1,000 of 1,000 downstream at 3.46 Gbps, 290 of 300 upstream at 0.50 Gbps, "
            "10 lost, in 2.5 s",
        ),
        (
            {"downstream": DOWN | {"proven": 999, "lost": 1}, "upstream": UP | {"lost": 2}},
            "NOT every packet proven: 999 of 1,000 downstream at 3.46 Gbps, "
            "300 of 300 upstream at 0.50 Gbps, 3 lost, in 2.5 s",
        ),
        (
            {"downstream": DOWN | {"proven": 990, "overtaken": 10}, "upstream": UP},
            "every packet proven but 10 that changes of the configuration overtook: "
            "990 of 1,000 downstream at 3.46 Gbps, 300 of 300 upstream at 0.50 Gbps, 0 lost, "
            "in 2.5 s",
        ),
        (
            {"downstream": DOWN | {"reordered": 3}, "upstream": UP | {"duplicated": 1}},
            "NOT every packet proven: 1,000 of 1,000 downstream at 3.46 Gbps, "
            "300 of 300 upstream at 0.50 Gbps, 0 lost, 3 out of order, 1 twice, in 2.5 s",
        ),
        (
            {"downstream": DOWN | {"proven": 990, "undecipherable": 10, "unaccounted": 0}},
            "NOT every packet proven: 990 of 1,000 downstream at 3.46 Gbps, 0 lost, "
            "10 undecipherable, in 2.0 s",
        ),
        (
            {"downstream": DOWN | {"unaccounted": 4}},
            "NOT every packet proven: 1,000 of 1,000 downstream at 3.46 Gbps, 0 lost, "
            "4 unaccounted for, in 2.0 s",
        ),
        (
            {"downstream": DOWN | {"depi_violations": {"mac": 2, "sequence_gap": 1, "ip": 0}}},
            "NOT every packet proven: 1,000 of 1,000 downstream at 3.46 Gbps, 0 lost, "
            "3 violations of DEPI, in 2.0 s",
        ),
    ],
)
def test_verdict(proven: dict[str, Any], line: str) -> None:
    assert summary.verdict(proven) == line


@pytest.mark.parametrize(
    ("part", "traffic_us", "worker_us", "told"),
    [
        ({"reordered": 1}, 38_000.4, 100.0, "the traffic for up to 38 ms"),
        ({"lost": 2}, 100.0, 38_000.4, "upstream for up to 38 ms"),
        ({"lost": 2}, 4_999.0, 4_999.0, ""),
        ({"lost": 2, "expected": {"lost": 2}}, 38_000.0, 38_000.0, ""),
        ({}, 38_000.0, 38_000.0, ""),
    ],
)
def test_a_core_that_was_taken(
    part: dict[str, Any],
    traffic_us: float,
    worker_us: float,
    told: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    away = {"descheduled": {"count": 1, "longest_us": traffic_us}}
    worker = {"name": "upstream", "descheduled": {"count": 1, "longest_us": worker_us}}
    complaints.of_cores_taken({"downstream": DOWN | part | away, "workers": [worker]})
    said = capfd.readouterr().err
    assert bool(said) == bool(told) and told in said


@pytest.mark.parametrize("balanced", [True, False])
def test_accounts_of_a_group_that_do_not_balance(
    balanced: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    good = {"downstream": {"balanced": True}}
    complaints.of_accounts(good | {"groups": [good, {"downstream": {"balanced": balanced}}]})
    assert ("do not balance" in capfd.readouterr().err) is not balanced


@pytest.mark.parametrize(
    ("gbps", "told"), [(4.5, "4.50 Gbps"), (0.1, "0.10 Gbps"), (0.075, "75.00 Mbps")]
)
def test_rate(gbps: float, told: str) -> None:
    assert groups.rate(gbps) == told


def test_one_modem_is_no_modems() -> None:
    by_kind = {"frame": 1}
    assert summary.asked({"by_kind": by_kind, "modems": 1}).endswith("1 by frame, of 1 modem")
    assert summary.asked({"by_kind": by_kind, "modems": 0}).endswith("of 0 modems")


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    whole = summary.merge(PLANE, {"downstream": DOWN, "upstream": UP}, ASKED)
    summary.show(whole, Console(), [3])
    lines = capsys.readouterr().out.splitlines()
    said = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]
    assert ["sent", "1,000", "300"] in said
    assert ["dropped: vlan", "2", ""] in said
    assert ["dropped: frame_hcs", "", "1,234"] in said
    assert not [row for row in said if "dropped: runt" in row]
    assert ["packets", "5", "4", "1", "0"] in said
    assert "bandwidth requests: 1,500 by record, of 20 modems" in lines
    assert "core 3 (upstream): 25% busy, 50% paused (sleep)" in lines
    assert ["asked for", "4.50 Gbps", "max"] in said
    assert ["sent at", "4.00 Gbps", "0.64 Gbps"] in said
    assert lines[-1] == summary.verdict(whole)


def test_the_end_of_a_run_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    whole = summary.merge(PLANE, {"downstream": DOWN, "upstream": UP}, ASKED)
    summary.show_short(whole, Console(), [3])
    shown = capsys.readouterr().out
    good = summary.verdict(whole).startswith("every")
    assert ("dropped: vlan" in shown) is not good
    lines = shown.splitlines()[-5:]
    assert re.fullmatch(
        r"downstream: 3.46 Gbps of 4.50 Gbps asked for, [\d,]+ reference cycles per packet.*",
        lines[0],
    )
    assert lines[1].startswith("upstream:   ") and " of max asked for" in lines[1]
    assert lines[2] == "core 3 (upstream): 25% busy, 50% paused (sleep)"
    assert "--verbose" in lines[3] and lines[4] == summary.verdict(whole)


def test_what_a_filter_denies_since_a_change_was_sent_to_no_removed_modem(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It never came, as the traffic did not know of the rule yet; the data plane tells why."""
    denied = PLANE["downstream"] | {"drops": {"filter_deny": 10}}
    down = DOWN | {"proven": 990, "overtaken": 10}
    proven = {"downstream": down, "upstream": UP | {"overtaken": 0}}
    whole = summary.merge(PLANE | {"downstream": denied}, proven, ASKED)
    summary.show(whole, Console(), [3])
    said = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in said.splitlines()]
    assert ["overtaken", "10", "0"] in rows
    assert ["dropped: filter_deny", "10", ""] in rows
    assert "removed" not in said and "10 that changes of the configuration overtook" in said


def group(channels: int, packets: int, early: float, mean: float, most: float) -> dict[str, Any]:
    found = {"id": 1, "channels": channels, "packets": packets, "early_share": early}
    return found | {"mean_skew_us": mean, "max_skew_us": most}


SCHEDULER: dict[str, Any] = {
    "delay": [
        {"priority": 7, "packets": 1234, "mean_us": 1.6}
        | {"p50_us": 1.0, "p99_us": 99.4, "p99_9_us": 1500.0},
    ],
    "channels": [
        {"id": 1, "rate": 1_890_000_000, "bytes": 472_500_000},
        {"id": 2, "rate": 42_240_000, "bytes": 10_000_000},
        {"id": 3, "rate": 42_240_000, "bytes": 5_280_000},
    ],
    "bonding_groups": [
        group(2, 300, 0.5, 10.0, 60.0),
        group(3, 100, 0.1, 50.0, 80.0),
        group(1, 10**6, 0.0, 0.0, 0.0),
        group(2, 0, 0.0, 0.0, 0.0),
    ],
    "service_flows": [],
}


def test_scheduler_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    plane = PLANE | {"downstream": PLANE["downstream"] | {"scheduler": SCHEDULER}}
    summary.show(summary.merge(plane, {"downstream": DOWN}, ASKED), Console(width=100), [1])
    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if "1,234" in line)
    assert row.replace("│", " ").split() == ["7", "1,234", "2", "1", "99", "1,500"]
    assert "1 channel of 1.89 Gbps: 100% full\n" in shown
    assert "2 channels of 42.24 Mbps: 50% to 95% full\n" in shown
    assert "40% of the packets wait for others, all in the mean 20 us, at most 80 us\n" in shown


def test_no_bonded_channels() -> None:
    assert summary.skew([group(1, 5, 0.0, 0.0, 0.0)]) == "no packets on bonded channels"


def test_latencies_are_shown_where_they_were_measured() -> None:
    """Percentiles of both programs; the histogram is for the file."""
    inside = {"mean": 2.5, "p99_999": 12345.6, "histogram": [[1.0, 5]]}
    plane = PLANE | {"downstream": PLANE["downstream"] | {"pipeline_latency_us": inside}}
    plane |= {"upstream": PLANE["upstream"] | {"pipeline_latency_us": None}}
    whole = summary.merge(plane, {"downstream": DOWN, "upstream": UP}, ASKED)
    assert whole["downstream"]["pipeline_latency_us"] == inside
    console = Console(width=200)
    with console.capture() as captured:
        console.print(summary.packets_table(whole))
    shown = [line.replace("│", " ").split() for line in captured.get().splitlines()]
    assert ["latency", "mean", "4", "us", "4", "us"] in shown
    assert ["in", "the", "pipeline", "p99_999", "12,346", "us"] in shown
    assert not any("histogram" in row for row in shown)


def test_an_account_that_does_not_close_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Of any group: the sums of two mistakes may be 0."""
    groups = [{"id": 1, "downstream": {"unaccounted": 3}}, {"id": 2, "downstream": {}}]
    assert not summary.unaccounted({"downstream": {"unaccounted": 0}, "groups": []})
    assert summary.unaccounted({"downstream": {"unaccounted": 0}, "groups": groups})
    complaints.of_the_proof({"downstream": {"unaccounted": 0}, "groups": []})
    assert capsys.readouterr().err == ""
    complaints.of_the_proof({"downstream": {"unaccounted": 0}, "groups": groups})
    assert "the account of the traffic program does not close" in capsys.readouterr().err


def test_wrong_frames_are_told_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    clean = {"unexpected": {}, "unexpected_frames": 0, "corrupted": 0, "corrupted_by": {}}
    down = DOWN | clean | {"corrupted": 3, "corrupted_by": {"crc": 2, "tag": 1, "length": 0}}
    up = DOWN | clean | {"unexpected": {"foreign": 1}, "unexpected_frames": 1}
    complaints.of_wrong_frames({"downstream": down, "upstream": up}, "x.pcapng")
    foreign, corrupted = capsys.readouterr().err.splitlines()
    assert foreign.endswith(
        "1 frames came that nobody asked for (1 foreign); `wireshark x.pcapng` shows the first ones"
    )
    assert "3 frames were corrupted (2 crc, 1 tag); `wireshark x.pcapng`" in corrupted
