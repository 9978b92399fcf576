# SPDX-License-Identifier: BSD-3-Clause
"""Tests refusals.py: vcmtsd drops exactly the packets that were sent to be dropped."""

from collections import Counter
from typing import Any

import pytest

from vcmts.run import refusals
from vcmts.run.witness import unintended
from vcmts.witness.downstream import Problem

Json = dict[str, Any]


def sent(packets: int, nbytes: int = 0, ipv4: int = 0) -> Json:
    return {"packets": packets, "bytes": nbytes, "ipv4": ipv4, "ipv6": packets - ipv4}


def run(dropped: int = 5, at_port: int = 2, **more: Any) -> Json:
    down = {
        "refused": {"multicast": sent(5, 500, 3), "port_headers": sent(2, 90)},
        "drops": {"multicast": dropped, "runt": 0},
        "lost": 0,
    }
    return {
        "downstream": down | more,
        "shared_ports": [{"drops": {"port_headers": at_port}}, {"drops": {"port_headers": 0}}],
    }


def failures(merged: Json) -> int:
    """The difference between the packets that had to be dropped and those that were, downstream."""
    refusals.add(merged)
    return int(merged["downstream"]["refused_wrong"])


def test_equal_numbers_are_no_fault() -> None:
    merged = run()
    assert failures(merged) == 0
    assert merged["downstream"]["refused_judged"] == 7


@pytest.mark.parametrize("counts", [(4, 2), (6, 2), (5, 1), (5, 3)])
def test_difference_is_a_fault(counts: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> None:
    assert failures(run(*counts)) == 1
    assert "packets were sent that must be dropped as" in capsys.readouterr().err


def test_losses_excuse_fewer_drops() -> None:
    assert failures(run(dropped=4, lost=1)) == 0
    assert failures(run(dropped=6, lost=1)) == 1
    assert failures(run(dropped=4) | {"ports": {"network": {"missed": 1}}}) == 0
    assert failures(run(dropped=4) | {"ports": {"rphy": {"missed": 1}}}) == 1


def test_changed_configuration_is_not_checked() -> None:
    merged = run(dropped=9) | {"follow": {"changes": 1}}
    assert failures(merged) == 0
    assert merged["downstream"]["refused_judged"] == 0


def test_packets_of_group_and_port_are_counted() -> None:
    down = run()["downstream"]
    assert [refusals.refused_sum(down, key) for key in ("packets", "bytes")] == [5, 500]
    assert [refusals.refused_sum(down, key) for key in ("ipv4", "ipv6")] == [3, 2]
    assert [refusals.refused_sum(down, f"at_port_{key}") for key in ("packets", "bytes")] == [2, 90]


def test_unintended_drops_are_accidental() -> None:
    assert refusals.other_drops(run(dropped=7)["downstream"]) == {"multicast": 2}
    assert not refusals.other_drops(run()["downstream"])


def test_decoder_expects_intended_faults() -> None:
    refused = Counter({"key_unknown": 1})
    problems = [Problem(n, "no key", "key_unknown") for n in (1, 2)] + [Problem(3, "CRC")]
    assert [one.packet for one in unintended(problems, refused)] == [2, 3]
