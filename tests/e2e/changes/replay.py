# SPDX-License-Identifier: BSD-3-Clause
"""Replays captures with configuration changes at given times. Afterwards the output can be decoded
with the configuration that was in service at each time."""

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from e2e.running import Completed, vcmtsd
from vcmts.witness.config import parse_config
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap
from witness.epochs import Decoded, State, decode_epochs

Json = dict[str, Any]
MS = 1_000_000
GET: Json = {"method": "config.get", "params": {"keys": True}}


@dataclass(frozen=True)
class Change:
    """A call of a control method, `at` ns after the first packet."""

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
    """The configurations in service from a time on, by ID of the service group."""

    begin: int  # ns after the first packet
    configs: dict[int, Config]


def read_epochs(text: str, answers: Sequence[Json]) -> list[Epoch]:
    """The epochs of a replay, from the answers to its changes. Each answer of config.get is the
    configuration of an epoch, which begins at the change before it."""
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
class ChangeReplay:
    """A completed replay with changes. `sent`: the records that it replayed."""

    folder: Path
    text: str
    sent: Sequence[Record]
    completed: Completed

    @cached_property
    def out(self) -> tuple[Record, ...]:
        """The packets of the R-PHY or network port."""
        return read_pcap(self.folder / "out.pcap").records

    @cached_property
    def management(self) -> tuple[Record, ...]:
        """The messages of the control port."""
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
        return read_epochs(self.text, self.answers)

    def find_epoch(self, record: Record) -> int:
        """Index of the epoch in which a packet that was sent is received."""
        at = record.time_ns - self.sent[0].time_ns
        return max(0, bisect_left([epoch.begin for epoch in self.epochs], at) - 1)

    @cached_property
    def decoded(self) -> Decoded:
        """The decoded downstream output of a server with one service group."""
        start = self.sent[0].time_ns
        states = [State(start + epoch.begin, single_config(epoch)) for epoch in self.epochs]
        return decode_epochs(self.out, states)

    def counts(self, direction: str, kind: str) -> dict[str, int]:
        """Counts above 0. `kind`: `counters` or `drops`."""
        counts: dict[str, int] = self.stats[direction][kind]
        return {name: count for name, count in counts.items() if count}


def single_config(epoch: Epoch) -> Config:
    [config] = epoch.configs.values()
    return config


def with_config_queries(changes: Sequence[Change]) -> list[Json]:
    """The JSON of the changes, with a config.get at the beginning and after each change."""
    calls = [{"at": "0 s", **GET}]
    for item in changes:
        calls += [item.json, {"at": f"{item.at} ns", **GET}]
    return calls


def replay_changes(
    folder: Path,
    text: str,
    sent: Sequence[Record],
    changes: Sequence[Change] = (),
    *,
    up: bool = False,
    options: Sequence[str | Path] = (),
    status: int = 0,
) -> ChangeReplay:
    """Writes configuration, capture and changes, and replays them. `status`: expected exit
    status."""
    folder.mkdir(parents=True, exist_ok=True)
    config, capture, changes_path = folder / "sg.yaml", folder / "in.pcap", folder / "changes.json"
    config.write_text(text)
    write_pcap(capture, sent)
    changes_path.write_text(json.dumps(with_config_queries(changes)))
    names = ("--rphy-in", "--network-out") if up else ("--network-in", "--rphy-out")
    files = (names[0], capture, names[1], folder / "out.pcap", "--json", folder / "stats.json")
    control = ("--control-out", folder / "mmm.pcap") if up else ()
    change_files = ("--changes", changes_path, "--answers", folder / "answers.json")
    completed = vcmtsd("replay", "--config", config, *files, *control, *change_files, *options)
    assert completed.status == status, completed.stderr
    return ChangeReplay(folder, text, sent, completed)
