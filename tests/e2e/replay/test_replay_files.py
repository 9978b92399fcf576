# SPDX-License-Identifier: BSD-3-Clause
"""Files of downstream replays: formats, truncated and invalid captures, outputs."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.expected import check_flows, check_stats, expect_downstream
from e2e.running import SMALL, DownstreamReplay, check_refused, replace_values, replay_files, vcmtsd
from e2e.sanitized import without_version
from e2e.traffic import START_NS, generate, with_times
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import Record, build_pcap, read_pcap, write_pcap

pytestmark = pytest.mark.replay

CONFIG = load_config(SMALL)
SENT = with_times(generate(CONFIG, 21, 200, broken=0.2), 21)
FILE_HEADER = 24


def pcapng(records: list[Record]) -> bytes:
    """A pcapng file with one section and one interface, and timestamps in nanoseconds."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        length = (12 + len(body)).to_bytes(4, "little")
        return kind.to_bytes(4, "little") + length + body + length

    resolution = struct.pack("<HHBxxxHH", 9, 1, 9, 0, 0)
    parts = [
        block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack("<HHI", 1, 0, 0) + resolution),
    ]
    for record in records:
        size = len(record.data)
        time = record.time_ns
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, size, size)
        parts.append(block(6, head + record.data))
    return b"".join(parts)


def play(folder: Path, captured: bytes, config: Path = SMALL) -> DownstreamReplay:
    """Replays the bytes of a capture file. `sent` of the result is SENT for any capture."""
    folder.mkdir(exist_ok=True)
    path = folder / "in.pcap"
    path.write_bytes(captured)
    ended, out, stats = replay_files(config, path, folder)
    return DownstreamReplay(load_config(config), SENT, ended, out, stats)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> DownstreamReplay:
    """The replay with which others are compared."""
    return play(tmp_path_factory.mktemp("usual"), build_pcap(SENT))


@pytest.mark.parametrize("threads", ["1ds1t", "1ds2t"])
def test_same_input_gives_same_bytes(threads: str, tmp_path: Path) -> None:
    config = tmp_path / "sg.yaml"
    layout = f"{{downstream: {threads}, main_core: 0, upper_mac_core: 1, lower_mac_core: 0}}"
    config.write_text(replace_values(SMALL.read_text(), threads=layout))
    runs = [play(tmp_path / name, build_pcap(SENT), config) for name in ("one", "two")]
    assert runs[0].out_path.read_bytes() == runs[1].out_path.read_bytes()
    assert runs[0].stats_path.read_bytes() == runs[1].stats_path.read_bytes()
    assert runs[0].completed.stdout == runs[1].completed.stdout
    assert len(runs[0].out.records) > 50


FORMATS: dict[str, Callable[[list[Record]], bytes]] = {
    "big-endian": lambda records: build_pcap(records, byte_order=">"),
    "pcapng": pcapng,
}


@pytest.mark.parametrize("build", FORMATS.values(), ids=list(FORMATS))
def test_all_formats_give_same_output(
    build: Callable[[list[Record]], bytes], reference: DownstreamReplay, tmp_path: Path
) -> None:
    replayed = play(tmp_path / "other", build(SENT))
    assert (replayed.completed.status, replayed.completed.messages) == (0, [])
    assert replayed.out_path.read_bytes() == reference.out_path.read_bytes()
    assert replayed.stats_path.read_bytes() == reference.stats_path.read_bytes()


