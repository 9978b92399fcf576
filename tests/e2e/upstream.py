# SPDX-License-Identifier: BSD-3-Clause
"""Replays captures of the R-PHY port, and holds what comes out against the witness."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from e2e.running import Ended, vcmtsd
from vcmts.witness.config import load_config
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap
from witness.agreement import disagreements
from witness.sample import UPSTREAM
from witness.upstream import Result, expect_upstream

SETTINGS = "upstream: {verify_crc: true, frame_timeout: 500 ms}"
# The witness has no limits. Buffers are touched at each start, which takes as long as most of what
# is replayed: there are as many as a capture of some hundred packets may need.
ROOM = "held_by_modem: 4 MB, held: 4 MB"
WITHOUT_CONTROL = UPSTREAM.replace("ports: {control: {device: net_null0}}\n", "")
IPV6 = {"192.168.1.1": '"2001:db8::1:1"', "192.168.1.2": '"2001:db8::1:2"'}

T = TypeVar("T")
S = TypeVar("S")


def vary_upstream(settings: str, text: str = UPSTREAM, *, ipv6: bool = False) -> str:
    """The sample with other values for the upstream, and perhaps over IPv6."""
    assert text.count(SETTINGS) == 1
    text = text.replace(SETTINGS, f"upstream: {{{settings}}}")
    for old, new in IPV6.items() if ipv6 else ():
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def at_once(do: Callable[[S], T], what: Iterable[S]) -> list[T]:
    """Each replay waits more than it works."""
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        return list(pool.map(do, what))


@dataclass(frozen=True)
class UpstreamReplay:
    """A replay that came to its end. `config` has a control port if there was a file for it."""

    folder: Path
    config: Config
    sent: Sequence[Record]
    ended: Ended

    @cached_property
    def stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = json.loads((self.folder / "stats.json").read_text())
        return stats

    @cached_property
    def frames(self) -> list[bytes]:
        return [record.data for record in read_pcap(self.folder / "ip.pcap").records]

    @cached_property
    def management(self) -> list[bytes]:
        path = self.folder / "mmm.pcap"
        return [record.data for record in read_pcap(path).records] if path.exists() else []

    @cached_property
    def expected(self) -> Result:
        return expect_upstream(self.sent, self.config)

    @property
    def drops(self) -> dict[str, int]:
        drops: dict[str, int] = self.stats["upstream"]["drops"]
        return {name: count for name, count in drops.items() if count}

    def problems(self) -> list[str]:
        """Where the witness sees it otherwise. The downstream must have had nothing to do."""
        found = disagreements(self.expected, self.stats["upstream"], self.frames, self.management)
        if self.stats["downstream"]["received"]:
            found.append("packets went downstream")
        return found


def replay_upstream(
    folder: Path, text: str, sent: Sequence[Record], *, control: bool = True
) -> UpstreamReplay:
    """Writes configuration and capture, and replays them; they have to be good."""
    folder.mkdir(parents=True, exist_ok=True)
    path, captured = folder / "sg.yaml", folder / "uepi.pcap"
    path.write_text(text)
    write_pcap(captured, sent)
    files = ("--config", path, "--rphy-in", captured, "--network-out", folder / "ip.pcap")
    more = ("--control-out", folder / "mmm.pcap") if control else ()
    ended = vcmtsd("replay", *files, *more, "--stats", folder / "stats.json")
    assert ended.status == 0, ended.stderr
    assert ended.messages == []
    return UpstreamReplay(folder, replace(load_config(path), control_port=control), sent, ended)
