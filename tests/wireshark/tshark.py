# SPDX-License-Identifier: BSD-3-Clause
"""Runs tshark with the dissector; as user nobody under root, for whom tshark loads no scripts."""

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
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
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
# Fields that most tests need: they are read with any other field, to save further runs of tshark.
COMMON_FIELDS = ["psp.seq", "psp.fragment", "psp.reassembled_in", "docsis.hcs.status"]
COMMON_FIELDS += ["udp.srcport", "docsis_uepi.header.sid"]
COMMON_FIELDS += [f"psp.expert.{name}" for name in EXPERTS]
COMMON_FIELDS += [f"docsis_uepi.expert.{name}" for name in UEPI_EXPERTS]
LUA_ERRORS = (b"lua error", b"lua:", b"dissector bug", b"stack traceback")

Rows = list[dict[str, list[str]]]
CACHED_PACKETS_MAX = 5000  # larger captures are not cached

NO_VARIABLES: dict[str, str] = {}
# Names of vendors, ports and enterprises, which `-n` does not use.
NAME_TABLES = {"manuf", "services", "enterprises.tsv"}


def data_without_names(folder: Path) -> dict[str, str]:
    """Links tshark's data files except NAME_TABLES into a folder, and returns the environment for
    it. tshark then starts in about half of the time."""
    command = ["tshark", "-G", "folders"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    match = re.search(r"^Global configuration:\s*(\S.*)$", result.stdout, re.MULTILINE)
    if not match:
        return {}
    folder.mkdir()
    folder.chmod(0o755)
    for path in Path(match[1]).iterdir():
        if path.name not in NAME_TABLES:
            (folder / path.name).symlink_to(path)
    return {"WIRESHARK_DATA_DIR": str(folder)}


def has_lua_error(output: bytes) -> bool:
    text = output.lower()
    return any(error in text for error in LUA_ERRORS)


@dataclass(frozen=True)
class Tshark:
    """A world-readable folder with a copy of the dissector, in which tshark runs."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)  # of data_without_names()
    # Fields read before, by contents of the capture and options.
    cache: dict[tuple[object, ...], Rows] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The folder in which commands may write."""
        return self.folder / "home"

    def run(self, command: list[str], variables: dict[str, str] = NO_VARIABLES) -> str:
        """Returns the output of a command. It must not fail, nor report a Lua error."""
        user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"]} | ENVIRONMENT | variables,
            user=user and user.pw_uid,
            group=user and user.pw_gid,
            extra_groups=[] if user else None,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        output, errors = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
        assert done.returncode == 0, errors
        assert not has_lua_error(done.stdout + done.stderr), output[-4000:] + errors
        return output

    def read(self, pcap: Path, *options: str) -> str:
        """What tshark prints for a capture."""
        script = self.folder / "wireshark" / "docsis-psp.lua"
        command = ["tshark", "-n", "-X", f"lua_script:{script}", "-r", str(pcap), *options]
        return self.run(command, self.variables)

    def fields(self, pcap: Path, *names: str, options: tuple[str, ...] = ()) -> Rows:
        """Fields of each packet, each with the list of its values."""
        rows = self._cached_fields(pcap, options, names)
        return [{name: row[name] for name in names} for row in rows]

    def _cached_fields(self, pcap: Path, options: tuple[str, ...], names: Sequence[str]) -> Rows:
        key = (hashlib.sha256(pcap.read_bytes()).digest(), *options)
        rows = self.cache.get(key, [])
        if not rows or not rows[0].keys() >= set(names):
            rows = self._query(pcap, options, list(dict.fromkeys([*names, *COMMON_FIELDS])))
            if len(rows) <= CACHED_PACKETS_MAX:
                self.cache[key] = rows
        return rows

    def _query(self, pcap: Path, options: tuple[str, ...], names: list[str]) -> Rows:
        wanted = [part for name in names for part in ("-e", name)]
        text = self.read(pcap, "-T", "fields", "-E", "separator=|", *wanted, *options)
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
        """Expert infos `psp.expert.NAME` of each packet: the NAMEs."""
        return self._experts(pcap, "psp.expert", EXPERTS, options)

    def uepi_experts(self, pcap: Path, *options: str) -> list[list[str]]:
        """Expert infos `docsis_uepi.expert.NAME` of each packet: the NAMEs."""
        return self._experts(pcap, "docsis_uepi.expert", UEPI_EXPERTS, options)
