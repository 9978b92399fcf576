# SPDX-License-Identifier: BSD-3-Clause
"""What vcmts-traffic sends upstream, captured: the strict decoder finds no fault with it, replay
turns all of it into frames, and so do Wireshark and our dissector."""

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from e2e.running import run, vcmts
from e2e.traffic import START_NS
from e2e.upstream import replay_upstream, vary_upstream
from vcmts.paths import program
from wireshark.stage import Stage
from witness.config import parse_config
from witness.model import Config
from witness.pcapfile import Record, read_pcap
from witness.sample import UPSTREAM
from witness.strict_frames import Decoded
from witness.strict_upstream import decode_upstream

LEAST = 500  # packets
# Of the replay: what was captured may have pauses, in which a slow machine did something else.
DISTANCE_NS = 50_000


def profile() -> str:
    """300 modems; what each sends is little."""
    return vcmts("profile", "6ofdm-0sc-qam_300cms_aes").stdout


VARIANTS = {
    "sample": lambda: UPSTREAM,
    "IPv6, numbered by session": lambda: vary_upstream(
        "verify_crc: true, psp_numbering: session", ipv6=True
    ),
    "300 modems": profile,
}


@dataclass(frozen=True)
class Captured:
    """What the traffic program sent in a moment, and said of it."""

    text: str
    config: Config
    path: Path
    records: tuple[Record, ...]
    said: dict[str, Any]
    decoded: Decoded


@pytest.fixture(scope="module", params=VARIANTS)
def captured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Captured:
    folder = tmp_path_factory.mktemp("traffic")
    text = VARIANTS[request.param]()
    config, uepi, said = folder / "sg.yaml", folder / "uepi.pcap", folder / "said.json"
    config.write_text(text)
    network = ("--network", f"net_pcap0,tx_pcap={folder / 'ip.pcap'}")
    rphy = ("--rphy", f"net_pcap1,tx_pcap={uepi}")
    how = ("--no-downstream", "--upstream-rate", "30Mbps", "--seed", "7", "--json", said)
    start = (program("vcmts-traffic"), "--config", config, *network, *rphy, *how)
    told: dict[str, Any] = {"sent": 0}
    milliseconds = 300
    while told["sent"] <= LEAST:
        ended = run([*start, "--duration", f"{milliseconds}ms"])
        assert ended.status == 1, ended.stderr  # as nothing comes back
        told = json.loads(said.read_text())["upstream"]
        milliseconds *= 3  # the machine is slow
    records = read_pcap(uepi).records
    model = replace(parse_config(text), control_port=True)
    return Captured(text, model, uepi, records, told, decode_upstream(records, model))


def test_no_fault(captured: Captured) -> None:
    """And all that it says it sent is there."""
    decoded, said = captured.decoded, captured.said
    assert [(problem.packet, problem.text) for problem in decoded.problems] == []
    assert sum(map(len, decoded.frames.values())) == decoded.kinds["packet"] == said["sent"] > LEAST
    assert len(captured.records) == said["uepi_packets"]
    assert sum(len(record.data) for record in captured.records) == said["uepi_bytes"]
    assert len(decoded.management) == said["management"] > 0
    assert decoded.kinds["fragment"] == said["fragments"]
    assert decoded.kinds["concatenation"] == said["concatenations"]
    if captured.text == UPSTREAM:
        assert set(decoded.frames) == {(101, 0), (101, 2), (102, 0), (201, 0), (202, 1), (301, 0)}
        assert min(said[name] for name in ("fragments", "concatenations", "request_records")) > 10


def test_replay_turns_it_into_frames(captured: Captured, tmp_path: Path) -> None:
    records = [
        replace(record, time_ns=START_NS + number * DISTANCE_NS)
        for number, record in enumerate(captured.records)
    ]
    replayed = replay_upstream(tmp_path, captured.text, records)
    assert replayed.problems() == []
    assert replayed.drops == {}
    sent = Counter(frame for frames in captured.decoded.frames.values() for frame in frames)
    assert Counter(replayed.frames) == sent
    counters = replayed.stats["upstream"]["counters"]
    for counted, said in (
        ("received", "uepi_packets"),
        ("transmitted", "sent"),
        ("transmitted_bytes", "sent_bytes"),
        ("bursts", "bursts"),
        ("management", "management"),
        ("fragments", "fragments"),
        ("concatenations", "concatenations"),
    ):
        assert counters[counted] == captured.said[said], counted
    asked = captured.said["requests"] + captured.said["request_records"]
    assert counters["requests"] + counters["requests_repeated"] == asked
    assert not counters["bad_requests"] and not counters["requests_lost"]


def on_stage(stage: Stage, captured: Captured) -> Path:
    """The capture where tshark may read it."""
    pcap = stage.folder / "traffic.pcap"
    pcap.write_bytes(captured.path.read_bytes())
    pcap.chmod(0o644)
    return pcap


@pytest.mark.parametrize("captured", ["300 modems"], indirect=True)
def test_page_says_that_this_prints_nothing(captured: Captured, stage: Stage) -> None:
    """docs/wireshark.md of a capture without loss and mistakes; all of it is encrypted here."""
    pcap = on_stage(stage, captured)
    assert stage.tshark(pcap, "-Y", "psp && _ws.expert") == ""
    joined = stage.tshark(pcap, "-Y", "docsis_uepi.joined.part")  # or there was little to mistake
    assert joined  # how many there are is the speed of the machine


def test_wireshark_reads_it(captured: Captured, stage: Stage) -> None:
    """A modem has the same SID on all channels of a flow: the dissector, which knows no
    configuration, could not tell otherwise which segments belong together."""
    pcap = on_stage(stage, captured)
    quiet = ("--disable-protocol", "tcp", "--disable-protocol", "udp")  # ports without a sense
    rows = stage.fields(
        pcap,
        *("docsis.hcs.status", "docsis_uepi.segment.hcs.status", "_ws.malformed"),
        *("docsis_uepi.header", "docsis_uepi.request"),
        options=quiet,
    )
    decoded, said = captured.decoded, captured.said
    assert len(rows) == said["uepi_packets"]
    found = {name: Counter(value for row in rows for value in row[name]) for name in rows[0]}
    kinds = decoded.kinds - decoded.inside
    outside = kinds["packet"] + kinds["fragment"] + kinds["request"] + len(decoded.management)
    assert found["docsis.hcs.status"] == {"1": outside}
    assert found["docsis_uepi.segment.hcs.status"] == {"1": said["segments"]}
    assert found["docsis_uepi.request"].total() == said["request_records"]
    assert not found["_ws.malformed"]
    assert not any(stage.experts(pcap, *quiet))
    assert not any(stage.uepi_experts(pcap, *quiet))
