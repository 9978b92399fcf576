# SPDX-License-Identifier: BSD-3-Clause
"""Tests summary.py and complaints.py: merged results, tables and warnings."""

from typing import Any

import pytest
from rich.console import Console

from vcmts.run import complaints, groups, summary, verdict

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
REQUESTED_GBPS = {"downstream": 4.5, "upstream": None}
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


def test_summary_has_sent_directions() -> None:
    merged = summary.merge(PLANE, {"downstream": DOWN}, REQUESTED_GBPS)
    assert set(merged) == {"downstream", "groups", "workers", "power", "ports", "host"}
    both = summary.merge(PLANE, {"downstream": DOWN, "upstream": UP}, REQUESTED_GBPS)
    assert both["downstream"]["drops"] == {"runt": 0, "vlan": 2}
    assert "received" not in both["downstream"], "a counter has it"
    assert both["upstream"]["requests"]["modems"] == 20
    assert both["upstream"]["requests_sent"] == 7, "the traffic's count has another key"


@pytest.mark.parametrize("direction", ["downstream", "upstream"])
def test_unbalanced_direction_is_unbalanced_run(direction: str) -> None:
    proven = {"downstream": DOWN, "upstream": UP}
    assert summary.balanced(summary.merge(PLANE, proven, REQUESTED_GBPS))
    unbalanced = PLANE | {direction: PLANE[direction] | {"balanced": False}}
    assert not summary.balanced(summary.merge(unbalanced, proven, REQUESTED_GBPS))


@pytest.mark.parametrize(
    ("part", "traffic_us", "worker_us", "expected"),
    [
        ({"reordered": 1}, 38_000.4, 100.0, "the traffic for up to 38 ms"),
        ({"lost": 2}, 100.0, 38_000.4, "upstream for up to 38 ms"),
        ({"lost": 2}, 4_999.0, 4_999.0, ""),
        ({"lost": 2, "expected": {"lost": 2}}, 38_000.0, 38_000.0, ""),
        ({}, 38_000.0, 38_000.0, ""),
    ],
)
def test_descheduled_core_is_reported_with_faults(
    part: dict[str, Any],
    traffic_us: float,
    worker_us: float,
    expected: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    traffic = {"descheduled": {"count": 1, "longest_us": traffic_us}}
    worker = {"name": "upstream", "descheduled": {"count": 1, "longest_us": worker_us}}
    complaints.report_lost_cores({"downstream": DOWN | part | traffic, "workers": [worker]})
    err = capfd.readouterr().err
    assert bool(err) == bool(expected) and expected in err


@pytest.mark.parametrize("balanced", [True, False])
def test_unbalanced_group_is_reported(balanced: bool, capfd: pytest.CaptureFixture[str]) -> None:
    good = {"downstream": {"balanced": True}}
    complaints.report_unbalanced_plane(
        good | {"groups": [good, {"downstream": {"balanced": balanced}}]}
    )
    assert ("unaccounted for" in capfd.readouterr().err) is not balanced


@pytest.mark.parametrize(
    ("gbps", "text"), [(4.5, "4.50 Gbps"), (0.1, "0.10 Gbps"), (0.075, "75.00 Mbps")]
)
def test_rate_has_a_unit(gbps: float, text: str) -> None:
    assert groups.rate(gbps) == text


def test_plural_of_modems() -> None:
    by_kind = {"frame": 1}
    assert summary.requests_line({"by_kind": by_kind, "modems": 1}).endswith(
        "1 by frame, of 1 modem"
    )
    assert summary.requests_line({"by_kind": by_kind, "modems": 0}).endswith("of 0 modems")


def test_tables_of_verbose_output(capsys: pytest.CaptureFixture[str]) -> None:
    merged = summary.merge(PLANE, {"downstream": DOWN, "upstream": UP}, REQUESTED_GBPS)
    summary.show(merged, Console())
    lines = capsys.readouterr().out.splitlines()
    table = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]
    assert ["sent", "1,000", "300"] in table
    assert ["dropped: vlan", "2", ""] in table
    assert ["dropped: frame_hcs", "", "1,234"] in table
    assert not [row for row in table if "dropped: runt" in row]
    assert ["packets", "5", "4", "1", "0"] in table
    assert "bandwidth requests: 1,500 by record, of 20 modems" in lines
    assert ["requested rate", "4.50 Gbps", "max"] in table
    assert ["sent rate", "4.00 Gbps", "0.64 Gbps"] in table


def test_packets_denied_after_a_change_are_overtaken(capsys: pytest.CaptureFixture[str]) -> None:
    """The traffic program did not know the new rule yet. The data plane has the drop reason."""
    denied = PLANE["downstream"] | {"drops": {"filter_deny": 10}}
    down = DOWN | {"proven": 990, "overtaken": 10}
    proven = {"downstream": down, "upstream": UP | {"overtaken": 0}}
    merged = summary.merge(PLANE | {"downstream": denied}, proven, REQUESTED_GBPS)
    summary.show(merged, Console())
    out = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    assert ["overtaken", "10", "0"] in rows
    assert ["dropped: filter_deny", "10", ""] in rows
    assert verdict.of_run(merged).text().endswith(" 10 overtaken by changes (allowed), 0 lost")


