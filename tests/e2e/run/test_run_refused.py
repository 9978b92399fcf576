# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run` sends what vcmtsd has to drop, and holds it against the drops."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import kept_up, passed
from e2e.run.test_tool_run import PROFILE, tool


def run_refused(folder: Path, *words: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The summary of a run in which one packet in 32 has to be dropped, and how many by reason."""
    path = folder / "summary.json"
    every = ("--refuse-every", "32", "--seed", "7", "--duration", "1s")
    done = tool(folder, "run", "--rate", "300Mbps", "--json", str(path), *every, *words)
    told = json.loads(path.read_text())
    assert done.returncode == 0 or not passed(told), done.stderr
    return told, {name: one["packets"] for name, one in told["downstream"]["refused"].items()}


@pytest.mark.run
def test_what_has_to_be_dropped_is(folder: Path) -> None:
    told, sent = run_refused(folder, "--profile", PROFILE)
    down = told["downstream"]
    assert set(sent) == {
        *("ipv4_checksum", "ipv4_header", "ipv4_length", "ipv6_header", "ipv6_length"),
        *("arp_malformed", "multicast", "unknown_destination", "filter_deny"),
    }
    assert down["refused_judged"] == sum(sent.values()) > down["sent"] / 64
    assert {name: down["drops"][name] for name in sent} == sent or not kept_up(told)
    upstream = told["upstream"]
    assert set(upstream["refused"]) == {
        *("privacy_missing", "key_unknown", "privacy_sid", "source_address"),
        *("outer_address", "unknown_session", "l2tp_control", "outer_ip_checksum"),
    }
    for part in (down, upstream):
        assert part["refused_wrong"] == part["corrupted"] == part["unexpected_frames"] == 0


@pytest.mark.run
def test_what_no_group_takes_is_dropped_at_a_port_that_groups_share(folder: Path) -> None:
    told, sent = run_refused(folder, "--profile", PROFILE, "--groups", "2", "--ports", "shared")
    assert {"port_headers", "port_multicast", "port_unknown_destination"} <= set(sent)
    assert {"port_unknown_session", "port_l2tp_control"} <= set(told["upstream"]["refused"])
    for part in (told["downstream"], told["upstream"]):
        assert part["refused_judged"] > 0
        assert part["refused_wrong"] == 0
