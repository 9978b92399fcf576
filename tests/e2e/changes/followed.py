# SPDX-License-Identifier: BSD-3-Clause
"""A client that knows the configuration in service by events alone (docs/control.md)."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
LISTS = {
    "channel": "channels",
    "upstream_channel": "upstream_channels",
    "bonding_group": "bonding_groups",
    "filter_group": "filter_groups",
    "modem": "modems",
}
SAID = "said"


def identity(kind: str, item: Json) -> Any:
    return item["mac" if kind == "modem" else "id"]


@dataclass
class Group:
    single: Json
    lists: dict[str, dict[Any, Json]]

    @classmethod
    def of(cls, config: Json) -> "Group":
        single = {key: value for key, value in config.items() if key not in LISTS.values()}
        lists = {
            kind: {identity(kind, item): item for item in config.get(name, [])}
            for kind, name in LISTS.items()
        }
        return cls(deepcopy(single), deepcopy(lists))

    def take(self, event: Json) -> None:
        kind, action, value = event["kind"], event["action"], event["object"]
        if kind == "key":
            modems = self.lists["modem"].values()
            mine = [modem for modem in modems if modem["security"][SAID] == value[SAID]]
            assert mine, "a key of an association that no modem has"
            for modem in mine:
                modem["security"] = value
        elif kind == "group":
            assert action in ("changed", "moved")
            if action == "changed":
                self.single |= value
        else:
            items, key = self.lists[kind], identity(kind, value)
            assert (key in items) == (action != "added"), (action, key)
            if action == "removed":
                assert len(value) == 1
                del items[key]
            else:
                items[key] = value


@dataclass
class Follower:
    """`groups` is the configuration up to, without, event `next`."""

    groups: dict[int, Group] = field(default_factory=dict)
    generation: int = 0
    next: int = 0
    open: Json | None = None  # the change whose objects come
    left: int = 0
    applied: set[int] = field(default_factory=set)  # changes that are not retired
    missed: bool = False
    seen: list[Json] = field(default_factory=list)

    def join(self, answer: Json) -> None:
        """By an answer of config.get."""
        self.groups = {
            int(group["service_group"]): Group.of(group)
            for group in answer["config"]["service_groups"]
        }
        self.generation, self.next = answer["generation"], answer["sequence"]
        self.open, self.left, self.missed, self.applied = None, 0, False, set()

    def object(self, event: Json) -> None:
        assert self.open is not None and event["change"] == self.open["change"] and self.left > 0
        assert event["group"] in self.open["groups"]
        self.left -= 1
        if event["kind"] == "group" and event["action"] == "added":
            assert event["group"] not in self.groups
            self.groups[event["group"]] = Group.of(event["object"])
        elif event["kind"] == "group" and event["action"] == "removed":
            del self.groups[event["group"]]
        else:
            self.groups[event["group"]].take(deepcopy(event))

    def take(self, event: Json) -> None:
        if event["sequence"] < self.next:
            return  # it is in the configuration already
        self.seen.append(event)
        if event["event"] == "missed":
            assert event["first"] <= self.next or self.missed
            self.missed, self.next = True, event["next"]
            return
        assert event["sequence"] == self.next, event
        self.next += 1
        if self.missed:
            return
        match event["event"]:
            case "prepared":
                assert self.open is None
                self.open, self.left = event, event["objects"]
            case "object":
                self.object(event)
            case "applied":
                assert self.open is not None and self.left == 0
                assert event["change"] == self.open["change"]
                assert event["generation"] == self.open["generation"] >= self.generation
                self.generation, self.open = event["generation"], None
                self.applied.add(event["change"])
            case "retired":
                self.applied.discard(event["change"])
            case other:
                assert other == "reload"

    def take_all(self, events: Iterable[Json]) -> None:
        """Up to the end of what the server has told: a configuration's number is that of `next`."""
        for event in events:
            self.take(event)


def differences(mine: Follower, answer: Json) -> list[str]:
    """Where a configuration is another one, up to the order of lists."""
    truth = Follower()
    truth.join(answer)
    found = (
        [f"groups {set(mine.groups) ^ set(truth.groups)}"]
        if (set(mine.groups) != set(truth.groups))
        else []
    )
    for number in set(mine.groups) & set(truth.groups):
        one, other = mine.groups[number], truth.groups[number]
        if one.single != other.single:
            found.append(f"group {number}: {one.single} for {other.single}")
        found += [
            f"group {number}: {kind} {key}: {one.lists[kind].get(key)} for {item}"
            for kind in LISTS
            for key, item in other.lists[kind].items()
            if one.lists[kind].get(key) != item
        ]
        found += [
            f"group {number}: {kind} {key} is left"
            for kind in LISTS
            for key in set(one.lists[kind]) - set(other.lists[kind])
        ]
    if mine.generation != truth.generation:
        found.append(f"generation {mine.generation} for {truth.generation}")
    return found
