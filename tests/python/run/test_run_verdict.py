# SPDX-License-Identifier: BSD-3-Clause
"""Tests verdict.py and figures.py: what fails a run, what is allowed, and the figures before it."""

import argparse
from copy import deepcopy
from typing import Any

import pytest

from vcmts import cli
from vcmts.run import figures, rates, verdict

Json = dict[str, Any]
HZ = 2_000_000_000
PART: Json = {
    **{"sent": 1000, "proven": 1000, "lost": 0, "overtaken": 0, "corrupted": 0, "duplicated": 0},
    **{"reordered": 0, "undecipherable": 0, "unaccounted": 0, "unexpected_frames": 0},
    **{"balanced": True, "asked_gbps": 1.0, "gbps": 0.9, "sent_bytes": 125_000_000},
    **{"sent_seconds": 1.0, "seconds": 1.0, "drops": {}},
    "sent_tsc": [0, HZ],
}


def run(down: Json | None = None, up: Json | None = None, **more: Any) -> Json:
    """A summary, with changes of PART per direction."""
    parts = {"downstream": PART | (down or {}), "upstream": PART | (up or {})}
    group: Json = {"id": 7, **deepcopy(parts)}
    threads = {"gaps": {"shorter": 0, "list": [[0, HZ // 25]]}, "workers": []}  # 40 ms
    host = {"host": {"tsc_hz": HZ}}
    return deepcopy(parts) | {"groups": [group], "unexplained": None} | threads | host | more


def text_of(**arguments: Any) -> str:
    return verdict.of_run(run(**arguments)).text()


UNEXPLAINED = {"lost": 0, "reordered": 0}
IMPAIRED = {"expected": {"lost": 3, "corrupted": 2}, "lost": 3, "corrupted": 2, "proven": 995}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "PASS: 2,000 of 2,000 packets proven, 0 lost"),
        (
            {"down": {"proven": 949, "overtaken": 51}},
            "PASS: 1,949 of 2,000 packets proven, 51 overtaken by changes (allowed), 0 lost",
        ),
        (
            {"down": {"proven": 906, "overtaken": 51, "corrupted": 43}},
            "FAIL: 43 corrupted, 51 overtaken by changes (allowed), 0 lost; "
            "1,906 of 2,000 packets proven",
        ),
        ({"up": {"proven": 990, "lost": 10}}, "FAIL: 10 lost; 1,990 of 2,000 packets proven"),
        ({"up": {"reordered": 1}}, "FAIL: 1 reordered, 0 lost; 2,000 of 2,000 packets proven"),
        (
            {"down": {"duplicated": 3}, "up": {"duplicated": 1, "unaccounted": 4}},
            "FAIL: 4 duplicated, 4 unaccounted, 0 lost; 2,000 of 2,000 packets proven",
        ),
        (
            {"down": {"proven": 990, "undecipherable": 10, "unexpected_frames": 2}},
            "FAIL: 10 undecipherable, 2 unexpected frames, 0 lost; 1,990 of 2,000 packets proven",
        ),
        (
            {"down": {"depi_violations": {"mac": 2, "sequence_gap": 1, "ip": 0}}},
            "FAIL: 3 violations of DEPI, 0 lost; 2,000 of 2,000 packets proven",
        ),
        (
            {
                "down": {"proven": 988, "lost": 12, "reordered": 3},
                "unexplained": {"downstream": UNEXPLAINED, "upstream": UNEXPLAINED},
            },
            "PASS: 1,988 of 2,000 packets proven, 12 lost and 3 reordered while the system used a "
            "core for up to 40 ms (allowed), 0 lost",
        ),
        (
            {
                "down": {"proven": 988, "lost": 12},
                "unexplained": {"downstream": UNEXPLAINED | {"lost": 2}, "upstream": UNEXPLAINED},
            },
            "FAIL: 2 lost, 10 lost while the system used a core for up to 40 ms (allowed); "
            "1,988 of 2,000 packets proven",
        ),
        (
            {
                "down": {"proven": 988, "lost": 12},
                "unexplained": {"downstream": UNEXPLAINED | {"lost": 12}, "upstream": UNEXPLAINED},
            },
            "FAIL: 12 lost; 1,988 of 2,000 packets proven",
        ),
        (
            {"up": IMPAIRED},
            "PASS: 1,995 of 2,000 packets proven, 3 lost and 2 corrupted by --impair (allowed), "
            "0 lost",
        ),
        (
            {"up": IMPAIRED | {"lost": 4, "proven": 994}},
            "FAIL: 1 lost, 3 lost and 2 corrupted by --impair (allowed); "
            "1,994 of 2,000 packets proven",
        ),
        (
            {"up": {"balanced": False}},
            "FAIL: packets in vcmtsd unaccounted, 0 lost; 2,000 of 2,000 packets proven",
        ),
        (
            {"identities_broken": ["a", "b"]},
            "FAIL: 2 differing sums of counters, 0 lost; 2,000 of 2,000 packets proven",
        ),
    ],
)
def test_verdict_says_what_happened(arguments: dict[str, Any], text: str) -> None:
    assert text_of(**arguments) == text
    found = verdict.of_run(run(**arguments))
    assert found.passed == text.startswith("PASS: ") == (found.document()["failures"] == [])


@pytest.mark.parametrize("words", verdict.ERRORS)
def test_errors_without_missing_packets_fail(words: str) -> None:
    keys: Json = {
        "unexpected frames": {"unexpected_frames": 5},
        "violations of DEPI": {"depi_violations": {"x": 5}},
        "skipped DSID sequence numbers": {"resequencing": {"skipped": 5}},
        "drops too few or too many": {"refused_wrong": 5},
        "errors found by the independent decoder": {"witness": {"wrong": 5}},
        "late without a reason": {"late": 5},
        "rates, priorities or weights violated": {"qos_wrong": {"rates": 5}},
        "errors of MAPs and requests": {"access_wrong": {"maps": 5}},
    }
    assert verdict.of_run(run(down=keys[words])).failures == [f"5 {words}"]


def test_groups_without_packets_fail() -> None:
    found = run()
    found["groups"][0]["upstream"]["sent"] = 0
    assert verdict.of_run(found).failures == ["no packet was sent upstream"]
    found["groups"].append({"id": 8, "downstream": dict(PART)})
    assert verdict.of_run(found).failures == ["no packet of service group 7 was sent upstream"]
    assert " of 2,000 packets of 2 service groups proven" in verdict.of_run(found).text()


@pytest.mark.parametrize(
    ("status", "down", "failures"),
    [
        (0, {}, []),
        (1, {}, ["vcmts-traffic ended with status 1"]),
        (1, {"duplicated": 1}, ["1 duplicated"]),
        (2, {}, ["vcmts-traffic ended with status 2"]),
        (-9, {}, ["vcmts-traffic ended with status -9"]),
    ],
)
def test_status_of_traffic_counts(status: int, down: Json, failures: list[str]) -> None:
    """A failure of vcmts-traffic that the summary does not name fails the run, too."""
    assert verdict.of_run(run(down=down), status).failures == failures


def test_gaps_excuse_the_status_of_traffic() -> None:
    explained = {"downstream": UNEXPLAINED, "upstream": UNEXPLAINED}
    found = run(down={"reordered": 1}, unexplained=explained)
    assert verdict.of_run(found, 1).passed
    assert not verdict.of_run(found, 1, ["more"]).passed


@pytest.mark.parametrize(
    ("sent", "asked", "packets", "fails"),
    [
        (0.865, True, 1000, False),
        (0.863, True, 1000, True),
        (0.899, False, 1000, False),  # a default is no promise
        (0.1, True, 9, False),  # of 90 packets: too few to tell
        (0.1, True, 10, True),
    ],
)
def test_less_than_90_percent_of_an_asked_rate_fails(
    sent: float, asked: bool, packets: int, fails: bool
) -> None:
    """The gap of 40 ms counts as time without traffic."""
    down = {"sent_bytes": round(sent * 125_000_000), "sent": packets, "proven": packets}
    found = run(down=down)
    verdict.set_least_rates(found, frozenset({"downstream"} if asked else ()))
    assert found["downstream"]["least_gbps"] == (pytest.approx(0.864) if asked else None)
    assert found["upstream"]["least_gbps"] is None
    text = f"only {1000 * sent:.2f} Mbps" if sent < 0.1 else f"only {sent:.2f} Gbps"
    expected = [f"{text} of 1.00 Gbps sent downstream"] if fails else []
    assert verdict.of_run(found).failures == expected == verdict.rate_texts(found, failed=True)


def test_lower_rate_is_allowed_in_gaps() -> None:
    found = run(down={"sent_bytes": round(0.87 * 125_000_000)})
    verdict.set_least_rates(found, frozenset({"downstream"}))
    assert verdict.of_run(found).allowed == [
        "only 0.87 Gbps of 1.00 Gbps sent downstream while the system used a core for 4 % of the "
        "time"
    ]
    assert verdict.of_run(found).passed
    found["upstream"]["sent_bytes"] = 1_250_000
    verdict.set_least_rates(found, frozenset({"downstream", "upstream"}))
    [failure] = verdict.of_run(found).failures
    assert failure == "only 10.00 Mbps of 1.00 Gbps sent upstream"
    found["downstream"]["sent_bytes"] = 1_250_000
    [failure] = verdict.of_run(found).failures
    assert failure.endswith("sent downstream and 10.00 Mbps of 1.00 Gbps sent upstream")
    found["downstream"]["sent_bytes"], found["upstream"] = round(0.87 * 125_000_000), dict(PART)
    found["workers"] = [{}]  # gaps were not recorded
    verdict.set_least_rates(found, frozenset({"downstream"}))
    assert not verdict.of_run(found).passed


def test_rate_max_never_fails() -> None:
    found = run(down={"asked_gbps": None, "sent_bytes": 1})
    verdict.set_least_rates(found, frozenset({"downstream"}))
    assert found["downstream"]["least_gbps"] is None and verdict.of_run(found).passed


def options(*words: str) -> argparse.Namespace:
    return cli.make_parser(["run"]).parse_args(["run", *words])


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("", set()),
        ("--rate 2Gbps", {"downstream"}),
        ("--upstream-rate 2Gbps", {"upstream"}),
        ("--rate 2Gbps --upstream-rate 1Gbps", {"downstream", "upstream"}),
        ("--upstream-share 10%", set()),
        ("--rate 2Gbps --upstream-share 10%", {"downstream", "upstream"}),
    ],
)
def test_only_rates_of_options_are_asked(words: str, asked: set[str]) -> None:
    assert rates.asked(options(*words.split())) == asked


