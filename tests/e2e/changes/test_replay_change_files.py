# SPDX-License-Identifier: BSD-3-Clause
"""`vcmtsd replay` with `--changes`, `--then` and `--answers`: formats, order, errors."""

import json
from pathlib import Path

import pytest

from e2e.frames import udp_frame
from e2e.running import SMALL, Completed, vcmts, vcmtsd
from e2e.traffic import START_NS
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import read_pcap, records_of, write_pcap

pytestmark = pytest.mark.replay

CONFIG = load_config(SMALL)
ADDRESS = CONFIG.modems[3].addresses[0]
REMOVE = {"method": "modem.remove", "params": {"mac": "02:01:00:00:00:04"}}


def replay(folder: Path, *options: str | Path, tool: bool = False) -> Completed:
    frames = [udp_frame(ADDRESS, 300, number) for number in range(10)]
    write_pcap(folder / "in.pcap", records_of(frames, START_NS, 1_000_000))
    files = ("--network-in", folder / "in.pcap", "--rphy-out", folder / "out.pcap")
    program = vcmts if tool else vcmtsd
    return program("replay", "--config", SMALL, *files, "--json", folder / "stats.json", *options)


def drops(folder: Path) -> dict[str, int]:
    """Downstream drops by reason, without those that are 0."""
    counts = json.loads((folder / "stats.json").read_text())["downstream"]["drops"]
    return {name: count for name, count in counts.items() if count}


def write_changes(folder: Path, text: str) -> Path:
    path = folder / "changes.json"
    path.write_text(text)
    return path


INVALID_FILES = {
    "not JSON": ("[{", ":1: "),
    "not a list": ("{}", ": not a list such as "),
    "without a time": (json.dumps([REMOVE]), ": [0]: at: needed: a time"),
    "a number": (json.dumps([REMOVE | {"at": 5}]), ": [0]: at: needed: a time"),
    "a negative time": (json.dumps([REMOVE | {"at": "-1 ms"}]), ": [0]: at: needed: a time"),
    "without a method": ('[{"at": "1 ms"}]', ": [0]: method: no such method"),
    "an unknown method": (
        json.dumps([REMOVE | {"at": "1 s"}, {"at": "1 s", "method": "modem.ad"}]),
        ": [1]: method: no such method",
    ),
    "params is a list": (
        '[{"at": "1 s", "method": "group.list", "params": []}]',
        ": [0]: params: not an object",
    ),
    "an unknown key": (
        '[{"at": "1 s", "method": "group.list", "id": 1}]',
        ": [0]: unknown key; allowed: at, ",
    ),
    "a key twice": ('[{"at": "1 s", "at": "2 s", "method": "group.list"}]', ":1: "),
    "not an object": ("[7]", ": [0]: at: needed: "),
}


@pytest.mark.parametrize("name", INVALID_FILES)
def test_invalid_changes_file_is_rejected(name: str, tmp_path: Path) -> None:
    """vcmtsd rejects the file before it writes an output."""
    text, expected = INVALID_FILES[name]
    path = write_changes(tmp_path, text)
    done = replay(tmp_path, "--changes", path)
    assert done.status == 2
    [message] = done.messages
    assert message.startswith(f"{path}{expected}"), message
    assert not (tmp_path / "out.pcap").exists()


@pytest.mark.parametrize("text", ["sg.yaml", "=sg.yaml", "5ms=", "5 parsecs=sg.yaml", "5=sg.yaml"])
def test_invalid_then_option_is_rejected(text: str, tmp_path: Path) -> None:
    done = replay(tmp_path, "--then", text)
    assert done.status == 2
    assert f'--then: found "{text}", allowed: a time and a file' in done.messages[0]
    assert not (tmp_path / "out.pcap").exists()


def test_missing_files_are_rejected(tmp_path: Path) -> None:
    done = replay(tmp_path, "--changes", tmp_path / "missing.json")
    assert done.status == 2 and str(tmp_path / "missing.json") in done.messages[0]
    done = replay(tmp_path, "--then", f"2 ms={tmp_path / 'missing.yaml'}")
    assert done.status == 2 and "nothing was changed" in done.messages[-1]
    assert drops(tmp_path) == {}


