# SPDX-License-Identifier: BSD-3-Clause
"""Applies random changes without a pause while traffic runs in both directions. The balance must be
exact, and memory must not grow. VCMTS_SOAK_SECONDS sets the time (`make soak`: one hour).
"""

import os
import time
from collections import Counter
from itertools import cycle
from random import Random

import pytest

from e2e.changes.live_run import KEY, Json, LiveRun, check_summary, get_modems, live_run
from e2e.machine import ran_undisturbed
from vcmts.control.client import RefusedError
from vcmts.directions import DIRECTIONS
from vcmts.telemetry.dpdk import vcmtsd as connect_telemetry

SECONDS = float(os.environ.get("VCMTS_SOAK_SECONDS", "2"))
SLACK = 1 << 20  # bytes by which the use of DPDK's heap may vary
GROUPS = 2
TRAFFIC_UPDATE_S = 3.0  # the traffic program polls ten times per second, if it has a core
BATCHES = {4: 64, 40: 8}  # modems added at a time: addresses of each
# Drop reasons that the removal of objects explains.
EXPLAINED_DROPS = {
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


class RandomChanger:
    """Applies random changes. `restore_all` adds the removed modems again."""

    def __init__(self, run: LiveRun, seed: int) -> None:
        self.client, self.random = run.client, Random(seed)
        self.modems = {group: get_modems(run.client, group) for group in (1, 2)}
        self.removed: list[tuple[int, Json]] = []
        self.removed_at: list[float] = []  # when each was removed
        self.changes = 0
        self.numbers = 0  # of modems added by `add_and_remove_many`

    def change_at_random(self) -> None:
        actions = [self.remove, self.restore, self.limit_rate, self.roll, self.drain, self.set_rate]
        self.random.choice(actions)()
        self.changes += 1

    def random_modem(self) -> tuple[int, Json]:
        """A modem, and the number of its group."""
        group = self.random.randint(1, GROUPS)
        return group, self.random.choice(self.modems[group])

    def remove(self) -> None:
        group, modem = self.random_modem()
        if modem not in [item for _, item in self.removed] and len(self.removed) < 20:
            self.client.call("modem.remove", group=group, mac=modem["mac"])
            self.removed.append((group, modem))
            self.removed_at.append(time.monotonic())

    def restore(self) -> None:
        # The traffic program must see the removal: sequence numbers of an added modem restart.
        if self.removed and time.monotonic() > self.removed_at[0] + TRAFFIC_UPDATE_S:
            self.removed_at.pop(0)
            group, modem = self.removed.pop(0)
            self.client.call("modem.add", group=group, modem=modem)

    def limit_rate(self) -> None:
        group, modem = self.random_modem()
        if modem not in [item for _, item in self.removed]:
            rate = f"{self.random.randint(100, 900)} Mbps"
            changed = {"mac": modem["mac"], "max_aggregate_rate": rate}
            self.client.call("modem.set", group=group, modem=changed)
            modem["max_aggregate_rate"] = rate

    def roll(self) -> None:
        group, modem = self.random_modem()
        if modem in [item for _, item in self.removed]:
            return
        security = modem["security"]
        self.client.call("key.use", group=group, said=security["said"])
        self.client.call("key.remove", group=group, said=security["said"])
        key = self.random.randbytes(16).hex()
        self.client.call("key.install", group=group, said=security["said"], key=key, iv=KEY)
        security["key"], security["iv"] = security["next_key"], security["next_iv"]
        security["next_key"], security["next_iv"] = key, KEY
        security["key_sequence"] = (security.get("key_sequence", 0) + 1) % 16

    def drain(self) -> None:
        group = self.random.randint(1, GROUPS)
        self.client.call("group.drain", group=group, limit="50ms")
        self.client.call("group.resume", group=group)

    def set_rate(self) -> None:
        channels = self.client.call("config.get")["config"]["service_groups"][0]["channels"]
        rate = f"{self.random.randint(1500, 1890)} Mbps"
        changed = {"id": self.random.choice(channels)["id"], "rate": rate}
        self.client.call("channel.set", group=1, channel=changed)

    def new_modem(self, group: int, addresses: int) -> Json:
        """A modem that no group has had before."""
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

    def add_and_remove_many(self) -> None:
        """Adds modems to both groups and removes them, in a batch or in single requests."""
        count = self.random.choice(list(BATCHES))
        added = [
            (group, self.new_modem(group, BATCHES[count]))
            for group, _ in zip(cycle((1, 2)), range(count), strict=False)
        ]
        for method in ("modem.add", "modem.remove"):
            calls: list[tuple[str, Json]] = []
            for group, modem in added:
                value = {"modem": modem} if method == "modem.add" else {"mac": modem["mac"]}
                calls.append((method, {"group": group, **value}))
            if self.random.random() < 0.5:
                answers = self.client.calls(calls)
                assert not [answer for answer in answers if isinstance(answer, RefusedError)]
            else:
                for name, params in calls:
                    self.client.call(name, **params)
            self.changes += count

    def restore_all(self) -> None:
        while self.removed:
            time.sleep(0.01)
            self.restore()


def heap_bytes(run: LiveRun) -> int:
    """Used bytes of DPDK's heaps."""
    with connect_telemetry(run.pid) as telemetry:
        heaps = telemetry.ask("/eal/heap_list")
        return sum(int(telemetry.ask("/eal/heap_info", str(heap))["Alloc_size"]) for heap in heaps)


def unexplained(summary: Json) -> dict[str, int]:
    """Drops that neither the traffic nor the changes explain."""
    counts = {name: Counter(summary[name]["drops"]) for name in DIRECTIONS}
    counts["ports"] = Counter()
    for port in summary["shared_ports"]:
        counts["ports"].update(port["drops"])
    return {
        f"{part}: {reason}": count
        for part, drops in counts.items()
        for reason, count in drops.items()
        if count and reason not in EXPLAINED_DROPS[part]
    }


# Drop reasons of a shared port whose tables are wrong.
TABLE_ERRORS = ("port_unknown_mac", "port_unknown_session", "port_multicast")


def check_drops(summary: Json) -> None:
    if ran_undisturbed(summary):
        assert unexplained(summary) == {}
    for port in summary["shared_ports"]:
        assert not any(port["drops"][reason] for reason in TABLE_ERRORS)
    undelivered = sum(summary["downstream"][name] for name in ("overtaken", "lost"))
    network = next(port for port in summary["shared_ports"] if port["port"] == "network")
    unmatched = summary["downstream"]["drops"]["unknown_destination"]
    assert unmatched + network["drops"]["port_unknown_destination"] <= undelivered


@pytest.mark.run
def test_constant_changes_keep_balance_and_memory() -> None:
    # no refused packets: every drop is due to a change
    with live_run(groups=GROUPS, rate="40Mbps", options=("--refuse-every", "0")) as run:
        changer = RandomChanger(run, 13)
        for _ in range(30):
            changer.change_at_random()
        changer.restore_all()
        used_before, end = heap_bytes(run), time.monotonic() + SECONDS
        while time.monotonic() < end:
            changer.add_and_remove_many()
            for _ in range(10):
                changer.change_at_random()
                changer.change_at_random()
                time.sleep(0.006)
        changer.restore_all()
        assert heap_bytes(run) < used_before + SLACK
        assert changer.changes > 30
        run.wait_for_progress()
    check_summary(run.summary)
    check_drops(run.summary)
