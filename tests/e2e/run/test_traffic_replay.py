# SPDX-License-Identifier: BSD-3-Clause
"""A user's capture to the modems: what is sent is what the model says, and all of it is proven."""

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
from e2e.machine import check_accounts, passed
from e2e.run.capture_model import TAG, Replay, expect_replay
from e2e.running import SMALL, Ended, replay, run, vcmts
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, program
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap

PROFILE = "2ofdm-0sc-qam_20cms_aes"
CORPUS = CHECKOUT / "tests" / "fuzz" / "corpus" / "capture"
PORTS = (53, 80, 443, 2000, 5004, 40000)


def drawn(draw: random.Random) -> bytes:
    """A packet between strangers, some 30 of whom are destinations."""
    protocol = draw.choice(
        [make.UDP, make.UDP, make.TCP, make.TCP, make.ICMP, make.ICMPV6, make.GRE]
    )
    ports = (draw.choice(PORTS), draw.choice(PORTS))
    data = draw.randbytes(draw.choice([0, 1, 4, 19, 20, 21, 64, 333, 1200, 1400]))
    payload = make.upper(
        protocol, ports, bytes(4) + data if protocol in (make.ICMP, make.ICMPV6, make.GRE) else data
    )
    if protocol == make.UDP and draw.random() < 0.5:
        payload = payload[:6] + b"\xba\xd1" + payload[8:]
    if protocol == make.ICMPV6 or (protocol != make.ICMP and draw.random() < 0.4):
        source6 = IPv6Address("2001:db8:77::1")
        to = IPv6Address("2001:db8:88::") + draw.randrange(10)
        more = draw.choice([(), ((make.HOP_BY_HOP, 0, 0), (make.DESTINATION_OPTIONS, 1, 0))])
        packet = make.ipv6_packet(
            source6, to, protocol, payload, traffic_class=0x2E, extensions=more
        )
        return make.ethernet(make.ETHERTYPES[6], packet)
    source, target = IPv4Address("192.0.2.9"), IPv4Address("172.16.5.0") + draw.randrange(20)
    options = draw.choice([b"", b"\1" * 8])
    packet = make.ipv4_packet(source, target, protocol, payload, tos=0x48, options=options)
    return make.ethernet(make.ETHERTYPES[4], packet)


def written(path: Path) -> list[Record]:
    """A capture with something of everything, good and bad."""
    draw = random.Random(5)
    frames = [drawn(draw) for _ in range(150)]
    tagged = [f[:12] + bytes.fromhex("81000007") + f[12:] for f in frames[:10]]
    near, far = IPv4Address("192.0.2.9"), IPv4Address("172.16.5.77")
    part = make.ipv4_packet(
        near, far, make.UDP, make.udp(1, 2, bytes(50)), fragment=make.MORE_FRAGMENTS
    )
    frames += [*tagged, make.arp_frame(far), make.ethernet(make.ETHERTYPES[4], part)]
    frames += [
        make.ip_frame(near, far, make.TCP, make.tcp(1, 2, bytes(1950))),
        frames[0].ljust(60, b"\xee"),
    ]
    draw.shuffle(frames)
    records = [Record(n * 1000, frame, len(frame)) for n, frame in enumerate(frames)]
    whole = make.ip_frame(near, far, make.UDP, make.udp(7, 8, bytes(500)))
    records.append(Record(len(records) * 1000, whole[:96], len(whole)))
    write_pcap(path, records)
    return records


def sent_only(path: Path, out: Path, summary: Path, least: int = 1) -> Ended:
    """So many packets, or more: on a slow machine it takes longer."""
    milliseconds = 200
    while True:
        done = sent_for(milliseconds, path, out, summary)
        if done.status != 0 or len(read_pcap(out).records) >= least:
            return done
        milliseconds *= 4
        assert milliseconds < 1000 * TIMEOUT


def sent_for(milliseconds: int, path: Path, out: Path, summary: Path) -> Ended:
    ports = ("--network", f"net_pcap0,tx_pcap={out}", "--rphy", "net_null1,no-rx=1")
    words = ("--config", SMALL, "--replay", path, "--json", summary, "--send-only", *ports)
    how = ("--rate", "50Mbps", "--duration", f"{milliseconds}ms")
    return run([program("vcmts-traffic"), *words, *how])


def check_sent(sent: list[bytes], model: Replay, least: int) -> None:
    """The capture goes round in its order, each byte as it has to be."""
    count = len(model.packets)
    assert len(sent) >= least
    magic = sent[0][model.packets[0].tag_at :][:4]
    for number, frame in enumerate(sent):
        packet = model.packets[number % count]
        tag = frame[packet.tag_at :][:TAG]
        assert tag[:8] == magic + (number % count).to_bytes(4, "big")
        assert frame == packet.sent_with(tag)


