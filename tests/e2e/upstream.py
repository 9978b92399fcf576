# SPDX-License-Identifier: BSD-3-Clause
"""Replays upstream captures, and compares the output with the witness, an independent model."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from e2e.running import Completed, vcmtsd
from vcmts.witness.config import load_config
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap
from witness.agreement import disagreements
from witness.sample import UPSTREAM
from witness.upstream import Result, expect_upstream

SETTINGS = "upstream: {verify_crc: true, frame_timeout: 500 ms}"
# The witness has no limits, so pending buffers must be sufficient for a capture of some hundred
# packets. More would slow down each start, which initialises all buffers.
BUFFERS = "held_by_modem: 4 MB, held: 4 MB"
WITHOUT_CONTROL = UPSTREAM.replace("ports: {control: {device: net_null0}}\n", "")
IPV6 = {"192.168.1.1": '"2001:db8::1:1"', "192.168.1.2": '"2001:db8::1:2"'}

T = TypeVar("T")
S = TypeVar("S")


def upstream_config(settings: str, text: str = UPSTREAM, *, ipv6: bool = False) -> str:
    """The sample configuration with other `upstream` settings. `ipv6`: UEPI over IPv6."""
    assert text.count(SETTINGS) == 1
    text = text.replace(SETTINGS, f"upstream: {{{settings}}}")
    for old, new in IPV6.items() if ipv6 else ():
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def run_parallel(do: Callable[[S], T], arguments: Iterable[S]) -> list[T]:
    """Calls `do` in two threads per core, as a replay is idle for most of its time."""
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        return list(pool.map(do, arguments))


@dataclass(frozen=True)
class UpstreamReplay:
    """A completed upstream replay. `config` has a control port if the replay had a file for it."""

    folder: Path
    config: Config
    sent: Sequence[Record]
    completed: Completed

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
        """Differences from the witness, and packets downstream, of which there must be none."""
        found = disagreements(self.expected, self.stats["upstream"], self.frames, self.management)
        if self.stats["downstream"]["received"]:
            found.append("the downstream received packets")
        return found


def replay_upstream(
    folder: Path, text: str, sent: Sequence[Record], *, control: bool = True
) -> UpstreamReplay:
    """Writes and replays, which must succeed. `control`: write packets of the control port, too."""
    folder.mkdir(parents=True, exist_ok=True)
    path, capture = folder / "sg.yaml", folder / "uepi.pcap"
    path.write_text(text)
    write_pcap(capture, sent)
    files = ("--config", path, "--rphy-in", capture, "--network-out", folder / "ip.pcap")
    control_file = ("--control-out", folder / "mmm.pcap") if control else ()
    completed = vcmtsd("replay", *files, *control_file, "--json", folder / "stats.json")
    assert completed.status == 0, completed.stderr
    assert completed.messages == []
    return UpstreamReplay(folder, replace(load_config(path), control_port=control), sent, completed)
