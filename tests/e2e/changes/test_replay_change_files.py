# SPDX-License-Identifier: BSD-3-Clause
"""What `replay` takes as changes, what it refuses, and what it says of them."""

import json
from pathlib import Path

import pytest

from e2e.frames import udp_frame
from e2e.running import SMALL, Ended, vcmts, vcmtsd
from e2e.traffic import START_NS
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import read_pcap, records_of, write_pcap

pytestmark = pytest.mark.replay

CONFIG = load_config(SMALL)
ADDRESS = CONFIG.modems[3].addresses[0]
GONE = {"method": "modem.remove", "params": {"modem": {"mac": "02:01:00:00:00:04"}}}


def replay(folder: Path, *words: str | Path, tool: bool = False) -> Ended:
    frames = [udp_frame(ADDRESS, 300, number) for number in range(10)]
    write_pcap(folder / "in.pcap", records_of(frames, START_NS, 1_000_000))
    files = ("--network-in", folder / "in.pcap", "--rphy-out", folder / "out.pcap")
    program = vcmts if tool else vcmtsd
    return program("replay", "--config", SMALL, *files, "--stats", folder / "stats.json", *words)


def drops(folder: Path) -> dict[str, int]:
    told = json.loads((folder / "stats.json").read_text())["downstream"]["drops"]
    return {name: count for name, count in told.items() if count}


def changes(folder: Path, text: str) -> Path:
    path = folder / "changes.json"
    path.write_text(text)
    return path


