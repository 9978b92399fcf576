# SPDX-License-Identifier: BSD-3-Clause
"""Keys roll twenty times per second over all security associations, between reloads, changes of
filters and modems that come and go: nothing is lost or corrupted in either direction.

`make rolls` does so for two minutes at 90 % of the rate without loss, which it measures first;
VCMTS_ROLLS_SECONDS and VCMTS_ROLLS_RATE (Mbps) say otherwise.
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

from e2e.changes.changing import Changing, Json, changing, check
from e2e.machine import kept_up
from vcmts.control.client import RefusedError
from vcmts.paths import CHECKOUT

pytestmark = pytest.mark.run

SECONDS = float(os.environ.get("VCMTS_ROLLS_SECONDS", "2"))
RATE = os.environ.get("VCMTS_ROLLS_RATE", "")
MEASURED = "VCMTS_ROLLS_SECONDS" in os.environ
FEW, MANY = "2ofdm-0sc-qam_20cms_aes", "6ofdm-0sc-qam_300cms_aes"
SLOW_MBPS = 20.0  # what a loaded machine carries
EVERY_S, APART_S = 0.05, 0.2  # from roll to roll; from one step of a roll to the next
OTHERS = 6  # rolls between two other changes
RULE = {"family": "ipv4", "action": "deny", "source": "203.0.113.0/24"}

Step = Callable[[], object]


class Roller:
    """The steps of rolls, of many associations at a time, and other changes between them."""

    def __init__(self, run: Changing, seed: int) -> None:
        self.client, self.random = run.client, Random(seed)
        groups = run.client.call("config.get", keys=True)["config"]["service_groups"]
        self.groups = {int(g["service_group"]): g for g in groups}
        self.all = deque(
            (g, m["security"]["said"]) for g, of in self.groups.items() for m in of["modems"]
        )
        self.steps: deque[tuple[float, Step]] = deque()
        self.gone: deque[tuple[int, Json]] = deque()
        self.done = self.refused = 0
        others = (self.reload, self.filter, self.leave, self.come, self.priority)
        self.others: deque[Step] = deque(others)

    def step(self, does: Step) -> None:
        """A modem that is away has no association, and a reload takes a roll back."""
        try:
            does()
        except RefusedError:
            self.refused += 1

    def install(self, group: int, said: int) -> None:
        key, iv = self.random.randbytes(16).hex(), self.random.randbytes(16).hex()
        self.client.call("key.install", group=group, said=said, key=key, iv=iv)

    def roll(self, now: float) -> None:
        """As it is done (BPI+): modems have the next key for a while before it is used."""
        group, said = self.all[0]
        self.all.rotate(-1)
        use = partial(self.client.call, "key.use", group=group, said=said)
        remove = partial(self.client.call, "key.remove", group=group, said=said)
        install = partial(self.install, group, said)
        steps: tuple[Step, ...] = (use, remove, install)
        for place, does in enumerate(steps):
            self.steps.append((now + place * APART_S, does))
        self.done += 1

    def reload(self) -> None:
        self.client.call("config.reload")

    def filter(self) -> None:
        group = self.random.choice(list(self.groups))
        old = self.random.choice(self.groups[group]["filter_groups"])
        new = old | {"rules": [RULE, *old["rules"]]}
        self.client.call("filter_group.replace", group=group, filter_group=new)

    def leave(self) -> None:
        group = self.random.choice(list(self.groups))
        modem = self.random.choice(self.groups[group]["modems"])
        self.client.call("modem.remove", group=group, modem={"mac": modem["mac"]})
        self.gone.append((group, modem))

    def come(self) -> None:
        while self.gone:
            group, modem = self.gone.popleft()
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
            if self.done % OTHERS == 0:
                self.steps.append((at, self.others[0]))
                self.others.rotate(-1)
            at += EVERY_S
            for _, does in sorted(self.due(at), key=lambda step: step[0]):
                self.step(does)
            time.sleep(max(0.0, at - time.monotonic()))
        for _, does in sorted(self.due(at + 1), key=lambda step: step[0]):
            self.step(does)

    def due(self, now: float) -> list[tuple[float, Step]]:
        due = [step for step in self.steps if step[0] < now]
        self.steps = deque(step for step in self.steps if step[0] >= now)
        return due


def tool(*words: str) -> int:
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT / "tools")}
    return subprocess.run([sys.executable, "-m", "vcmts", *words], env=environment).returncode


def lossless_mbps(groups: int, path: Path) -> float:
    """What goes downstream without loss, with every packet proven, beside the usual upstream. It is
    searched for with one group; several carry it together, or less."""
    words = ["bench", "throughput", "--transport", "memif", "--profile", MANY]
    assert tool(*words, "--point", "imix", "--prove", "1", "--json", str(path)) == 0
    found = json.loads(path.read_text(encoding="utf-8"))["results"][0]
    mbps = float(found["gbps"]["downstream"]) * 1000
    run = ["run", "--profile", MANY, "--groups", str(groups), "--duration", "5s"]
    while groups > 1 and tool(*run, "--rate", f"{mbps:.0f}Mbps") != 0:
        mbps *= 0.9
    return mbps


@pytest.mark.parametrize("groups", [1, 4])
def test_nothing_is_lost_while_keys_roll(groups: int, tmp_path: Path) -> None:
    rate = float(RATE) if RATE else SLOW_MBPS
    if MEASURED and not RATE:
        rate = 0.9 * lossless_mbps(groups, tmp_path / "rate.json")
    with changing(groups, f"{rate:.0f}Mbps", MANY if MEASURED else FEW) as run:
        roller = Roller(run, groups)
        roller.run(SECONDS)
        run.goes_on()
        run.goes_on()
    assert roller.done > 10
    assert roller.refused < roller.done
    check(run.summary)
    assert run.status == 0 or not kept_up(run.summary), run.summary
