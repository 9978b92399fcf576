# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run --refuse-every` sends packets that vcmtsd must drop and count under their reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import ran_undisturbed, run_passed
from e2e.run.test_tool_run import PROFILE, run_tool


def run_refused(folder: Path, *options: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Per 32 packets, sends at most one that vcmtsd must drop; none if the drawn fault is
    impossible. Returns the run's summary, and the number of these packets sent downstream by drop
    reason."""
    path = folder / "summary.json"
    every = ("--refuse-every", "32", "--seed", "7", "--duration", "1s")
    done = run_tool(folder, "run", "--rate", "300Mbps", "--json", str(path), *every, *options)
    summary = json.loads(path.read_text())
    assert done.returncode == 0 or not run_passed(summary), done.stderr
    return summary, {name: one["packets"] for name, one in summary["downstream"]["refused"].items()}


@pytest.mark.run
def test_refused_packets_are_dropped_with_reason(folder: Path) -> None:
    summary, sent = run_refused(folder, "--profile", PROFILE)
    down = summary["downstream"]
    assert set(sent) == {
        *("ipv4_checksum", "ipv4_header", "ipv4_length", "ipv6_header", "ipv6_length"),
        *("arp_malformed", "multicast", "unknown_destination", "filter_deny"),
    }
    # A drawn fault may be impossible, but more than half of the draws must give a packet.
    assert down["refused_judged"] == sum(sent.values()) > down["sent"] / 64
    # If the system took vcmtsd's core, its port queue may overflow: it counts fewer drops than
    # sent.
    assert {name: down["drops"][name] for name in sent} == sent or not ran_undisturbed(summary)
    upstream = summary["upstream"]
    assert set(upstream["refused"]) == {
        *("privacy_missing", "key_unknown", "privacy_sid", "source_address"),
        *("outer_address", "unknown_session", "l2tp_control", "outer_ip_checksum"),
    }
    # refused_wrong: vcmtsd's drops per reason, compared with the packets sent (run/refusals.py).
    for part in (down, upstream):
        assert part["refused_wrong"] == part["corrupted"] == part["unexpected_frames"] == 0


@pytest.mark.run
def test_unmatched_packets_are_dropped_at_shared_ports(folder: Path) -> None:
    summary, sent = run_refused(folder, "--profile", PROFILE, "--groups", "2", "--ports", "shared")
    assert {"port_headers", "port_multicast", "port_unknown_destination"} <= set(sent)
    assert {"port_unknown_session", "port_l2tp_control"} <= set(summary["upstream"]["refused"])
    for part in (summary["downstream"], summary["upstream"]):
        assert part["refused_judged"] > 0
        assert part["refused_wrong"] == 0
