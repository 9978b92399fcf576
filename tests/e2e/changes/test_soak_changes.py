# SPDX-License-Identifier: BSD-3-Clause
"""Constant change of everything while traffic runs both ways: exact accounts, and flat memory.

VCMTS_SOAK_SECONDS says for how long (`make soak` gives an hour).
"""

import os
import time
from collections import Counter
from itertools import cycle
from random import Random

import pytest

from e2e.changes.changing import KEY, Changing, Json, changing, check, modems_of
from e2e.machine import kept_up
from vcmts.control.client import RefusedError
from vcmts.directions import DIRECTIONS
from vcmts.telemetry.dpdk import vcmtsd as connected

SECONDS = float(os.environ.get("VCMTS_SOAK_SECONDS", "2"))
SLACK = 1 << 20  # bytes of DPDK's heap: of what is there at a time and is not later
GROUPS = 2
SEEN_S = 3.0  # the traffic looks ten times per second, where it has a core
RUSHES = {4: 64, 40: 8}  # modems that come at a time, and the addresses of each
# Reasons for which packets may be dropped: they are for what was removed, or on their way to it.
EXPLAINED = {
    "downstream": {"unknown_destination", "service_flow_removed"},
    "upstream": {
        "unknown_sid",
        "source_address",
        "segment_flow_removed",
        "segment_orphan",
        "frame_flow_removed",
    },
    "ports": {"port_unknown_destination"},
}


class Changer:
    """Each call changes something; `back` makes it what it was at first."""

    def __init__(self, run: Changing, seed: int) -> None:
        self.client, self.random = run.client, Random(seed)
        self.modems = {group: modems_of(run.client, group) for group in (1, 2)}
        self.gone: list[tuple[int, Json]] = []
        self.left: list[float] = []  # when each did
        self.changes = 0
        self.numbers = 0  # of modems that came in a rush

    def one(self) -> None:
        does = [self.leave, self.come, self.limit, self.roll, self.rest, self.move]
        self.random.choice(does)()
        self.changes += 1

    def pick(self) -> tuple[int, Json]:
        group = self.random.randint(1, GROUPS)
        return group, self.random.choice(self.modems[group])

    def leave(self) -> None:
        group, modem = self.pick()
        if modem not in [one for _, one in self.gone] and len(self.gone) < 20:
            self.client.call("modem.remove", group=group, modem={"mac": modem["mac"]})
            self.gone.append((group, modem))
            self.left.append(time.monotonic())

    def come(self) -> None:
        # One that came back before the traffic has seen it go would count anew without its knowing.
        if self.gone and time.monotonic() > self.left[0] + SEEN_S:
            self.left.pop(0)
            group, modem = self.gone.pop(0)
            self.client.call("modem.add", group=group, modem=modem)

    def limit(self) -> None:
        group, modem = self.pick()
        if modem not in [one for _, one in self.gone]:
            rate = f"{self.random.randint(100, 900)} Mbps"
            changed = {"mac": modem["mac"], "max_aggregate_rate": rate}
            self.client.call("modem.set", group=group, modem=changed)
            modem["max_aggregate_rate"] = rate

    def roll(self) -> None:
        group, modem = self.pick()
        if modem in [one for _, one in self.gone]:
            return
        security = modem["security"]
        self.client.call("key.use", group=group, said=security["said"])
        self.client.call("key.remove", group=group, said=security["said"])
        key = self.random.randbytes(16).hex()
        self.client.call("key.install", group=group, said=security["said"], key=key, iv=KEY)
        security["key"], security["iv"] = security["next_key"], security["next_iv"]
        security["next_key"], security["next_iv"] = key, KEY
        security["key_sequence"] = (security.get("key_sequence", 0) + 1) % 16

    def rest(self) -> None:
        group = self.random.randint(1, GROUPS)
        self.client.call("group.drain", group=group, limit="50ms")
        self.client.call("group.resume", group=group)

    def move(self) -> None:
        channels = self.client.call("config.get")["config"]["service_groups"][0]["channels"]
        rate = f"{self.random.randint(1500, 1890)} Mbps"
        changed = {"id": self.random.choice(channels)["id"], "rate": rate}
        self.client.call("channel.set", group=1, channel=changed)

    def stranger(self, group: int, addresses: int) -> Json:
        """A modem that was not there before."""
        self.numbers += 1
        number = self.numbers % 200
        flow = dict(self.modems[group][0]["service_flows"][0])
        modem = {
            "mac": f"02:77:00:{group:02x}:{self.numbers >> 8 & 255:02x}:{self.numbers & 255:02x}",
            "addresses": [f"10.{200 + group}.{number}.{n}" for n in range(1, addresses + 1)],
            "security": {"said": 16000 + number, "cipher": "none"},
        }
        for key in ("bonding_group", "filter_groups"):
            if key in self.modems[group][0]:
                modem[key] = self.modems[group][0][key]
        flow["id"] = 60000 + number
        if "dsid" in flow:
            flow["dsid"] = 60000 + number
        return modem | {"service_flows": [flow]}

    def rush(self) -> None:
        """Modems come to both groups in a batch or in requests without a pause, and go so, too."""
        count = self.random.choice(list(RUSHES))
        come = [
            (group, self.stranger(group, RUSHES[count]))
            for group, _ in zip(cycle((1, 2)), range(count), strict=False)
        ]
        for method in ("modem.add", "modem.remove"):
            calls: list[tuple[str, Json]] = []
            for group, modem in come:
                named = modem if method == "modem.add" else {"mac": modem["mac"]}
                calls.append((method, {"group": group, "modem": named}))
            if self.random.random() < 0.5:
                answers = self.client.calls(calls)
                assert not [one for one in answers if isinstance(one, RefusedError)]
            else:
                for name, params in calls:
                    self.client.call(name, **params)
            self.changes += count

    def back(self) -> None:
        while self.gone:
            time.sleep(0.01)
            self.come()