WRONG = {
    "no JSON": ("[{", ":1: "),
    "no list": ("{}", ": found no list, allowed: "),
    "no time": (json.dumps([GONE]), ": [0]: at: allowed: a time"),
    "a number": (json.dumps([GONE | {"at": 5}]), ": [0]: at: allowed: a time"),
    "before the begin": (json.dumps([GONE | {"at": "-1 ms"}]), ": [0]: at: allowed: a time"),
    "no method": ('[{"at": "1 ms"}]', ": [0]: method: allowed: "),
    "a method that is not there": (
        json.dumps([GONE | {"at": "1 s"}, {"at": "1 s", "method": "modem.ad"}]),
        ": [1]: method: allowed: ",
    ),
    "a list of params": (
        '[{"at": "1 s", "method": "group.list", "params": []}]',
        ": [0]: params: allowed: an object",
    ),
    "one key more": ('[{"at": "1 s", "method": "group.list", "id": 1}]', ": [0]: allowed: at, "),
    "twice": ('[{"at": "1 s", "at": "2 s", "method": "group.list"}]', ":1: "),
    "no object": ("[7]", ": [0]: at: allowed: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_list_that_is_wrong(name: str, tmp_path: Path) -> None:
    """It is refused before anything is written."""
    text, line = WRONG[name]
    path = changes(tmp_path, text)
    done = replay(tmp_path, "--changes", path)
    assert done.status == 2
    [said] = done.messages
    assert said.startswith(f"{path}{line}"), said
    assert not (tmp_path / "out.pcap").exists()


@pytest.mark.parametrize("text", ["sg.yaml", "=sg.yaml", "5ms=", "5 parsecs=sg.yaml", "5=sg.yaml"])
def test_a_time_and_a_file(text: str, tmp_path: Path) -> None:
    done = replay(tmp_path, "--then", text)
    assert done.status == 2
    assert f'--then: found "{text}", allowed: a time and a file' in done.messages[0]
    assert not (tmp_path / "out.pcap").exists()


def test_files_that_are_not_there(tmp_path: Path) -> None:
    done = replay(tmp_path, "--changes", tmp_path / "missing.json")
    assert done.status == 2 and str(tmp_path / "missing.json") in done.messages[0]
    done = replay(tmp_path, "--then", f"2 ms={tmp_path / 'missing.yaml'}")
    assert done.status == 2 and "nothing was changed" in done.messages[-1]
    assert drops(tmp_path) == {}


def test_outputs_over_inputs(tmp_path: Path) -> None:
    path = changes(tmp_path, "[]")
    other = tmp_path / "other.yaml"
    other.write_text(SMALL.read_text())
    for words in (("--changes", path, "--answers", path),):
        assert "is an input too" in replay(tmp_path, *words).messages[0]
    done = replay(tmp_path, "--then", f"1ms={other}", "--answers", other)
    assert done.status == 2 and "is an input too" in done.messages[0]
    stats = tmp_path / "stats.json"
    assert "is given for two outputs" in replay(tmp_path, "--answers", stats).messages[0]
    assert path.read_text() == "[]" and other.read_text() == SMALL.read_text()


@pytest.mark.parametrize("tool", [False, True], ids=["vcmtsd", "vcmts"])
def test_times_are_in_order(tool: bool, tmp_path: Path) -> None:
    """However they are given; what comes at the time of a change comes after it. Of one time, the
    first is the first, and the command line's are before the list's."""
    other = tmp_path / "other.yaml"
    other.write_text(SMALL.read_text().replace("priority: 4", "priority: 5"))
    add = {"method": "config.reload"}
    listed = changes(
        tmp_path,
        json.dumps(
            [add | {"at": "8 ms"}, GONE | {"at": "4ms"}, {"at": "0 s", "method": "group.list"}]
        ),
    )
    answers = tmp_path / "answers.json"
    words = ("--changes", listed, "--answers", answers, "--then", f"4ms={other}")
    done = replay(tmp_path, *words, tool=tool)
    assert done.status == 0, done.stderr
    told = json.loads(answers.read_text())
    names = [answer.get("method", "file") for answer in told]
    assert names == ["group.list", "file", "modem.remove", "config.reload"]
    assert drops(tmp_path) == {"unknown_destination": 4}  # those of 4, 5, 6 and 7 ms
    assert [answer["begun_ns"] for answer in told] == [0, 4_000_000, 4_000_000, 8_000_000]
    assert done.stderr.count("read again") == 2


def test_a_refusal_changes_nothing(tmp_path: Path) -> None:
    """One line, status 2, and the rest is replayed."""
    plain = replay(tmp_path)
    assert plain.status == 0
    first = read_pcap(tmp_path / "out.pcap").records
    bad = {"at": "3ms", "method": "channel.set", "params": {"channel": {"id": 11, "rate": "0"}}}
    done = replay(tmp_path, "--changes", changes(tmp_path, json.dumps([bad])))
    assert done.status == 2
    [line] = done.messages
    assert line.startswith("replay: 3 ms: channel.set: refused: channel.rate: found"), line
    assert read_pcap(tmp_path / "out.pcap").records == first
    assert done.stdout == plain.stdout


def test_after_the_last_packet(tmp_path: Path) -> None:
    """Changes go on where packets do not, also without any packet; and what was counted is told."""
    name = "vcmts_downstream_received_packets_total"
    counted = {"at": "30min", "method": "metrics.get", "params": {"names": [name]}}
    listed = changes(tmp_path, json.dumps([GONE | {"at": "1h"}, {"at": "2h", **GONE}, counted]))
    done = replay(tmp_path, "--changes", listed, "--answers", "-")
    assert done.status == 2
    told = json.loads(done.stdout)
    assert ["error" in answer for answer in told] == [False, False, True]
    assert told[2]["begun_ns"] // 10**9 in (7199, 7200)
    packets = len(read_pcap(tmp_path / "in.pcap").records)
    assert told[0]["result"]["uptime"] == 0, "the same for the same input"
    [sample] = told[0]["result"]["samples"]
    assert (sample["name"], sample["value"]) == (name, packets)
    write_pcap(tmp_path / "empty.pcap", [])
    files = ("--network-in", tmp_path / "empty.pcap", "--rphy-out", tmp_path / "o.pcap")
    done = vcmtsd("replay", "--config", SMALL, *files, "--changes", listed)
    assert done.status == 2 and len(done.messages) == 1