def test_output_over_input_or_other_output_is_rejected(tmp_path: Path) -> None:
    path = write_changes(tmp_path, "[]")
    other = tmp_path / "other.yaml"
    other.write_text(SMALL.read_text())
    for options in (("--changes", path, "--answers", path),):
        assert "is an input too" in replay(tmp_path, *options).messages[0]
    done = replay(tmp_path, "--then", f"1ms={other}", "--answers", other)
    assert done.status == 2 and "is an input too" in done.messages[0]
    stats = tmp_path / "stats.json"
    assert "is given for two outputs" in replay(tmp_path, "--answers", stats).messages[0]
    assert path.read_text() == "[]" and other.read_text() == SMALL.read_text()


@pytest.mark.parametrize("tool", [False, True], ids=["vcmtsd", "vcmts"])
def test_changes_are_applied_in_order_of_time(tool: bool, tmp_path: Path) -> None:
    """Changes are applied in order of time, whatever their order in the file. At the same time,
    changes of the command line precede those of the file, and packets follow the changes."""
    other = tmp_path / "other.yaml"
    other.write_text(SMALL.read_text().replace("priority: 4", "priority: 5"))
    reload = {"method": "config.reload", "params": {"force": True}}
    changes_file = write_changes(
        tmp_path,
        json.dumps(
            [reload | {"at": "8 ms"}, REMOVE | {"at": "4ms"}, {"at": "0 s", "method": "group.list"}]
        ),
    )
    answers = tmp_path / "answers.json"
    options = ("--changes", changes_file, "--answers", answers, "--then", f"4ms={other}")
    done = replay(tmp_path, *options, tool=tool)
    assert done.status == 0, done.stderr
    answered = json.loads(answers.read_text())
    names = [answer.get("method", "file") for answer in answered]
    assert names == ["group.list", "file", "modem.remove", "config.reload"]
    assert drops(tmp_path) == {"unknown_destination": 4}  # the packets at 4, 5, 6 and 7 ms
    assert [answer["begun_ns"] for answer in answered] == [0, 4_000_000, 4_000_000, 8_000_000]
    assert done.stderr.count("reloaded") == 2


def test_refused_change_has_no_effect(tmp_path: Path) -> None:
    """vcmtsd prints one line, exits with 2, and replays the capture as without the change."""
    plain = replay(tmp_path)
    assert plain.status == 0
    first = read_pcap(tmp_path / "out.pcap").records
    bad = {"at": "3ms", "method": "channel.set", "params": {"channel": {"id": 11, "rate": "0"}}}
    done = replay(tmp_path, "--changes", write_changes(tmp_path, json.dumps([bad])))
    assert done.status == 2
    [line] = done.messages
    assert line.startswith("replay: 3 ms: channel.set: refused: channel 11: rate: found"), line
    assert read_pcap(tmp_path / "out.pcap").records == first
    assert done.stdout == plain.stdout


def test_changes_after_last_packet_are_applied(tmp_path: Path) -> None:
    """Changes after the last packet, or without any packet, are applied."""
    name = "vcmts_downstream_received_packets_total"
    counts = {"at": "30min", "method": "metrics.get", "params": {"names": [name]}}
    path = write_changes(
        tmp_path, json.dumps([REMOVE | {"at": "1h"}, {"at": "2h", **REMOVE}, counts])
    )
    done = replay(tmp_path, "--changes", path, "--answers", "-")
    assert done.status == 2
    answers = json.loads(done.stdout)
    assert ["error" in answer for answer in answers] == [False, False, True]
    assert answers[2]["begun_ns"] // 10**9 in (7199, 7200)
    packets = len(read_pcap(tmp_path / "in.pcap").records)
    assert answers[0]["result"]["uptime"] == 0, "uptime is 0 in a replay"
    [sample] = answers[0]["result"]["samples"]
    assert (sample["name"], sample["value"]) == (name, packets)
    write_pcap(tmp_path / "empty.pcap", [])
    files = ("--network-in", tmp_path / "empty.pcap", "--rphy-out", tmp_path / "o.pcap")
    done = vcmtsd("replay", "--config", SMALL, *files, "--changes", path)
    assert done.status == 2 and len(done.messages) == 1
