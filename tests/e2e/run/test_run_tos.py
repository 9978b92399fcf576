# SPDX-License-Identifier: BSD-3-Clause
"""IP TOS overwrite in real time, with a traffic program that follows changes or does not."""

from random import Random

import pytest

from e2e.changes.live_run import Json, LiveRun, check_summary, get_modems, live_run
from e2e.machine import ran_undisturbed

pytestmark = pytest.mark.run

PROFILE = "2ofdm-0sc-qam_20cms_aes"
RATE = "20Mbps"
CHANGES = 60
LISTS = ("service_flows", "upstream_service_flows")


def set_masks(run: LiveRun, modem: Json, masks: Json | None) -> None:
    """Sets the masks of all flows of the modem. None: removes them."""
    flows = {name: {str(f["id"]): {"tos_overwrite": masks} for f in modem[name]} for name in LISTS}
    run.client.call("modem.set", group=1, modem={"mac": modem["mac"], **flows})


def test_changed_masks_corrupt_no_packet() -> None:
    """Some modems change several times in a row, which the traffic program applies at once."""
    random = Random(7)
    with live_run(1, RATE, PROFILE) as run:
        modems = get_modems(run.client, 1)
        for change in range(CHANGES):
            modem = random.choice(modems[: 2 if change % 10 < 5 else None])
            masks = {"and_mask": random.randrange(256), "or_mask": random.randrange(256)}
            set_masks(run, modem, masks if random.random() < 0.8 else None)
        flows = [modem["service_flows"][0] for modem in get_modems(run.client, 1)]
        assert any("tos_overwrite" in flow for flow in flows)
        run.wait_for_progress()
        for modem in modems:  # changes at the end of the run
            set_masks(run, modem, {"or_mask": random.randrange(256)})
    check_summary(run.summary)
    assert run.summary["downstream"]["overtaken"] == run.summary["upstream"]["overtaken"] == 0
    assert run.status == 0 or not ran_undisturbed(run.summary), run.summary


def test_unknown_masks_are_reported_as_corruption() -> None:
    """With --flows, the traffic program does not follow changes, so it reports corruption."""
    with live_run(1, RATE, PROFILE, ("--flows", "2000")) as run:
        for modem in get_modems(run.client, 1):
            set_masks(run, modem, {"and_mask": 0, "or_mask": 0x29})
        run.wait_for_progress()
        run.wait_for_progress()
    assert run.status == 1
    assert run.summary["downstream"]["corrupted_by"]["ip_header"] > 0
    assert run.summary["upstream"]["corrupted_by"]["contents"] > 0