@pytest.mark.parametrize("byte_order", ["<", ">"])
def test_microseconds_are_read(byte_order: str, tmp_path: Path) -> None:
    captured = build_pcap(SENT, nanoseconds=False, byte_order=byte_order)
    rounded = [Record(r.time_ns // 1000 * 1000, r.data, r.original_length) for r in SENT]
    assert play(tmp_path / "us", captured).out == play(tmp_path / "ns", build_pcap(rounded)).out


def test_timestamps_may_go_back(tmp_path: Path) -> None:
    """A packet with an earlier timestamp than the one before is received at the same time."""
    sent = [Record(START_NS - i * 1_000_003, r.data, len(r.data)) for i, r in enumerate(SENT)]
    replayed = play(tmp_path, build_pcap(sent))
    expected = expect_downstream(sent, CONFIG)
    check_flows(expected, replayed.decoded)
    check_stats(expected, replayed.stats, replayed.decoded)
    times = [record.time_ns for record in replayed.out.records]
    assert times == sorted(times) and times[0] >= START_NS


def test_snap_length_truncates_frames(tmp_path: Path) -> None:
    """Frames cut by the snap length are handled as frames of the captured length."""
    sent = [Record(r.time_ns, r.data[:80], len(r.data)) for r in SENT]
    replayed = play(tmp_path, build_pcap(sent))
    assert replayed.completed.status == 0
    expected = expect_downstream(sent, CONFIG)
    assert expected.drops["ipv4_length"] > 10
    check_flows(expected, replayed.decoded)
    check_stats(expected, replayed.stats, replayed.decoded)


def test_capture_without_packets_is_replayed(tmp_path: Path) -> None:
    replayed = play(tmp_path, build_pcap([]))
    assert (replayed.completed.status, replayed.completed.messages) == (0, [])
    assert replayed.out.records == ()
    assert replayed.stats["received"] == 0 and replayed.stats["balanced"]
    assert set(replayed.stats["counters"].values()) == {0}
    assert set(replayed.stats["drops"].values()) == {0}


@pytest.mark.parametrize("missing", [1, 24, 39, 40])
def test_truncated_capture_is_replayed_and_reported(missing: int, tmp_path: Path) -> None:
    """Records before the truncated one are replayed. The message names the file, status is 1."""
    records = [*SENT[:-1], Record(SENT[-1].time_ns, bytes(24), 24)]
    replayed = play(tmp_path, build_pcap(records)[:-missing])
    if missing == 40:  # the last record is missing completely
        assert (replayed.completed.status, replayed.completed.messages) == (0, [])
    else:
        assert replayed.completed.status == 1
        (message,) = replayed.completed.messages
        assert "in.pcap: truncated" in message and "what comes before is replayed" in message
    expected = expect_downstream(SENT[:-1], CONFIG)
    check_flows(expected, replayed.decoded)
    check_stats(expected, replayed.stats, replayed.decoded)


def test_invalid_record_length_is_reported(tmp_path: Path) -> None:
    good = build_pcap(SENT[:100])
    replayed = play(tmp_path, good + struct.pack("<IIII", 1, 2, 0xFFFFFFF0, 60) + bytes(60))
    assert replayed.completed.status == 1
    assert len(replayed.completed.messages) == 1
    check_stats(expect_downstream(SENT[:100], CONFIG), replayed.stats, replayed.decoded)


INVALID_CAPTURES: dict[str, bytes] = {
    "empty": b"",
    "one byte": b"\xd4",
    "half a header": build_pcap([])[: FILE_HEADER // 2],
    "text": b"this is not a capture, it is a text of some length\n" * 10,
    "zeros": bytes(4096),
    "another link type": build_pcap(SENT, linktype=113),
    "another version": b"\xd4\xc3\xb2\xa1\x09\x00" + build_pcap(SENT)[6:],
}


@pytest.mark.parametrize("content", INVALID_CAPTURES.values(), ids=list(INVALID_CAPTURES))
def test_invalid_capture_is_rejected(content: bytes, tmp_path: Path) -> None:
    replayed = play(tmp_path, content)
    check_refused(replayed.completed, "in.pcap")
    assert not replayed.out_path.exists() and not replayed.stats_path.exists()


def test_unusable_paths_are_rejected(tmp_path: Path) -> None:
    captured = tmp_path / "in.pcap"
    write_pcap(captured, SENT)
    missing = tmp_path / "no" / "such" / "folder.pcap"
    out = tmp_path / "out.pcap"
    command = ("replay", "--config", SMALL)
    check_refused(vcmtsd(*command, "--network-in", missing, "--rphy-out", out), "folder.pcap")
    check_refused(vcmtsd(*command, "--network-in", tmp_path, "--rphy-out", out), str(tmp_path))
    check_refused(vcmtsd(*command, "--network-in", captured, "--rphy-out", missing), "folder.pcap")
    assert not out.exists()


def test_full_disk_is_reported(tmp_path: Path) -> None:
    captured = tmp_path / "in.pcap"
    write_pcap(captured, SENT)
    command = ("replay", "--config", SMALL, "--network-in", captured)
    out = tmp_path / "out.pcap"
    for ended in (
        vcmtsd(*command, "--rphy-out", "/dev/full"),
        vcmtsd(*command, "--rphy-out", out, "--json", "/dev/full"),
    ):
        assert ended.status == 1
        (message,) = ended.messages
        assert "/dev/full" in message


def test_output_over_input_is_rejected(tmp_path: Path) -> None:
    captured = tmp_path / "in.pcap"
    write_pcap(captured, SENT)
    before = captured.read_bytes()
    (tmp_path / "link.pcap").hardlink_to(captured)
    for name in ("in.pcap", "link.pcap"):
        files = ("--network-in", captured, "--rphy-out", tmp_path / name)
        check_refused(vcmtsd("replay", "--config", SMALL, *files), name)
        assert captured.read_bytes() == before


def test_times_after_2038_are_replayed(reference: DownstreamReplay, tmp_path: Path) -> None:
    """Seconds of pcap are unsigned 32-bit numbers."""
    later = (1 << 31) * 10**9 - START_NS
    sent = [Record(r.time_ns + later, r.data, r.original_length) for r in SENT]
    replayed = play(tmp_path / "then", build_pcap(sent))
    expected = [(r.time_ns + later, r.data) for r in reference.out.records]
    assert [(r.time_ns, r.data) for r in read_pcap(replayed.out_path).records] == expected


def test_stats_can_be_printed(tmp_path: Path) -> None:
    captured = tmp_path / "in.pcap"
    write_pcap(captured, SENT)
    _, out, stats = replay_files(SMALL, captured, tmp_path)
    files = ("--network-in", captured, "--rphy-out", out, "--json", "-")
    ended = vcmtsd("replay", "--config", SMALL, *files)
    assert ended.status == 0
    assert without_version(ended.stdout) == without_version(stats.read_text())