def group(channels: int, packets: int, early: float, mean: float, highest: float) -> dict[str, Any]:
    """The skew of a bonding group."""
    result = {"id": 1, "channels": channels, "packets": packets, "early_share": early}
    return result | {"mean_skew_us": mean, "max_skew_us": highest}


SCHEDULER: dict[str, Any] = {
    "delay": [
        {"priority": 7, "packets": 1234, "mean_us": 1.6}
        | {"p50_us": 0.256, "p99_us": 99.4, "p99_9_us": 1500.0}
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


def test_scheduler_output(capsys: pytest.CaptureFixture[str]) -> None:
    plane = PLANE | {"downstream": PLANE["downstream"] | {"scheduler": SCHEDULER}}
    summary.show(summary.merge(plane, {"downstream": DOWN}, REQUESTED_GBPS), Console(width=100))
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if "1,234" in line)
    assert row.replace("│", " ").split() == ["7", "1,234", "1.60", "<0.26", "99.4", "1,500"]
    assert "1 channel of 1.89 Gbps: 100% full\n" in out
    assert "2 channels of 42.24 Mbps: 50% to 95% full\n" in out
    assert "40% of the packets wait for earlier ones, mean of all 20 us, maximum 80 us\n" in out


def test_skew_without_bonded_channels() -> None:
    assert summary.skew_line([group(1, 5, 0.0, 0.0, 0.0)]) == "no packets on bonded channels"


def test_measured_latencies_are_printed() -> None:
    """The table has percentiles; the histogram is only in the JSON."""
    inside = {"mean": 2.5, "p99_999": 12345.6, "histogram": [[1.0, 5]]}
    plane = PLANE | {"downstream": PLANE["downstream"] | {"pipeline_latency_us": inside}}
    plane |= {"upstream": PLANE["upstream"] | {"pipeline_latency_us": None}}
    merged = summary.merge(plane, {"downstream": DOWN, "upstream": UP}, REQUESTED_GBPS)
    assert merged["downstream"]["pipeline_latency_us"] == inside
    console = Console(width=200)
    with console.capture() as captured:
        console.print(summary.packets_table(merged))
    out = [line.replace("│", " ").split() for line in captured.get().splitlines()]
    assert ["latency", "mean", "4", "us", "4", "us"] in out
    assert ["in", "the", "pipeline", "p99_999", "12,346", "us"] in out
    assert not any("histogram" in row for row in out)


def test_unaccounted_packets_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """Groups are checked one by one, as their errors may cancel out."""
    groups = [{"id": 1, "downstream": {"unaccounted": 3}}, {"id": 2, "downstream": {}}]
    assert not summary.unaccounted({"downstream": {"unaccounted": 0}, "groups": []})
    assert summary.unaccounted({"downstream": {"unaccounted": 0}, "groups": groups})
    complaints.report_unbalanced_traffic({"downstream": {"unaccounted": 0}, "groups": []})
    assert capsys.readouterr().err == ""
    complaints.report_unbalanced_traffic({"downstream": {"unaccounted": 0}, "groups": groups})
    assert "packets of the traffic program are unaccounted for" in capsys.readouterr().err


def test_wrong_frames_are_reported_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    clean = {"unexpected": {}, "unexpected_frames": 0, "corrupted": 0, "corrupted_by": {}}
    down = DOWN | clean | {"corrupted": 3, "corrupted_by": {"crc": 2, "tag": 1, "length": 0}}
    up = DOWN | clean | {"unexpected": {"foreign": 1}, "unexpected_frames": 1}
    complaints.report_wrong_frames({"downstream": down, "upstream": up}, "x.pcapng")
    foreign, corrupted = capsys.readouterr().err.splitlines()
    assert foreign.endswith(
        "1 frames were unexpected (1 foreign); see the first ones with `wireshark x.pcapng`"
    )
    assert (
        "3 frames were corrupted (2 crc, 1 tag); see the first ones with `wireshark x.pcapng`"
        in corrupted
    )


@pytest.mark.parametrize(
    ("sent", "packets", "wanted", "warning"),
    [
        (0.949, 100, 1.0, "requested"),
        (0.949, 100, -1.0, "default"),
        (0.951, 100, 1.0, ""),
        (0.5, 99, 1.0, ""),
        (0.5, 100, None, ""),
        (2.0, 100, 1.0, ""),
    ],
)
def test_missed_rate_is_reported(
    sent: float,
    packets: int,
    wanted: float | None,
    warning: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A negative rate: it was not asked."""
    part = {
        "sent": packets,
        "sent_bytes": sent * 2e9 / 8,
        "seconds": 2.0,
        "sent_seconds": 2.0,
        "asked_gbps": wanted and abs(wanted),
        "least_gbps": wanted and (0.9 if wanted > 0 else None),
    }
    complaints.report_low_rates({"upstream": part})
    error = capfd.readouterr().err
    assert bool(error) == bool(warning)
    if warning:
        assert error.count("\n") == 1 and "upstream" in error and f" {warning} rate" in error
        assert ("--rate max" in error) == (warning == "requested")
    complaints.report_low_rates({"upstream": part}, ordinary_pages=True)
    assert ("huge pages" in capfd.readouterr().err) == bool(warning)
