# SPDX-License-Identifier: BSD-3-Clause
"""Rolls keys of all security associations, 20 per second, while traffic runs. In between it reloads
the configuration, changes filters, and removes and adds modems. No packet may be lost or corrupted.

`make rolls` runs for two minutes at 90 % of the lossless rate, which it measures first.
VCMTS_ROLLS_SECONDS and VCMTS_ROLLS_RATE (Mbps) set other values.
"""

import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from e2e.changes.live_run import Json, LiveRun, check_summary, live_run
from e2e.machine import ran_undisturbed
from vcmts.control.client import RefusedError
from vcmts.paths import CHECKOUT

pytestmark = pytest.mark.run

SECONDS = float(os.environ.get("VCMTS_ROLLS_SECONDS", "2"))
RATE = os.environ.get("VCMTS_ROLLS_RATE", "")
MEASURED = "VCMTS_ROLLS_SECONDS" in os.environ
SMALL_PROFILE, LARGE_PROFILE = "2ofdm-0sc-qam_20cms_aes", "6ofdm-0sc-qam_300cms_aes"
SLOW_MBPS = 20.0  # a loaded machine carries it
ROLL_INTERVAL_S, STEP_INTERVAL_S = 0.05, 0.2  # between two rolls; between two steps of a roll
OTHER_CHANGE_ROLLS = 6  # rolls between two other changes
RULE = {"family": "ipv4", "action": "deny", "source": "203.0.113.0/24"}

Action = Callable[[], object]


class RollScheduler:
    """Schedules the steps of key rolls of many associations, and other changes between them."""

    def __init__(self, run: LiveRun, seed: int) -> None:
        self.client, self.random = run.client, Random(seed)
        groups = run.client.call("config.get", keys=True)["config"]["service_groups"]
        self.groups = {int(g["service_group"]): g for g in groups}
        self.associations = deque(
            (g, m["security"]["said"]) for g, of in self.groups.items() for m in of["modems"]
        )
        self.steps: deque[tuple[float, Action]] = deque()
        self.removed: deque[tuple[int, Json]] = deque()
        self.rolls = self.refused = 0
        other_changes = (self.reload, self.filter, self.remove, self.add, self.priority)
        self.other_changes: deque[Action] = deque(other_changes)

    def call(self, action: Action) -> None:
        """A removed modem has no association, and a reload restores the keys. Then vcmtsd
        refuses."""
        try:
            action()
        except RefusedError:
            self.refused += 1

    def install(self, group: int, said: int) -> None:
        key, iv = self.random.randbytes(16).hex(), self.random.randbytes(16).hex()
        self.client.call("key.install", group=group, said=said, key=key, iv=iv)

    def roll(self, now: float) -> None:
        """Schedules one roll in the order of BPI+: modems get the next key before its use."""
        group, said = self.associations[0]
        self.associations.rotate(-1)
        use = partial(self.client.call, "key.use", group=group, said=said)
        remove = partial(self.client.call, "key.remove", group=group, said=said)
        install = partial(self.install, group, said)
        steps: tuple[Action, ...] = (use, remove, install)
        for index, action in enumerate(steps):
            self.steps.append((now + index * STEP_INTERVAL_S, action))
        self.rolls += 1

    def reload(self) -> None:
        self.client.call("config.reload", force=True)

    def filter(self) -> None:
        group = self.random.choice(list(self.groups))
        old = self.random.choice(self.groups[group]["filter_groups"])
        new = old | {"rules": [RULE, *old["rules"]]}
        self.client.call("filter_group.replace", group=group, filter_group=new)

    def remove(self) -> None:
        group = self.random.choice(list(self.groups))
        modem = self.random.choice(self.groups[group]["modems"])
        self.client.call("modem.remove", group=group, mac=modem["mac"])
        self.removed.append((group, modem))

    def add(self) -> None:
        while self.removed:
            group, modem = self.removed.popleft()
            self.client.call("modem.add", group=group, modem=modem)

    def priority(self) -> None:
        group = self.random.choice(list(self.groups))
        modem = self.random.choice(self.groups[group]["modems"])
        flow = modem["service_flows"][0]["id"]
        flows = {str(flow): {"priority": self.random.randint(0, 6)}}
        self.client.call(
            "modem.set", group=group, modem={"mac": modem["mac"], "service_flows": flows}
        )

    def run(self, seconds: float) -> None:
        begun = time.monotonic()
        at = begun
        while at < begun + seconds:
            self.roll(at)
            if self.rolls % OTHER_CHANGE_ROLLS == 0:
                self.steps.append((at, self.other_changes[0]))
                self.other_changes.rotate(-1)
            at += ROLL_INTERVAL_S
            for _, action in sorted(self.pop_due(at), key=lambda call: call[0]):
                self.call(action)
            time.sleep(max(0.0, at - time.monotonic()))
        for _, action in sorted(self.pop_due(at + 1), key=lambda call: call[0]):
            self.call(action)

    def pop_due(self, now: float) -> list[tuple[float, Action]]:
        """Removes and returns the steps before this time."""
        due = [call for call in self.steps if call[0] < now]
        self.steps = deque(call for call in self.steps if call[0] >= now)
        return due


def run_tool(*arguments: str) -> int:
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT / "tools")}
    return subprocess.run([sys.executable, "-m", "vcmts", *arguments], env=environment).returncode


def lossless_mbps(groups: int, path: Path) -> float:
    """The lossless downstream rate of all groups together, with the default upstream rate. It is
    measured with one group, and reduced until `vcmts run` with all groups succeeds."""
    arguments = ["bench", "throughput", "--transport", "memif", "--profile", LARGE_PROFILE]
    assert run_tool(*arguments, "--point", "imix", "--prove", "1", "--json", str(path)) == 0
    result = json.loads(path.read_text(encoding="utf-8"))["results"][0]
    mbps = float(result["gbps"]["downstream"]) * 1000
    run = ["run", "--profile", LARGE_PROFILE, "--groups", str(groups), "--duration", "5s"]
    while groups > 1 and run_tool(*run, "--rate", f"{mbps:.0f}Mbps") != 0:
        mbps *= 0.9
    return mbps


@pytest.mark.parametrize("groups", [1, 4])
def test_key_rolls_lose_no_packet(groups: int, tmp_path: Path) -> None:
    rate = float(RATE) if RATE else SLOW_MBPS
    if MEASURED and not RATE:
        rate = 0.9 * lossless_mbps(groups, tmp_path / "rate.json")
    with live_run(groups, f"{rate:.0f}Mbps", LARGE_PROFILE if MEASURED else SMALL_PROFILE) as run:
        roller = RollScheduler(run, groups)
        roller.run(SECONDS)
        run.wait_for_progress()
        run.wait_for_progress()
    assert roller.rolls > 10
    assert roller.refused < roller.rolls
    check_summary(run.summary)
    assert run.status == 0 or not ran_undisturbed(run.summary), run.summary
