# SPDX-License-Identifier: BSD-3-Clause
"""Runs tshark with the dissector. Root runs it as nobody: new ones load no scripts for root."""

import hashlib
import os
import pwd
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from patience import TIMEOUT

CHECKOUT = Path(__file__).resolve().parents[2]
LANGUAGE = {"LC_ALL": "C.UTF-8"}
EXPERTS = [
    "gap", "late", "restart", "short", "table_beyond", "beyond", "trailing", "empty", "cut",
    "no_begin", "before_capture", "lost_middle", "no_end", "too_long",
]  # fmt: skip
UEPI_EXPERTS = [
    "burst_id", "contradiction", "duplicate", "fec", "frame_hcs", "frame_length", "gap", "grant",
    "header", "late", "lost", "no_burst", "no_payload", "not_one_segment", "odd_trailer",
    "one_segment", "orphan", "pointer_beyond", "record", "restart", "segment_hcs",
    "segment_truncated", "trailer", "truncated", "version",
]  # fmt: skip
# What tests ask of a capture, one after the other: asked along, it takes no start of its own.
ALONG = ["psp.seq", "psp.fragment", "psp.reassembled_in", "docsis.hcs.status", "udp.srcport"]
ALONG += ["docsis_uepi.header.sid", *(f"psp.expert.{name}" for name in EXPERTS)]
ALONG += [f"docsis_uepi.expert.{name}" for name in UEPI_EXPERTS]
LUA_TROUBLE = (b"lua error", b"lua:", b"dissector bug", b"stack traceback")

Rows = list[dict[str, list[str]]]
REMEMBERED = 5000  # packets of a capture

NOTHING: dict[str, str] = {}
# The names that stand for addresses, ports and enterprises: `-n` wants none of them.
TABLES = {"manuf", "services", "enterprises.tsv"}


def lean_data(made: Path) -> dict[str, str]:
    """What has tshark start in little more than half of the time: it reads megabytes of names at
    each start, wanted or not. Here it finds all of its data but those."""
    told = subprocess.run(["tshark", "-G", "folders"], capture_output=True, text=True, check=False)
    found = re.search(r"^Global configuration:\s*(\S.*)$", told.stdout, re.MULTILINE)
    if not found:
        return {}
    made.mkdir()
    made.chmod(0o755)
    for one in Path(found[1]).iterdir():
        if one.name not in TABLES:
            (made / one.name).symlink_to(one)
    return {"WIRESHARK_DATA_DIR": str(made)}


def troubled(said: bytes) -> bool:
    """Whether tshark tells of a mistake in a script, however it writes it."""
    small = said.lower()
    return any(trouble in small for trouble in LUA_TROUBLE)


@dataclass(frozen=True)
class Stage:
    """A folder that all can read, with a copy of the dissector and a home for tshark in it."""

    folder: Path
    lean: dict[str, str] = field(default_factory=dict)  # for `lean_data`
    # What tshark has said already, by the capture's contents and the options: it says so again.
    said: dict[tuple[object, ...], Rows] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """Where a command may write."""
        return self.folder / "home"

    def run(self, command: list[str], more: dict[str, str] = NOTHING) -> str:
        user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"], "TZ": "UTC"} | LANGUAGE | more,
            user=user and user.pw_uid,
            group=user and user.pw_gid,
            extra_groups=[] if user else None,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        output, errors = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
        assert done.returncode == 0, errors
        assert not troubled(done.stdout + done.stderr), output[-4000:] + errors
        return output

    def tshark(self, pcap: Path, *options: str) -> str:
        script = self.folder / "wireshark" / "docsis-psp.lua"
        command = ["tshark", "-n", "-X", f"lua_script:{script}", "-r", str(pcap), *options]
        return self.run(command, self.lean)

    def fields(self, pcap: Path, *names: str, options: tuple[str, ...] = ()) -> Rows:
        """The fields of each packet, each field with all its values."""
        rows = self._told(pcap, options, names)
        return [{name: row[name] for name in names} for row in rows]

    def _told(self, pcap: Path, options: tuple[str, ...], names: Sequence[str]) -> Rows:
        """What was said of this capture already, or is now. Whoever asks for fields may well ask
        for experts next, and a start of tshark takes longer than they do."""
        key = (hashlib.sha256(pcap.read_bytes()).digest(), *options)
        rows = self.said.get(key, [])
        if not rows or not rows[0].keys() >= set(names):
            rows = self._ask(pcap, options, list(dict.fromkeys([*names, *ALONG])))
            if len(rows) <= REMEMBERED:
                self.said[key] = rows
        return rows

    def _ask(self, pcap: Path, options: tuple[str, ...], names: list[str]) -> Rows:
        wanted = [part for name in names for part in ("-e", name)]
        text = self.tshark(pcap, "-T", "fields", "-E", "separator=|", *wanted, *options)
        rows = [line.split("|") for line in text.split("\n")[:-1]]
        return [
            {name: [v for v in cell.split(",") if v] for name, cell in zip(names, row, strict=True)}
            for row in rows
        ]

    def _experts(
        self, pcap: Path, prefix: str, known: list[str], options: tuple[str, ...]
    ) -> list[list[str]]:
        rows = self.fields(pcap, *(f"{prefix}.{name}" for name in known), options=options)
        return [[name for name in known if row[f"{prefix}.{name}"]] for row in rows]

    def experts(self, pcap: Path, *options: str) -> list[list[str]]:
        """The names of the expert fields of each packet, without `psp.expert.`."""
        return self._experts(pcap, "psp.expert", EXPERTS, options)

    def uepi_experts(self, pcap: Path, *options: str) -> list[list[str]]:
        """Those of the upstream, without `docsis_uepi.expert.`."""
        return self._experts(pcap, "docsis_uepi.expert", UEPI_EXPERTS, options)
