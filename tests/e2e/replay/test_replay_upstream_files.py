# SPDX-License-Identifier: BSD-3-Clause
"""Upstream replay with files of every kind: what came before is replayed, or one clear line."""

from pathlib import Path

import pytest

from e2e.running import SMALL, Ended, refused, vcmtsd
from e2e.traffic import START_NS
from e2e.upstream import UpstreamReplay
from vcmts.witness.config import parse_config
from vcmts.witness.pcapfile import Record, build_pcap, records_of, write_pcap
from witness.sample import UPSTREAM
from witness.upstream_traffic import sending

pytestmark = pytest.mark.replay

SENDER = sending(3, parse_config(UPSTREAM), most=80)
SENT = records_of(SENDER.packets, START_NS)


def replay(folder: Path, *more: str | Path, captured: bytes | None = None) -> Ended:
    """With names that `more` may give again."""
    (folder / "sg.yaml").write_text(UPSTREAM)
    (folder / "uepi.pcap").write_bytes(build_pcap(SENT) if captured is None else captured)
    files = ("--rphy-in", folder / "uepi.pcap", "--network-out", folder / "ip.pcap")
    return vcmtsd("replay", "--config", folder / "sg.yaml", *files, *more)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    nowhere = tmp_path / "no" / "such" / "folder.pcap"
    for option in ("--rphy-in", "--network-out", "--control-out"):
        refused(replay(tmp_path, option, nowhere), "folder.pcap", "No such file")
    refused(replay(tmp_path, "--rphy-in", tmp_path), str(tmp_path))
    refused(replay(tmp_path, "--config", nowhere), "folder.pcap", "No such file")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    before = build_pcap(SENT)
    captured, link = tmp_path / "uepi.pcap", tmp_path / "link.pcap"
    captured.touch()
    link.hardlink_to(captured)
    for option in ("--network-out", "--control-out", "--stats"):
        for path in (captured, link):
            refused(replay(tmp_path, option, path), path.name, "input")
        refused(replay(tmp_path, option, tmp_path / "sg.yaml"), "sg.yaml", "input")
        assert captured.read_bytes() == before
    for option in ("--control-out", "--stats"):
        refused(replay(tmp_path, option, tmp_path / "ip.pcap"), "ip.pcap", "two outputs")
    same = tmp_path / "same"
    refused(replay(tmp_path, "--control-out", same, "--stats", same), "same", "two outputs")
    assert not same.exists() and not (tmp_path / "ip.pcap").exists()


def test_both_directions_or_half_of_one(tmp_path: Path) -> None:
    captured, out = tmp_path / "in.pcap", tmp_path / "out.pcap"
    write_pcap(captured, SENT)
    up = ("--rphy-in", captured, "--network-out", out)
    down = ("--network-in", captured, "--rphy-out", tmp_path / "other.pcap")
    for options in (
        (*up, *down),
        (*up, *down[:2]),
        (*up[:2], *down[2:]),
        (*down[:2], *up[2:]),
        up[:2],
        up[2:],
        (*down, "--control-out", out),
    ):
        ended = vcmtsd("replay", "--config", SMALL, *options)
        assert (ended.status, ended.stdout) == (2, "")
        said, usage = ended.messages
        assert "required: --network-in and --rphy-out, or --rphy-in and" in said
        assert "--help" in usage
        assert not out.exists()


def test_a_configuration_without_upstream(tmp_path: Path) -> None:
    ended = replay(tmp_path, "--config", SMALL)
    refused(ended, SMALL.name, "upstream_channels", "--rphy-in")
    assert not (tmp_path / "ip.pcap").exists()


def test_disk_is_full(tmp_path: Path) -> None:
    for option in ("--network-out", "--control-out", "--stats"):
        ended = replay(tmp_path, option, "/dev/full")
        assert ended.status == 1
        (message,) = ended.messages
        assert "/dev/full" in message


@pytest.mark.parametrize("missing", [1, 17])
def test_end_is_cut_off(missing: int, tmp_path: Path) -> None:
    """What came before is replayed; the message names the file; the status tells of trouble."""
    control, stats = tmp_path / "mmm.pcap", tmp_path / "stats.json"
    whole = build_pcap([*SENT[:40], Record(SENT[40].time_ns, bytes(24), 24)])
    files = ("--control-out", control, "--stats", stats)
    ended = replay(tmp_path, *files, captured=whole[:-missing])
    assert ended.status == 1
    (message,) = ended.messages
    assert "uepi.pcap: truncated" in message and "what comes before is replayed" in message
    replayed = UpstreamReplay(tmp_path, parse_config(UPSTREAM), SENT[:40], ended)
    assert replayed.problems() == []


def test_stats_on_the_terminal(tmp_path: Path) -> None:
    stats = tmp_path / "stats.json"
    told = replay(tmp_path, "--stats", stats).stdout
    ended = replay(tmp_path, "--stats", "-")
    assert ended.status == 0 and ended.stdout == stats.read_text()
    assert "\n".join(ended.messages) + "\n" == told
