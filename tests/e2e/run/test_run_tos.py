# SPDX-License-Identifier: BSD-3-Clause
"""IP TOS overwrite in real time: masks that change under traffic, and a peer that knows others."""

from random import Random

import pytest

from e2e.changes.changing import Changing, Json, changing, check, modems_of
from e2e.machine import kept_up

pytestmark = pytest.mark.run

PROFILE = "2ofdm-0sc-qam_20cms_aes"
RATE = "20Mbps"
CHANGES = 60
LISTS = ("service_flows", "upstream_service_flows")


def overwrite(run: Changing, modem: Json, masks: Json | None) -> None:
    """Of all flows of the modem; None: they have no masks any more."""
    flows = {name: {str(f["id"]): {"tos_overwrite": masks} for f in modem[name]} for name in LISTS}
    run.client.call("modem.set", group=1, modem={"mac": modem["mac"], **flows})


def test_masks_that_change_corrupt_nothing() -> None:
    """Some modems several times in a row, so that the traffic takes these changes as one."""
    random = Random(7)
    with changing(1, RATE, PROFILE) as run:
        modems = modems_of(run.client, 1)
        for change in range(CHANGES):
            modem = random.choice(modems[: 2 if change % 10 < 5 else None])
            masks = {"and_mask": random.randrange(256), "or_mask": random.randrange(256)}
            overwrite(run, modem, masks if random.random() < 0.8 else None)
        told = [modem["service_flows"][0] for modem in modems_of(run.client, 1)]
        assert any("tos_overwrite" in flow for flow in told)
        run.goes_on()
        for modem in modems:  # under way when the run ends
            overwrite(run, modem, {"or_mask": random.randrange(256)})
    check(run.summary)
    assert run.summary["downstream"]["overtaken"] == run.summary["upstream"]["overtaken"] == 0
    assert run.status == 0 or not kept_up(run.summary), run.summary


def test_other_masks_than_the_peer_knows_are_corruption() -> None:
    """With --flows the traffic does not follow the server."""
    with changing(1, RATE, PROFILE, ("--flows", "2000")) as run:
        for modem in modems_of(run.client, 1):
            overwrite(run, modem, {"and_mask": 0, "or_mask": 0x29})
        run.goes_on()
        run.goes_on()
    assert run.status == 1
    assert run.summary["downstream"]["corrupted_by"]["ip_header"] > 0
    assert run.summary["upstream"]["corrupted_by"]["contents"] > 0
