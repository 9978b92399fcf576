# SPDX-License-Identifier: BSD-3-Clause
"""A client that updates its copy of the configuration by events alone (docs/control.md)."""

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
    attributes: Json  # keys that are not lists of objects
    objects: dict[str, dict[Any, Json]]  # by kind and identity

    @classmethod
    def from_config(cls, config: Json) -> "Group":
        attributes = {key: value for key, value in config.items() if key not in LISTS.values()}
        objects = {
            kind: {identity(kind, item): item for item in config.get(name, [])}
            for kind, name in LISTS.items()
        }
        return cls(deepcopy(attributes), deepcopy(objects))

    def apply(self, event: Json) -> None:
        kind, action, value = event["kind"], event["action"], event["object"]
        if kind == "key":
            modems = self.objects["modem"].values()
            affected = [modem for modem in modems if modem["security"][SAID] == value[SAID]]
            assert affected, "an event for a key of an association that no modem has"
            for modem in affected:
                modem["security"] = value
        elif kind == "group":
            assert action in ("changed", "moved")
            if action == "changed":
                self.attributes |= value
        else:
            items, key = self.objects[kind], identity(kind, value)
            assert (key in items) == (action != "added"), (action, key)
            if action == "removed":
                assert len(value) == 1
                del items[key]
            else:
                items[key] = value


@dataclass
class Follower:
    """`groups`: the configuration after all events with a sequence number below `next`."""

    groups: dict[int, Group] = field(default_factory=dict)
    generation: int = 0
    next: int = 0
    open_change: Json | None = None  # prepared, and its object events follow
    objects_left: int = 0  # its object events that are still missing
    applied: set[int] = field(default_factory=set)  # IDs of changes that are not retired
    missed: bool = False
    events: list[Json] = field(default_factory=list)

    def load(self, answer: Json) -> None:
        """Starts with the configuration of an answer of config.get."""
        self.groups = {
            int(group["service_group"]): Group.from_config(group)
            for group in answer["config"]["service_groups"]
        }
        self.generation, self.next = answer["generation"], answer["sequence"]
        self.open_change, self.objects_left, self.missed, self.applied = None, 0, False, set()

    def apply_object(self, event: Json) -> None:
        assert (
            self.open_change is not None
            and event["change"] == self.open_change["change"]
            and self.objects_left > 0
        )
        assert event["group"] in self.open_change["groups"]
        self.objects_left -= 1
        if event["kind"] == "group" and event["action"] == "added":
            assert event["group"] not in self.groups
            self.groups[event["group"]] = Group.from_config(event["object"])
        elif event["kind"] == "group" and event["action"] == "removed":
            del self.groups[event["group"]]
        else:
            self.groups[event["group"]].apply(deepcopy(event))

    def apply(self, event: Json) -> None:
        if event["sequence"] < self.next:
            return  # already in the loaded configuration
        self.events.append(event)
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
                assert self.open_change is None
                self.open_change, self.objects_left = event, event["objects"]
            case "object":
                self.apply_object(event)
            case "applied":
                assert self.open_change is not None and self.objects_left == 0
                assert event["change"] == self.open_change["change"]
                assert event["generation"] == self.open_change["generation"] >= self.generation
                self.generation, self.open_change = event["generation"], None
                self.applied.add(event["change"])
            case "retired":
                self.applied.discard(event["change"])
            case other:
                assert other == "reload"


def differences(follower: Follower, answer: Json) -> list[str]:
    """Differences of the follower from an answer of config.get. The order of lists is ignored."""
    expected = Follower()
    expected.load(answer)
    result = (
        [f"groups {set(follower.groups) ^ set(expected.groups)}"]
        if (set(follower.groups) != set(expected.groups))
        else []
    )
    for number in set(follower.groups) & set(expected.groups):
        actual, wanted = follower.groups[number], expected.groups[number]
        if actual.attributes != wanted.attributes:
            result.append(f"group {number}: {actual.attributes}, expected {wanted.attributes}")
        result += [
            f"group {number}: {kind} {key}: {actual.objects[kind].get(key)}, expected {item}"
            for kind in LISTS
            for key, item in wanted.objects[kind].items()
            if actual.objects[kind].get(key) != item
        ]
        result += [
            f"group {number}: {kind} {key} was removed"
            for kind in LISTS
            for key in set(actual.objects[kind]) - set(wanted.objects[kind])
        ]
    if follower.generation != expected.generation:
        result.append(f"generation {follower.generation}, expected {expected.generation}")
    return result