def check_counts(counts: dict[str, Any], model: Replay) -> None:
    assert counts["packets"] == len(model.packets)
    assert counts["bytes"] == sum(len(packet.frame) for packet in model.packets)
    assert counts["lengthened"] == sum(packet.lengthened for packet in model.packets)
    assert counts["destinations"] == len(model.mapped)
    skipped = {name: count for name, count in counts["skipped"].items() if count}
    assert skipped == dict(model.skipped)


def test_what_is_sent_and_what_comes_out(tmp_path: Path) -> None:
    captured, out, summary = (tmp_path / name for name in ("in.pcap", "sent.pcap", "sent.json"))
    model = expect_replay(load_config(SMALL), written(captured))
    assert {"not_ip", "fragment", "too_long", "truncated", "denied"} == set(model.skipped)
    done = sent_only(captured, out, summary, 2 * len(model.packets))
    assert done.status == 0, done.stderr
    assert f"{len(model.packets)} packets to {len(model.mapped)} addresses" in done.stderr
    counts = json.loads(summary.read_text())["downstream"]["replay"]
    check_counts(counts, model)
    assert counts["untagged"] > 0
    records = list(read_pcap(out).records)
    check_sent([record.data for record in records], model, 2 * len(model.packets))
    # The same bytes come out of DEPI, segments, headers and encryption, as another decoder reads.
    through = replay(tmp_path / "depi", SMALL.read_text(), records)
    through.check()
    assert through.stats["transmitted"] == len(records)


def test_a_capture_of_a_real_network(tmp_path: Path) -> None:
    captured = capture("rpd-session.pcap")
    out, summary = tmp_path / "sent.pcap", tmp_path / "sent.json"
    model = expect_replay(load_config(SMALL), list(read_pcap(captured).records))
    done = sent_only(captured, out, summary, 1000)
    assert done.status == 0, done.stderr
    check_counts(json.loads(summary.read_text())["downstream"]["replay"], model)
    check_sent([record.data for record in read_pcap(out).records], model, 1000)


def test_pcapng_is_read(tmp_path: Path) -> None:
    summary = tmp_path / "sent.json"
    done = sent_only(CORPUS / "pcapng", tmp_path / "sent.pcap", summary)
    assert done.status == 0, done.stderr
    assert json.loads(summary.read_text())["downstream"]["replay"]["packets"] == 1


def test_reasons_are_documented() -> None:
    defined = (CHECKOUT / "traffic" / "captures" / "capture_skip.def").read_text()
    page = (CHECKOUT / "docs" / "traffic.md").read_text()
    table = page.partition("\n| reason | a packet |\n")[2].partition("\n\n")[0]
    reasons = re.findall(r'^CAPTURE_SKIP\(\w+, "(\w+)"', defined, re.MULTILINE)
    assert reasons == re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


def run_words(tmp_path: Path, *more: str | Path) -> tuple[dict[str, Any], Ended]:
    summary = tmp_path / "summary.json"
    words = ("--rate", "20Mbps", "--upstream-rate", "0", "--duration", "500ms", "--json", summary)
    done = vcmts("run", "--profile", PROFILE, *words, *more)
    told = json.loads(summary.read_text())
    check_accounts(told)
    assert done.status == (0 if passed(told) else 1), done.stderr
    down: dict[str, Any] = told["downstream"]
    return down, done


@pytest.mark.run
def test_a_replay_is_proven(tmp_path: Path) -> None:
    captured = tmp_path / "in.pcap"
    written(captured)
    down, done = run_words(tmp_path, "--replay", captured)
    assert sum(down["sent_by_class"].values()) == down["sent"]
    assert "packets to" in done.stderr and "skipped" in done.stderr


@pytest.mark.run
def test_flows_are_proven(tmp_path: Path) -> None:
    down, _ = run_words(tmp_path, "--flows", "100000")
    assert down["flows"] == 100000


def check_refused(said: str, *words: str | Path) -> None:
    done = vcmts("run", "--profile", PROFILE, *words)
    assert done.status == 2
    assert said in done.stderr and "serving" not in done.stderr


def test_mistakes_start_nothing(tmp_path: Path) -> None:
    captured, empty, text = (tmp_path / name for name in ("in.pcap", "empty.pcap", "text"))
    written(captured)
    write_pcap(empty, [])
    text.write_text("no capture")
    check_refused("either this or --traffic", "--replay", captured, "--traffic", "imix")
    check_refused("no packet can be replayed", "--replay", empty)
    check_refused("text: ", "--replay", text)
    for link, name in ((113, "LINUX_SLL"), (9999, "link type 9999")):
        empty.write_bytes(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link))
        check_refused(f"found a capture of {name}, allowed: Ethernet", "--replay", empty)
    check_refused("--flows: found 2, allowed: 3 to", "--flows", "2")
    check_refused("--flows: found 0, allowed: 1 to", "--flows", "0")
