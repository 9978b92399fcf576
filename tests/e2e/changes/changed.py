# SPDX-License-Identifier: BSD-3-Clause
"""Replays whose configuration changes while they run, and the witness that knows each state."""

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from e2e.running import Ended, vcmtsd
from vcmts.witness.config import parse_config
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap
from witness.epochs import Decoded, State, decode_epochs

Json = dict[str, Any]
MS = 1_000_000
GET: Json = {"method": "config.get", "params": {"keys": True}}


@dataclass(frozen=True)
class Change:
    """A call of a method, so many ns after the first packet."""

    at: int
    method: str
    params: Json

    @property
    def json(self) -> Json:
        return {"at": f"{self.at} ns", "method": self.method, "params": self.params}


def change(at: int, method: str, **params: Any) -> Change:
    return Change(at, method, params)


@dataclass(frozen=True)
class Epoch:
    """What is in service from a time on, by service group."""

    begin: int  # ns after the first packet: what came before met the epoch before
    configs: dict[int, Config]


def epochs_of(text: str, answers: Sequence[Json]) -> list[Epoch]:
    """Each time that the configuration was asked for begins one, at the change before."""
    epochs: list[Epoch] = []
    begin = -1
    for answer in answers:
        if answer.get("method") != "config.get":
            begin = answer["begun_ns"]
            continue
        groups = answer["result"]["config"]["service_groups"]
        configs = {int(g["service_group"]): parse_config(json.dumps(g)) for g in groups}
        epochs.append(Epoch(begin, configs))
    return epochs or [Epoch(-1, {0: parse_config(text)})]


@dataclass(frozen=True)
class ChangedReplay:
    """One that came to its end."""

    folder: Path
    text: str
    sent: Sequence[Record]
    ended: Ended

    @cached_property
    def out(self) -> tuple[Record, ...]:
        return read_pcap(self.folder / "out.pcap").records

    @cached_property
    def management(self) -> tuple[Record, ...]:
        return read_pcap(self.folder / "mmm.pcap").records

    @cached_property
    def answers(self) -> list[Json]:
        answers: list[Json] = json.loads((self.folder / "answers.json").read_text())
        return answers

    @cached_property
    def stats(self) -> Json:
        stats: Json = json.loads((self.folder / "stats.json").read_text())
        return stats

    @cached_property
    def epochs(self) -> list[Epoch]:
        return epochs_of(self.text, self.answers)

    def epoch_of(self, record: Record) -> int:
        """Of a packet that came: the number of what was in service then."""
        at = record.time_ns - self.sent[0].time_ns
        return max(0, bisect_left([epoch.begin for epoch in self.epochs], at) - 1)

    @cached_property
    def decoded(self) -> Decoded:
        """What came out downstream, of one group."""
        start = self.sent[0].time_ns
        states = [State(start + epoch.begin, only(epoch)) for epoch in self.epochs]
        return decode_epochs(self.out, states)

    def counts(self, way: str, kind: str) -> dict[str, int]:
        counts: dict[str, int] = self.stats[way][kind]
        return {name: count for name, count in counts.items() if count}


def only(epoch: Epoch) -> Config:
    [config] = epoch.configs.values()
    return config


def with_states(changes: Sequence[Change]) -> list[Json]:
    """The configuration is asked for at the beginning, and behind each change at once."""
    listed = [{"at": "0 s", **GET}]
    for item in changes:
        listed += [item.json, {"at": f"{item.at} ns", **GET}]
    return listed


def replay_changed(
    folder: Path,
    text: str,
    sent: Sequence[Record],
    changes: Sequence[Change] = (),
    *,
    up: bool = False,
    more: Sequence[str | Path] = (),
    status: int = 0,
) -> ChangedReplay:
    """Writes configuration, capture and changes, and replays them."""
    folder.mkdir(parents=True, exist_ok=True)
    config, came, listed = folder / "sg.yaml", folder / "in.pcap", folder / "changes.json"
    config.write_text(text)
    write_pcap(came, sent)
    listed.write_text(json.dumps(with_states(changes)))
    names = ("--rphy-in", "--network-out") if up else ("--network-in", "--rphy-out")
    files = (names[0], came, names[1], folder / "out.pcap", "--stats", folder / "stats.json")
    control = ("--control-out", folder / "mmm.pcap") if up else ()
    told = ("--changes", listed, "--answers", folder / "answers.json")
    ended = vcmtsd("replay", "--config", config, *files, *control, *told, *more)
    assert ended.status == status, ended.stderr
    return ChangedReplay(folder, text, sent, ended)
