# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run --grants scheduled`: modems ask, wait for grants of MAPs, and every packet is proven.

Nothing is asked of when something came: MAPs that a busy machine makes late cost time, and are
told."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import check_accounts, heard_out, kept_up, proven
from e2e.run.test_tool_run import tool
from vcmts.paths import CHECKOUT

SCHEDULED = ("run", "--grants", "scheduled")
PROFILE = ("--profile", "2ofdm-0sc-qam_20cms_aes")
LIGHT = ("--rate", "20Mbps", "--upstream-rate", "10Mbps", "--duration", "500ms")

Json = dict[str, Any]


def mixed(folder: Path) -> tuple[str, str]:
    """OFDMA and SC-QAM, a flow on both and one on SC-QAM, one channel with request records."""
    text = (CHECKOUT / "config" / "example.yaml").read_text()
    path = folder / "mixed.yaml"
    path.write_text(text.replace("segment_header: false, ", "").replace("mtu: 2000", "mtu: 1500"))
    return "--config", str(path)


def carried(folder: Path, *words: str) -> tuple[subprocess.CompletedProcess[str], Json]:
    written = folder / "summary.json"
    done = tool(folder, *SCHEDULED, *words, "--verbose", "--json", str(written))
    assert written.exists(), done.stderr
    return done, json.loads(written.read_text())


def check_bytes(grants: Json) -> None:
    """Each byte that was queued is sent, waits or was given up; each granted has its name."""
    told: dict[str, int] = grants["bytes"]
    assert told["queued"] == told["sent"] + told["discarded"] + told["waiting"] > 0
    assert told["sent"] == told["used"] + told["beyond"]
    fates = ("used", "unused", "silent", "late", "lost", "coming")
    assert told["granted"] == sum(told[fate] for fate in fates)


def check_loop(upstream: Json) -> None:
    """What modems and R-PHY device tell, and what the data plane tells of them."""
    grants, scheduler = upstream["grants"], upstream["scheduler"]
    packets = grants["packets"]
    check_bytes(grants)
    assert packets["arrived"] == upstream["sent"] + packets["given_up"] + packets["waiting"]
    # the data plane makes MAPs from when it begins, also where nobody hears them yet
    assert 0 < grants["maps"]["seen"] <= scheduler["maps"]
    assert grants["maps"]["bad"] == grants["maps"]["wrong"] == 0
    assert grants["requests"]["contention"] > 0
    assert not any(upstream["access_wrong"].values())
    for channel in grants["channels"]:
        assert sum(channel["minislots"].values()) > 0 and channel["minislots"]["request"] > 0
    # of what was asked for, all that was not forgotten is granted or owed
    owed = scheduler["owed_bytes"] + scheduler["forgotten_bytes"]
    assert scheduler["asked_bytes"] + scheduler["unsolicited_bytes"] == (
        scheduler["granted_bytes"] + owed
    )


def check_received(told: Json) -> None:
    """Where nothing was lost on the way, requests and bursts that were sent are those that came."""
    upstream, counters = told["upstream"], told["upstream"]["counters"]
    if not (proven(told) and kept_up(told)):
        return
    assert counters["received"] == upstream["uepi_packets"]
    assert counters["bursts"] == upstream["bursts"]
    assert counters["segments"] + counters["no_bursts"] <= upstream["bursts"]
    assert counters["requests_taken"] > 0
    assert counters["requests_no_flow"] == counters["bad_requests"] == 0


@pytest.mark.run
@pytest.mark.parametrize("kind", ["ofdma", "mixed"])
def test_every_packet_is_proven(kind: str, folder: Path) -> None:
    done, told = carried(folder, *(PROFILE if kind == "ofdma" else mixed(folder)), *LIGHT)
    upstream = told["upstream"]
    check_accounts(told)
    check_loop(upstream)
    check_received(told)
    # no grant is longer than a burst that the data plane takes
    assert upstream["grants"]["bursts"]["oversized"] == 0
    assert done.returncode == (0 if proven(told) else 1)
    assert "requests of modems: " in done.stdout and "MAPs: " in done.stdout
    assert "latency from the modem's queue to the network: " in done.stdout
    for channel in upstream["grants"]["channels"]:
        assert f"upstream channel {channel['id']}: data " in done.stdout
    # packets are as old as their arrival at the modem: none was faster than its request and grant
    assert upstream["latency_us"]["p50"] > 0


@pytest.mark.run
def test_what_goes_wrong_costs_time_only(folder: Path) -> None:
    words = ("--impair", "map-loss=5%,map-late=2%,request-loss=10%")
    done, told = carried(folder, *PROFILE, *LIGHT, *words)
    grants = told["upstream"]["grants"]
    check_accounts(told)
    check_loop(told["upstream"])
    assert done.returncode == (0 if proven(told) else 1)
    assert grants["maps"]["late"] >= grants["maps"]["delayed"]
    if heard_out(told):  # there were enough of them
        assert grants["maps"]["lost"] > 0 and grants["maps"]["delayed"] > 0
        assert grants["requests"]["lost"] > 0 and grants["requests"]["unanswered"] > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--impair", "psp-loss=1%"), "with --grants open only"),
        (("--upstream-rate", "0"), "do not request without"),
        (("--config", str(CHECKOUT / "config" / "example.yaml")), "segment headers"),
        (("--upstream-rate", "max"), "other than max"),
    ],
)
def test_mistakes(words: tuple[str, ...], said: str, folder: Path) -> None:
    group = () if "--config" in words else PROFILE
    short = ("--rate", "20Mbps", "--duration", "100ms")
    done = tool(folder, *SCHEDULED, *group, *short, *words)
    assert done.returncode == 2
    assert said in done.stderr