def heap(run: Changing) -> int:
    """Bytes of DPDK's heaps that are in use."""
    with connected(run.pid) as asked:
        heaps = asked.ask("/eal/heap_list")
        return sum(int(asked.ask("/eal/heap_info", str(one))["Alloc_size"]) for one in heaps)


def unexplained(summary: Json) -> dict[str, int]:
    """Drops for which neither the traffic nor the changes are a reason."""
    found = {name: Counter(summary[name]["drops"]) for name in DIRECTIONS}
    found["ports"] = Counter()
    for port in summary["shared_ports"]:
        found["ports"].update(port["drops"])
    return {
        f"{where}: {reason}": count
        for where, drops in found.items()
        for reason, count in drops.items()
        if count and reason not in EXPLAINED[where]
    }


# A table of a shared port that leads to the wrong place drops under these, on any machine.
NEVER = ("port_unknown_mac", "port_unknown_session", "port_multicast")


def check_drops(summary: Json) -> None:
    if kept_up(summary):
        assert unexplained(summary) == {}
    for port in summary["shared_ports"]:
        assert not any(port["drops"][reason] for reason in NEVER)
    gone = sum(summary["downstream"][name] for name in ("overtaken", "lost"))
    network = next(port for port in summary["shared_ports"] if port["port"] == "network")
    down = summary["downstream"]["drops"]["unknown_destination"]
    assert down + network["drops"]["port_unknown_destination"] <= gone


@pytest.mark.run
def test_constant_change() -> None:
    # every drop has a change for a reason
    with changing(groups=GROUPS, rate="40Mbps", more=("--refuse-every", "0")) as run:
        changer = Changer(run, 13)
        for _ in range(30):
            changer.one()
        changer.back()
        begun, end = heap(run), time.monotonic() + SECONDS
        while time.monotonic() < end:
            changer.rush()
            for _ in range(10):
                changer.one()
                changer.one()
                time.sleep(0.006)
        changer.back()
        assert heap(run) < begun + SLACK
        assert changer.changes > 30
        run.goes_on()
    check(run.summary)
    check_drops(run.summary)
