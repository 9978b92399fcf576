# SPDX-License-Identifier: BSD-3-Clause
"""`--replay` of a capture: sent frames match capture_model.py, and all are proven."""

import json
import random
import re
import struct
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import pytest

from captures import capture
from e2e import frames as make
from e2e.machine import check_balance, run_passed
from e2e.run.capture_model import TAG, CaptureModel, model_capture
from e2e.running import SMALL, Completed, replay, run, vcmts
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, program
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap

PROFILE = "2ofdm-0sc-qam_20cms_aes"
CORPUS = CHECKOUT / "tests" / "fuzz" / "corpus" / "capture"
PORTS = (53, 80, 443, 2000, 5004, 40000)


def random_packet(draw: random.Random) -> bytes:
    """A random packet to one of some 30 destinations that no modem has."""
    protocol = draw.choice(
        [make.UDP, make.UDP, make.TCP, make.TCP, make.ICMP, make.ICMPV6, make.GRE]
    )
    ports = (draw.choice(PORTS), draw.choice(PORTS))
    data = draw.randbytes(draw.choice([0, 1, 4, 19, 20, 21, 64, 333, 1200, 1400]))
    payload = make.upper_layer(
        protocol, ports, bytes(4) + data if protocol in (make.ICMP, make.ICMPV6, make.GRE) else data
    )
    if protocol == make.UDP and draw.random() < 0.5:
        payload = payload[:6] + b"\xba\xd1" + payload[8:]
    if protocol == make.ICMPV6 or (protocol != make.ICMP and draw.random() < 0.4):
        source6 = IPv6Address("2001:db8:77::1")
        destination = IPv6Address("2001:db8:88::") + draw.randrange(10)
        headers = draw.choice([(), ((make.HOP_BY_HOP, 0, 0), (make.DESTINATION_OPTIONS, 1, 0))])
        packet = make.ipv6_packet(
            source6, destination, protocol, payload, traffic_class=0x2E, extensions=headers
        )
        return make.ethernet(make.ETHERTYPES[6], packet)
    source, target = IPv4Address("192.0.2.9"), IPv4Address("172.16.5.0") + draw.randrange(20)
    options = draw.choice([b"", b"\1" * 8])
    packet = make.ipv4_packet(source, target, protocol, payload, tos=0x48, options=options)
    return make.ethernet(make.ETHERTYPES[4], packet)


def write_capture(path: Path) -> list[Record]:
    """Writes a capture with packets of every kind, valid and invalid. Returns its records."""
    random_ = random.Random(5)
    frames = [random_packet(random_) for _ in range(150)]
    tagged = [f[:12] + bytes.fromhex("81000007") + f[12:] for f in frames[:10]]
    source, destination = IPv4Address("192.0.2.9"), IPv4Address("172.16.5.77")
    fragment = make.ipv4_packet(
        source, destination, make.UDP, make.udp(1, 2, bytes(50)), fragment=make.MORE_FRAGMENTS
    )
    frames += [*tagged, make.arp_frame(destination), make.ethernet(make.ETHERTYPES[4], fragment)]
    frames += [
        make.ip_frame(source, destination, make.TCP, make.tcp(1, 2, bytes(1950))),
        frames[0].ljust(60, b"\xee"),
    ]
    random_.shuffle(frames)
    records = [Record(n * 1000, frame, len(frame)) for n, frame in enumerate(frames)]
    packet = make.ip_frame(source, destination, make.UDP, make.udp(7, 8, bytes(500)))
    records.append(Record(len(records) * 1000, packet[:96], len(packet)))
    write_pcap(path, records)
    return records


def send_at_least(path: Path, out: Path, summary: Path, min_packets: int = 1) -> Completed:
    """Sends at least `min_packets` packets, for a longer time on slow machines."""
    milliseconds = 200
    while True:
        done = send_for(milliseconds, path, out, summary)
        if done.status != 0 or len(read_pcap(out).records) >= min_packets:
            return done
        milliseconds *= 4
        assert milliseconds < 1000 * TIMEOUT


def send_for(milliseconds: int, path: Path, out: Path, summary: Path) -> Completed:
    ports = ("--network", f"net_pcap0,tx_pcap={out}", "--rphy", "net_null1,no-rx=1")
    files = ("--config", SMALL, "--replay", path, "--json", summary, "--send-only", *ports)
    options = ("--rate", "50Mbps", "--duration", f"{milliseconds}ms")
    return run([program("vcmts-traffic"), *files, *options])


def check_sent(sent: list[bytes], model: CaptureModel, min_packets: int) -> None:
    """Checks that the frames are those of the model, in order and repeated, byte by byte."""
    count = len(model.packets)
    assert len(sent) >= min_packets
    magic = sent[0][model.packets[0].tag_offset :][:4]
    for number, frame in enumerate(sent):
        packet = model.packets[number % count]
        tag = frame[packet.tag_offset :][:TAG]
        assert tag[:8] == magic + (number % count).to_bytes(4, "big")
        assert frame == packet.sent_with(tag)