def test_figures_have_a_column_per_direction() -> None:
    latency = {"mean": 1234.4, "p99_9": 53150.0}
    found = run(
        down={"latency_us": latency, "cycles_per_packet": {"total": 3797.0}, "asked_gbps": 20.0},
        up={"asked_gbps": None, "gbps": 0.05, "latency_us": None},
    )
    found["workers"] = [{"name": "upstream", "busy_share": 0.25}]
    pauses = {"kind": "sleep", "busy": 1.0, "idle": 3.0, "paused": 2.0}
    found["power"] = {"workers": [pauses]}
    assert figures.lines(found, [3]) == [
        "                downstream      upstream",
        "requested       20.00 Gbps           max",
        "throughput       0.90 Gbps    50.00 Mbps",
        "latency           1,234 us     not known  mean",
        "                 53,150 us     not known  99.9 % of packets at most",
        "cost                 3,797             0  reference cycles per packet",
        "core 3                25 %  busy, 50 % paused (sleep): upstream",
    ]
    found["workers"], found["power"]["workers"] = found["workers"] * 5, [pauses] * 5
    found["workers"][4] = {"name": "upstream", "busy_share": 0.5}
    assert figures.lines(found, [1, 2, 3, 4, 5])[6:] == ["5 cores     25 % to 50 % busy"]
