# SPDX-License-Identifier: BSD-3-Clause
"""Files of upstream replays: unusable paths, truncated captures, outputs over inputs."""

from pathlib import Path

import pytest

from e2e.running import SMALL, Completed, check_refused, vcmtsd
from e2e.sanitized import without_version
from e2e.traffic import START_NS
from e2e.upstream import UpstreamReplay
from vcmts.witness.config import parse_config
from vcmts.witness.pcapfile import Record, build_pcap, records_of, write_pcap
from witness.sample import UPSTREAM
from witness.upstream_traffic import sending

pytestmark = pytest.mark.replay

SENDER = sending(3, parse_config(UPSTREAM), most=80)
SENT = records_of(SENDER.packets, START_NS)


def replay(folder: Path, *more: str | Path, captured: bytes | None = None) -> Completed:
    """Replays the capture. `more`: options that may repeat those of the files."""
    (folder / "sg.yaml").write_text(UPSTREAM)
    (folder / "uepi.pcap").write_bytes(build_pcap(SENT) if captured is None else captured)
    files = ("--rphy-in", folder / "uepi.pcap", "--network-out", folder / "ip.pcap")
    return vcmtsd("replay", "--config", folder / "sg.yaml", *files, *more)


def test_unusable_paths_are_rejected(tmp_path: Path) -> None:
    missing = tmp_path / "no" / "such" / "folder.pcap"
    for option in ("--rphy-in", "--network-out", "--control-out"):
        check_refused(replay(tmp_path, option, missing), "folder.pcap", "No such file")
    check_refused(replay(tmp_path, "--rphy-in", tmp_path), str(tmp_path))
    check_refused(replay(tmp_path, "--config", missing), "folder.pcap", "No such file")


def test_output_over_other_file_is_rejected(tmp_path: Path) -> None:
    before = build_pcap(SENT)
    captured, link = tmp_path / "uepi.pcap", tmp_path / "link.pcap"
    captured.touch()
    link.hardlink_to(captured)
    for option in ("--network-out", "--control-out", "--json"):
        for path in (captured, link):
            check_refused(replay(tmp_path, option, path), path.name, "input")
        check_refused(replay(tmp_path, option, tmp_path / "sg.yaml"), "sg.yaml", "input")
        assert captured.read_bytes() == before
    for option in ("--control-out", "--json"):
        check_refused(replay(tmp_path, option, tmp_path / "ip.pcap"), "ip.pcap", "two outputs")
    same = tmp_path / "same"
    check_refused(replay(tmp_path, "--control-out", same, "--json", same), "same", "two outputs")
    assert not same.exists() and not (tmp_path / "ip.pcap").exists()


def test_files_of_exactly_one_direction_are_required(tmp_path: Path) -> None:
    captured, out = tmp_path / "in.pcap", tmp_path / "out.pcap"
    write_pcap(captured, SENT)
    upstream = ("--rphy-in", captured, "--network-out", out)
    downstream = ("--network-in", captured, "--rphy-out", tmp_path / "other.pcap")
    for options in (
        (*upstream, *downstream),
        (*upstream, *downstream[:2]),
        (*upstream[:2], *downstream[2:]),
        (*downstream[:2], *upstream[2:]),
        upstream[:2],
        upstream[2:],
        (*downstream, "--control-out", out),
    ):
        done = vcmtsd("replay", "--config", SMALL, *options)
        assert (done.status, done.stdout) == (2, "")
        message, usage = done.messages
        assert "required: --network-in and --rphy-out, or --rphy-in and" in message
        assert "--help" in usage
        assert not out.exists()


def test_configuration_without_upstream_is_rejected(tmp_path: Path) -> None:
    done = replay(tmp_path, "--config", SMALL)
    check_refused(done, SMALL.name, "upstream_channels", "--rphy-in")
    assert not (tmp_path / "ip.pcap").exists()


def test_full_disk_is_reported(tmp_path: Path) -> None:
    for option in ("--network-out", "--control-out", "--json"):
        done = replay(tmp_path, option, "/dev/full")
        assert done.status == 1
        (message,) = done.messages
        assert "/dev/full" in message


@pytest.mark.parametrize("missing", [1, 17])
def test_truncated_capture_is_replayed_and_reported(missing: int, tmp_path: Path) -> None:
    """Records before the truncated one are replayed. The message names the file, status is 1."""
    control_file, stats = tmp_path / "mmm.pcap", tmp_path / "stats.json"
    capture = build_pcap([*SENT[:40], Record(SENT[40].time_ns, bytes(24), 24)])
    files = ("--control-out", control_file, "--json", stats)
    done = replay(tmp_path, *files, captured=capture[:-missing])
    assert done.status == 1
    (message,) = done.messages
    assert "uepi.pcap: truncated" in message and "what comes before is replayed" in message
    replayed = UpstreamReplay(tmp_path, parse_config(UPSTREAM), SENT[:40], done)
    assert replayed.problems() == []


def test_stats_can_be_printed(tmp_path: Path) -> None:
    stats = tmp_path / "stats.json"
    summary = replay(tmp_path, "--json", stats).stdout
    done = replay(tmp_path, "--json", "-")
    assert done.status == 0
    assert without_version(done.stdout) == without_version(stats.read_text())
    assert "\n".join(done.messages) + "\n" == summary
