# SPDX-License-Identifier: BSD-3-Clause
"""Captures of every kind, and what is none: the same bytes each time, or one clear line."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.expected import check_flows, check_stats, expect
from e2e.running import SMALL, Replayed, refused, replay_files, vary, vcmtsd
from e2e.traffic import START_NS, generate, spread
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import Record, build_pcap, read_pcap, write_pcap

pytestmark = pytest.mark.replay

CONFIG = load_config(SMALL)
SENT = spread(generate(CONFIG, 21, 200, broken=0.2), 21)
FILE_HEADER = 24


def pcapng(records: list[Record]) -> bytes:
    """One section, one interface with nanoseconds."""

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


def play(folder: Path, captured: bytes, config: Path = SMALL) -> Replayed:
    folder.mkdir(exist_ok=True)
    path = folder / "in.pcap"
    path.write_bytes(captured)
    ended, out, stats = replay_files(config, path, folder)
    return Replayed(load_config(config), SENT, ended, out, stats)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    """To compare others with."""
    return play(tmp_path_factory.mktemp("usual"), build_pcap(SENT))


@pytest.mark.parametrize("threads", ["1ds1t", "1ds2t"])
def test_same_input_same_bytes(threads: str, tmp_path: Path) -> None:
    config = tmp_path / "sg.yaml"
    layout = f"{{downstream: {threads}, main_core: 0, upper_mac_core: 1, lower_mac_core: 0}}"
    config.write_text(vary(SMALL.read_text(), threads=layout))
    runs = [play(tmp_path / name, build_pcap(SENT), config) for name in ("one", "two")]
    assert runs[0].out_path.read_bytes() == runs[1].out_path.read_bytes()
    assert runs[0].stats_path.read_bytes() == runs[1].stats_path.read_bytes()
    assert runs[0].ended.stdout == runs[1].ended.stdout
    assert len(runs[0].out.records) > 50


FORMATS: dict[str, Callable[[list[Record]], bytes]] = {
    "big-endian": lambda records: build_pcap(records, byte_order=">"),
    "pcapng": pcapng,
}


@pytest.mark.parametrize("form", FORMATS.values(), ids=list(FORMATS))
def test_formats_of_one_capture(
    form: Callable[[list[Record]], bytes], usual: Replayed, tmp_path: Path
) -> None:
    other = play(tmp_path / "other", form(SENT))
    assert (other.ended.status, other.ended.messages) == (0, [])
    assert other.out_path.read_bytes() == usual.out_path.read_bytes()
    assert other.stats_path.read_bytes() == usual.stats_path.read_bytes()


@pytest.mark.parametrize("byte_order", ["<", ">"])
def test_microseconds(byte_order: str, tmp_path: Path) -> None:
    captured = build_pcap(SENT, nanoseconds=False, byte_order=byte_order)
    cut = [Record(r.time_ns // 1000 * 1000, r.data, r.original_length) for r in SENT]
    assert play(tmp_path / "us", captured).out == play(tmp_path / "ns", build_pcap(cut)).out


def test_any_order_in_time(tmp_path: Path) -> None:
    """Packets that claim to be earlier than the one before are treated as of the same instant."""
    sent = [Record(START_NS - i * 1_000_003, r.data, len(r.data)) for i, r in enumerate(SENT)]
    replayed = play(tmp_path, build_pcap(sent))
    expected = expect(sent, CONFIG)
    check_flows(expected, replayed.decoded)
    check_stats(expected, replayed.stats, replayed.decoded)
    times = [record.time_ns for record in replayed.out.records]
    assert times == sorted(times) and times[0] >= START_NS


def test_cut_by_the_capture(tmp_path: Path) -> None:
    """Only what was captured counts; of longer frames the rest is missing (snap length)."""
    sent = [Record(r.time_ns, r.data[:80], len(r.data)) for r in SENT]
    replayed = play(tmp_path, build_pcap(sent))
    assert replayed.ended.status == 0
    expected = expect(sent, CONFIG)
    assert expected.drops["ipv4_length"] > 10
    check_flows(expected, replayed.decoded)
    check_stats(expected, replayed.stats, replayed.decoded)


def test_no_packets(tmp_path: Path) -> None:
    replayed = play(tmp_path, build_pcap([]))
    assert (replayed.ended.status, replayed.ended.messages) == (0, [])
    assert replayed.out.records == ()
    assert replayed.stats["received"] == 0 and replayed.stats["balanced"]
    assert set(replayed.stats["counters"].values()) == {0}
    assert set(replayed.stats["drops"].values()) == {0}


@pytest.mark.parametrize("missing", [1, 24, 39, 40])
def test_end_is_cut_off(missing: int, tmp_path: Path) -> None:
    """What came before is replayed; the message names the file; the status tells of trouble."""
    whole = [*SENT[:-1], Record(SENT[-1].time_ns, bytes(24), 24)]
    replayed = play(tmp_path, build_pcap(whole)[:-missing])
    if missing == 40:  # exactly the last record
        assert (replayed.ended.status, replayed.ended.messages) == (0, [])
    else:
        assert replayed.ended.status == 1
        (message,) = replayed.ended.messages
        assert "in.pcap: truncated" in message and "what comes before is replayed" in message
    expected = expect(SENT[:-1], CONFIG)
    check_flows(expected, replayed.decoded)
    check_stats(expected, replayed.stats, replayed.decoded)


def test_impossible_length_in_the_middle(tmp_path: Path) -> None:
    good = build_pcap(SENT[:100])
    replayed = play(tmp_path, good + struct.pack("<IIII", 1, 2, 0xFFFFFFF0, 60) + bytes(60))
    assert replayed.ended.status == 1
    assert len(replayed.ended.messages) == 1
    check_stats(expect(SENT[:100], CONFIG), replayed.stats, replayed.decoded)


NO_CAPTURES: dict[str, bytes] = {
    "nothing": b"",
    "one byte": b"\xd4",
    "half a header": build_pcap([])[: FILE_HEADER // 2],
    "text": b"this is not a capture, it is a text of some length\n" * 10,
    "zeros": bytes(4096),
    "another link type": build_pcap(SENT, linktype=113),
    "another version": b"\xd4\xc3\xb2\xa1\x09\x00" + build_pcap(SENT)[6:],
}


@pytest.mark.parametrize("content", NO_CAPTURES.values(), ids=list(NO_CAPTURES))
def test_no_capture(content: bytes, tmp_path: Path) -> None:
    replayed = play(tmp_path, content)
    refused(replayed.ended, "in.pcap")
    assert not replayed.out_path.exists() and not replayed.stats_path.exists()


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    captured = tmp_path / "in.pcap"
    write_pcap(captured, SENT)
    nowhere = tmp_path / "no" / "such" / "folder.pcap"
    out = tmp_path / "out.pcap"
    command = ("replay", "--config", SMALL)
    refused(vcmtsd(*command, "--network-in", nowhere, "--rphy-out", out), "folder.pcap")
    refused(vcmtsd(*command, "--network-in", tmp_path, "--rphy-out", out), str(tmp_path))
    refused(vcmtsd(*command, "--network-in", captured, "--rphy-out", nowhere), "folder.pcap")
    assert not out.exists()


def test_disk_is_full(tmp_path: Path) -> None:
    captured = tmp_path / "in.pcap"
    write_pcap(captured, SENT)
    command = ("replay", "--config", SMALL, "--network-in", captured)
    out = tmp_path / "out.pcap"
    for ended in (
        vcmtsd(*command, "--rphy-out", "/dev/full"),
        vcmtsd(*command, "--rphy-out", out, "--stats", "/dev/full"),
    ):
        assert ended.status == 1
        (message,) = ended.messages
        assert "/dev/full" in message


def test_input_is_not_overwritten(tmp_path: Path) -> None:
    captured = tmp_path / "in.pcap"
    write_pcap(captured, SENT)
    before = captured.read_bytes()
    (tmp_path / "link.pcap").hardlink_to(captured)
    for name in ("in.pcap", "link.pcap"):
        files = ("--network-in", captured, "--rphy-out", tmp_path / name)
        refused(vcmtsd("replay", "--config", SMALL, *files), name)
        assert captured.read_bytes() == before


def test_after_the_year_2038(usual: Replayed, tmp_path: Path) -> None:
    """Seconds of pcap have 32 bits without a sign."""
    later = (1 << 31) * 10**9 - START_NS
    sent = [Record(r.time_ns + later, r.data, r.original_length) for r in SENT]
    then = play(tmp_path / "then", build_pcap(sent))
    moved = [(r.time_ns + later, r.data) for r in usual.out.records]
    assert [(r.time_ns, r.data) for r in read_pcap(then.out_path).records] == moved


def test_stats_on_the_terminal(tmp_path: Path) -> None:
    captured = tmp_path / "in.pcap"
    write_pcap(captured, SENT)
    _, out, stats = replay_files(SMALL, captured, tmp_path)
    files = ("--network-in", captured, "--rphy-out", out, "--stats", "-")
    ended = vcmtsd("replay", "--config", SMALL, *files)
    assert ended.status == 0 and ended.stdout == stats.read_text()
