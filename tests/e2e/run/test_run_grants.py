# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run --grants scheduled`: modems request, wait for grants in MAPs, and every packet is
proven.

Tests do not check delays: on a busy machine, MAPs are late, which costs time and is reported.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import all_proven, check_balance, ran_undisturbed, waited_for_all
from e2e.run.test_tool_run import run_tool
from vcmts.paths import CHECKOUT

SCHEDULED = ("run", "--grants", "scheduled")
PROFILE = ("--profile", "2ofdm-0sc-qam_20cms_aes")
LIGHT = ("--rate", "20Mbps", "--upstream-rate", "10Mbps", "--duration", "500ms")

Json = dict[str, Any]


def mixed(folder: Path) -> tuple[str, str]:
    """Options for the example with OFDMA and SC-QAM: a flow on both, and one on SC-QAM only."""
    text = (CHECKOUT / "config" / "example.yaml").read_text()
    path = folder / "mixed.yaml"
    path.write_text(text.replace("segment_header: false, ", "").replace("mtu: 2000", "mtu: 1500"))
    return "--config", str(path)


def run_scheduled(folder: Path, *options: str) -> tuple[subprocess.CompletedProcess[str], Json]:
    """Runs the tool with the upstream scheduler. Returns the process and the summary."""
    path = folder / "summary.json"
    done = run_tool(folder, *SCHEDULED, *options, "--verbose", "--json", str(path))
    assert path.exists(), done.stderr
    return done, json.loads(path.read_text())


def check_bytes(grants: Json) -> None:
    """Checks the balance of queued bytes, and that each granted byte is counted once."""
    counts: dict[str, int] = grants["bytes"]
    assert counts["queued"] == counts["sent"] + counts["discarded"] + counts["waiting"] > 0
    assert counts["sent"] == counts["used"] + counts["beyond"]
    fates = ("used", "unused", "silent", "late", "lost", "coming")
    assert counts["granted"] == sum(counts[fate] for fate in fates)


def check_loop(upstream: Json) -> None:
    """Compares counters of modems and R-PHY device with those of the data plane."""
    grants, scheduler = upstream["grants"], upstream["scheduler"]
    packets = grants["packets"]
    check_bytes(grants)
    assert packets["arrived"] == upstream["sent"] + packets["given_up"] + packets["waiting"]
    # the data plane sends MAPs before the traffic program receives them
    assert 0 < grants["maps"]["seen"] <= scheduler["maps"]
    assert grants["maps"]["bad"] == grants["maps"]["wrong"] == 0
    assert grants["requests"]["contention"] > 0
    assert not any(upstream["access_wrong"].values())
    for channel in grants["channels"]:
        assert sum(channel["minislots"].values()) > 0 and channel["minislots"]["request"] > 0
    # all requested bytes are granted, owed or forgotten
    owed = scheduler["owed_bytes"] + scheduler["forgotten_bytes"]
    assert scheduler["asked_bytes"] + scheduler["unsolicited_bytes"] == (
        scheduler["granted_bytes"] + owed
    )


def check_received(summary: Json) -> None:
    """Without losses, the data plane counts all requests and bursts that were sent."""
    upstream, counters = summary["upstream"], summary["upstream"]["counters"]
    if not (all_proven(summary) and ran_undisturbed(summary)):
        return
    assert counters["received"] == upstream["uepi_packets"]
    assert counters["bursts"] == upstream["bursts"]
    assert counters["segments"] + counters["no_bursts"] <= upstream["bursts"]
    assert counters["requests_taken"] > 0
    assert counters["requests_no_flow"] == counters["bad_requests"] == 0


@pytest.mark.run
@pytest.mark.parametrize("kind", ["ofdma", "mixed"])
def test_scheduled_grants_prove_every_packet(kind: str, folder: Path) -> None:
    done, summary = run_scheduled(folder, *(PROFILE if kind == "ofdma" else mixed(folder)), *LIGHT)
    upstream = summary["upstream"]
    check_balance(summary)
    check_loop(upstream)
    check_received(summary)
    # no grant exceeds the burst size of the data plane
    assert upstream["grants"]["bursts"]["oversized"] == 0
    assert done.returncode == (0 if all_proven(summary) else 1)
    assert "requests of modems: " in done.stdout and "MAPs: " in done.stdout
    assert "latency from the modem's queue to the network: " in done.stdout
    for channel in upstream["grants"]["channels"]:
        assert f"upstream channel {channel['id']}: data " in done.stdout
    # latency counts from the arrival at the modem, so it includes request and grant
    assert upstream["latency_us"]["p50"] > 0


@pytest.mark.run
def test_lost_maps_and_requests_lose_no_packet(folder: Path) -> None:
    options = ("--impair", "map-loss=5%,map-late=2%,request-loss=10%")
    done, summary = run_scheduled(folder, *PROFILE, *LIGHT, *options)
    grants = summary["upstream"]["grants"]
    check_balance(summary)
    check_loop(summary["upstream"])
    assert done.returncode == (0 if all_proven(summary) else 1)
    assert grants["maps"]["late"] >= grants["maps"]["delayed"]
    if waited_for_all(summary):  # enough packets
        assert grants["maps"]["lost"] > 0 and grants["maps"]["delayed"] > 0
        assert grants["requests"]["lost"] > 0 and grants["requests"]["unanswered"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--impair", "psp-loss=1%"), "need --grants open"),
        (("--upstream-rate", "0"), "do not request without"),
        (("--config", str(CHECKOUT / "config" / "example.yaml")), "segment headers"),
        (("--upstream-rate", "max"), "other than max"),
    ],
)
def test_invalid_options_are_rejected(options: tuple[str, ...], message: str, folder: Path) -> None:
    group = () if "--config" in options else PROFILE
    short = ("--rate", "20Mbps", "--duration", "100ms")
    done = run_tool(folder, *SCHEDULED, *group, *short, *options)
    assert done.returncode == 2
    assert message in done.stderr