def check_counts(counts: dict[str, Any], model: CaptureModel) -> None:
    assert counts["packets"] == len(model.packets)
    assert counts["bytes"] == sum(len(packet.frame) for packet in model.packets)
    assert counts["lengthened"] == sum(packet.lengthened for packet in model.packets)
    assert counts["destinations"] == len(model.mapped)
    skipped = {name: count for name, count in counts["skipped"].items() if count}
    assert skipped == dict(model.skipped)


def test_replayed_frames_match_model_and_are_transmitted(tmp_path: Path) -> None:
    capture_path, out, summary = (tmp_path / name for name in ("in.pcap", "sent.pcap", "sent.json"))
    model = model_capture(load_config(SMALL), write_capture(capture_path))
    assert {"not_ip", "fragment", "too_long", "truncated", "denied"} == set(model.skipped)
    done = send_at_least(capture_path, out, summary, 2 * len(model.packets))
    assert done.status == 0, done.stderr
    assert f"{len(model.packets)} packets to {len(model.mapped)} addresses" in done.stderr
    counts = json.loads(summary.read_text())["downstream"]["replay"]
    check_counts(counts, model)
    assert counts["untagged"] > 0
    records = list(read_pcap(out).records)
    check_sent([record.data for record in records], model, 2 * len(model.packets))
    # The data plane transmits the same frames; the independent decoder reads them.
    replayed = replay(tmp_path / "depi", SMALL.read_text(), records)
    replayed.check()
    assert replayed.stats["transmitted"] == len(records)


def test_capture_of_real_network_matches_model(tmp_path: Path) -> None:
    capture_path = capture("rpd-session.pcap")
    out, summary = tmp_path / "sent.pcap", tmp_path / "sent.json"
    model = model_capture(load_config(SMALL), list(read_pcap(capture_path).records))
    done = send_at_least(capture_path, out, summary, 1000)
    assert done.status == 0, done.stderr
    check_counts(json.loads(summary.read_text())["downstream"]["replay"], model)
    check_sent([record.data for record in read_pcap(out).records], model, 1000)


def test_pcapng_is_read(tmp_path: Path) -> None:
    summary = tmp_path / "sent.json"
    done = send_at_least(CORPUS / "pcapng", tmp_path / "sent.pcap", summary)
    assert done.status == 0, done.stderr
    assert json.loads(summary.read_text())["downstream"]["replay"]["packets"] == 1


def test_skip_reasons_are_documented() -> None:
    defined = (CHECKOUT / "traffic" / "captures" / "capture_skip.def").read_text()
    page = (CHECKOUT / "docs" / "traffic.md").read_text()
    table = page.partition("\n| reason | a packet |\n")[2].partition("\n\n")[0]
    reasons = re.findall(r'^CAPTURE_SKIP\(\w+, "(\w+)"', defined, re.MULTILINE)
    assert reasons == re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


def run_tool(tmp_path: Path, *more: str | Path) -> tuple[dict[str, Any], Completed]:
    """Runs the tool downstream, checks summary and exit status, and returns the downstream part."""
    summary = tmp_path / "summary.json"
    options = ("--rate", "20Mbps", "--upstream-rate", "0", "--duration", "500ms", "--json", summary)
    done = vcmts("run", "--profile", PROFILE, *options, *more)
    summary_json = json.loads(summary.read_text())
    check_balance(summary_json)
    assert done.status == (0 if run_passed(summary_json) else 1), done.stderr
    downstream: dict[str, Any] = summary_json["downstream"]
    return downstream, done


@pytest.mark.run
def test_run_proves_replay(tmp_path: Path) -> None:
    capture_path = tmp_path / "in.pcap"
    write_capture(capture_path)
    downstream, done = run_tool(tmp_path, "--replay", capture_path)
    assert sum(downstream["sent_by_class"].values()) == downstream["sent"]
    assert "packets to" in done.stderr and "skipped" in done.stderr


@pytest.mark.run
def test_run_proves_many_flows(tmp_path: Path) -> None:
    downstream, _ = run_tool(tmp_path, "--flows", "100000")
    assert downstream["flows"] == 100000


def check_rejected(message: str, *options: str | Path) -> None:
    done = vcmts("run", "--profile", PROFILE, *options)
    assert done.status == 2
    assert message in done.stderr and "serving" not in done.stderr


def test_invalid_captures_start_nothing(tmp_path: Path) -> None:
    capture_path, empty, text = (tmp_path / name for name in ("in.pcap", "empty.pcap", "text"))
    write_capture(capture_path)
    write_pcap(empty, [])
    text.write_text("no capture")
    check_rejected("not allowed with --traffic", "--replay", capture_path, "--traffic", "imix")
    check_rejected("no packet can be replayed", "--replay", empty)
    check_rejected("text: ", "--replay", text)
    for link, name in ((113, "LINUX_SLL"), (9999, "link type 9999")):
        empty.write_bytes(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link))
        check_rejected(f"found a capture of {name}, allowed: Ethernet", "--replay", empty)
    check_rejected("--flows: found 2, allowed: 3 to", "--flows", "2")
    check_rejected("--flows: found 0, allowed: 1 to", "--flows", "0")
