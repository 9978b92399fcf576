# SPDX-License-Identifier: BSD-3-Clause
"""Runs tshark with the dissector. Root runs it as nobody: new ones load no scripts for root."""

import os
import pwd
import re
import subprocess
from dataclasses import dataclass
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
LUA_TROUBLE = re.compile(r"lua error|lua:|dissector bug|stack traceback", re.IGNORECASE)


@dataclass(frozen=True)
class Stage:
    """A folder that all can read, with a copy of the dissector and a home for tshark in it."""

    folder: Path

    @property
    def home(self) -> Path:
        """Where a command may write."""
        return self.folder / "home"

    def run(self, command: list[str]) -> str:
        user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"], "TZ": "UTC"} | LANGUAGE,
            user=user and user.pw_uid,
            group=user and user.pw_gid,
            extra_groups=[] if user else None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not LUA_TROUBLE.search(done.stdout + done.stderr), done.stdout[-4000:] + done.stderr
        return done.stdout

    def tshark(self, pcap: Path, *options: str) -> str:
        script = self.folder / "wireshark" / "docsis-psp.lua"
        return self.run(["tshark", "-n", "-X", f"lua_script:{script}", "-r", str(pcap), *options])

    def fields(
        self, pcap: Path, *names: str, options: tuple[str, ...] = ()
    ) -> list[dict[str, list[str]]]:
        """The fields of each packet, each field with all its values."""
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
