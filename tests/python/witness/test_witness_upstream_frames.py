# SPDX-License-Identifier: BSD-3-Clause
"""The model's whole frames: every drop reason with what was counted by hand."""

from dataclasses import replace

import pytest

from vcmts.witness.config import parse_config
from vcmts.witness.ip import read_frame
from vcmts.witness.source import may_send
from witness.cable_modem import (
    Dress,
    fragment,
    management_frame,
    packet_frame,
)
from witness.frame_cases import CONFIG, INSIDE, MESSAGE, SOURCES, case, old
from witness.rig import (
    OLD,
    PLAIN,
    Case,
    Rig,
    check,
    packet,
    plain,
    spoilt,
    whole,
)
from witness.sample import UPSTREAM


def test_crc_is_looked_at_on_request_only() -> None:
    rig = Rig(parse_config(UPSTREAM.replace("verify_crc: true", "verify_crc: false")))
    whole(rig, spoilt(plain(), 69))
    result = rig.result()
    assert not result.drops and result.stream(201, 0) == [packet()]


def test_no_control_port() -> None:
    rig = Rig(replace(CONFIG, control_port=False))
    whole(rig, management_frame(MESSAGE), plain())
    result = rig.result()
    assert result.drops == {"no_control_port": 1} and result.counters["transmitted"] == 1


def test_without_verification_everything_passes() -> None:
    rig = Rig(parse_config(UPSTREAM.replace("verify_crc: true", "verify_source: false")))
    good = packet()
    whole(rig, packet_frame(PLAIN.security, 10, good[:14] + b"\x44" + good[15:], Dress(None)))
    result = rig.result()
    assert result.counters["transmitted"] == 1 and not result.counters["ipv4"]


@pytest.mark.parametrize(("frame", "allowed"), SOURCES)
def test_source_addresses(frame: bytes, allowed: bool) -> None:
    assert may_send(read_frame(frame), PLAIN.addresses) is allowed


@pytest.mark.parametrize("item", case.cases, ids=lambda item: item.name)
def test_counts(item: Case) -> None:
    check(item, Rig())


def test_what_is_held() -> None:
    rig = Rig()
    old(rig, *fragment(OLD.security, 20, INSIDE, [20, 40])[:2])
    model = rig.model()
    assert model.result().held == {"packet": 0, "burst": 0, "segment": 0, "frame": 2}
    model.stop()
    assert model.result().drops == {"stopped": 2}


def test_every_reason_is_met() -> None:
    contents = """management_crc privacy_missing privacy_sid key_unknown frame_crc fragment_crc
        fragment_order fragment_too_long"""
    assert set(contents.split()) <= case.reasons
