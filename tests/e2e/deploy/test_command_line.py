# SPDX-License-Identifier: BSD-3-Clause
"""The tool and the program as they are called: exit status, and one line for each mistake."""

import json
import os
import subprocess
from pathlib import Path
from random import Random

import pytest

from e2e.running import SMALL, Ended, run, vcmts, vcmtsd
from e2e.traffic import START_NS, generate
from vcmts.paths import CHECKOUT, program
from vcmts.witness.config import load_config
from vcmts.witness.ip import SHORTEST
from vcmts.witness.pcapfile import read_pcap, records_of, write_pcap
from witness.cable_modem import RNG_REQ, management_message
from witness.sample import UPSTREAM
from witness.subscriber import numbered_frame
from witness.upstream_sender import UpstreamSender

TEXT = SMALL.read_text()

# What is wrong: text of the good file, what stands there instead, the key that is to be blamed, and
# words of the message.
MISTAKES: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "unknown key": ("  flush: 50 us", "  flsh: 50 us", "rphy.flsh", ("flush",)),
    "unknown key at the top": ("cpe_timeout:", "timeout_cpe:", "timeout_cpe", ()),
    "address twice": ("[10.0.0.13]", "[10.0.0.9]", "addresses", ("10.0.0.9",)),
    "address twice in a modem": ("[10.0.0.13]", "[10.0.0.13, 10.0.0.13]", "addresses", ()),
    "modem twice": ("02:01:00:00:00:04", "02:01:00:00:00:03", "mac", ("02:01:00:00:00:03",)),
    "session twice": ("session: 1,", "session: 0x00010001,", "session", ("0x00010001",)),
    "DSID twice": ("dsid: 0x00051", "dsid: 0x00050", "dsid", ("0x00050",)),
    "flow twice": ("{id: 401,", "{id: 303,", "id", ("303",)),
    "key too short": ("key: 5051", "key: 51", "security.key", ("32 (aes-128)", "digits")),
    "key too long": ("key: 5051", "key: 505051", "security.key", ("32 (aes-128)", "digits")),
    "key of other letters": ("key: 5051", "key: 50g1", "security.key", ("32 (aes-128)",)),
    "initialisation vector too short": ('iv: "6061', 'iv: "61', "security.iv", ("32 (aes)",)),
    "no key": (", key: 505152535455565758595a5b5c5d5e5f", "", "security.key", ()),
    "channel that does not exist": ("channels: [21]", "channels: [23]", "channels[0]", ("23",)),
    "group that does not exist": ("bonding_group: 5", "bonding_group: 6", "bonding_group", ("6",)),
    "filter group that does not exist": ("groups: [2, 1]", "groups: [2, 4]", "filter_gr", ("4",)),
    "flow that does not exist": ("service_flow: 502", "service_flow: 503", "service_flow", ()),
    "rate without unit": ("rate: 1.89 Gbps", "rate: 1.89", "rate", ("1.89", "Gbps")),
    "rate of a strange unit": ("rate: 1.89 Gbps", "rate: 1.89 Gbits", "rate", ("1.89 Gbits",)),
    "rate of words": ("rate: 1.89 Gbps", "rate: fast", "rate", ("fast",)),
    "rate below zero": ("rate: 1.89 Gbps", "rate: -1 Gbps", "rate", ("-1 Gbps",)),
    "rate of zero": ("rate: 1.89 Gbps", "rate: 0 Gbps", "rate", ("0 Gbps",)),
    "time without unit": ("flush: 50 us", "flush: 50", "rphy.flush", ("50 us",)),
    "MTU too small": ("mtu: 1500", "mtu: 1499", "rphy.mtu", ("1499", "1.5 kB")),
    "MTU too large": ("mtu: 1500", "mtu: 9001", "rphy.mtu", ("9001",)),
    "two families": ("rpd_ip: 192.168.1.2", 'rpd_ip: "2001:db8::2"', "rphy.rpd_ip", ("core_ip",)),
    "no DSID": ("dsid: 0x00060, ", "", "dsid", ("DSID",)),
    "key twice": ("  mtu: 1500", "  mtu: 1500\n  mtu: 1600", "mtu", ()),
}


def line_of(text: str) -> int:
    """Where the good file has this text, which it has once."""
    assert TEXT.count(text) == 1, text
    return TEXT[: TEXT.index(text)].count("\n") + 1


def one_line(ended: Ended, *words: str) -> str:
    assert ended.status == 2
    assert len(ended.messages) == 1, ended.stderr
    assert all(word in ended.messages[0] for word in words), ended.messages[0]
    return ended.messages[0]


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=list(MISTAKES))
def test_mistake_in_the_configuration(
    mistake: tuple[str, str, str, tuple[str, ...]], tmp_path: Path
) -> None:
    good, bad, key, words = mistake
    line = line_of(good) + bad.count("\n")
    path = tmp_path / "sg.yaml"
    path.write_text(TEXT.replace(good, bad))
    message = one_line(vcmts("validate", path), key, *words)
    assert message.startswith(f"{path}:{line}: ")
    assert "found" in message or "twice" in message


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    wanted = ["unknown key", "address twice", "key too short", "rate of words", "no DSID"]
    text = TEXT
    for name in wanted:
        good, bad, _, _ = MISTAKES[name]
        text = text.replace(good, bad)
    path.write_text(text)
    ended = vcmts("validate", path)
    assert ended.status == 2 and ended.stdout == ""
    lines = [int(message.removeprefix(f"{path}:").split(":")[0]) for message in ended.messages]
    assert sorted(lines) == sorted(line_of(MISTAKES[name][0]) for name in wanted)


@pytest.mark.replay
def test_a_broken_configuration_runs_nothing(tmp_path: Path) -> None:
    """run and replay say the same as validate, and leave no output behind."""
    good, bad, key, _ = MISTAKES["rate of words"]
    config, captured, out = (tmp_path / name for name in ("sg.yaml", "in.pcap", "out.pcap"))
    config.write_text(TEXT.replace(good, bad))
    write_pcap(captured, [])
    said = one_line(vcmts("validate", config), key)
    files = ("--config", config, "--network-in", captured, "--rphy-out", out)
    assert one_line(vcmts("replay", *files)) == said
    assert one_line(vcmtsd("run", "--config", config)) == said
    assert not out.exists()


@pytest.mark.parametrize("content", [b"", b"\0\1\2", b"a: [", b"- 1\n- 2\n", b"\xff\xfe", b"%"])
def test_no_configuration(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    path.write_bytes(content)
    ended = vcmts("validate", path)
    assert ended.status == 2
    assert all(message.startswith(f"{path}:") for message in ended.messages) and ended.messages


def test_validate(tmp_path: Path) -> None:
    ended = vcmts("validate", SMALL)
    assert (ended.status, ended.stderr) == (0, "")
    assert "5 channels, 6 modems" in ended.stdout
    missing = tmp_path / "missing.yaml"
    both = vcmts("validate", missing, SMALL)
    one_line(both, str(missing))
    assert str(SMALL) in both.stdout


def test_profile(tmp_path: Path) -> None:
    names = vcmts("profile", "--list").stdout.split()
    assert {"6ofdm-0sc-qam_300cms_aes", "2ofdm-32sc-qam_300cms_aes"} <= set(names)
    paths = [tmp_path / f"{name}.yaml" for name in names]
    for name, path in zip(names, paths, strict=True):
        written = vcmts("profile", name, "-o", path)
        assert (written.status, written.stdout, written.stderr) == (0, "", "")
    validated = vcmts("validate", *paths)
    assert validated.status == 0, validated.stderr
    assert all(f"{path}: good" in validated.stdout for path in paths)
    for name in ("6ofdm", "0ofdm-0sc-qam_300cms_aes", "6ofdm-0sc-qam_300cms_rot13", ""):
        one_line(vcmts("profile", name), "profile")


@pytest.mark.replay
def test_replay_by_the_launcher(tmp_path: Path) -> None:
    """As the first run says it, from another directory, with relative names."""
    sent = records_of(generate(load_config(SMALL), 51, 50), START_NS)
    write_pcap(tmp_path / "ip.pcap", sent)
    (tmp_path / "sg.yaml").write_text(TEXT)
    direct = vcmtsd(
        *("replay", "--config", tmp_path / "sg.yaml", "--network-in", tmp_path / "ip.pcap"),
        *("--rphy-out", tmp_path / "direct.pcap", "--stats", tmp_path / "direct.json"),
    )
    assert direct.status == 0
    files = "--config sg.yaml --network-in ip.pcap --rphy-out depi.pcap --stats stats.json"
    done = subprocess.run(
        [CHECKOUT / "vcmts", "replay", *files.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == direct.stdout
    assert (tmp_path / "depi.pcap").read_bytes() == (tmp_path / "direct.pcap").read_bytes()
    assert (tmp_path / "stats.json").read_text() == (tmp_path / "direct.json").read_text()


@pytest.mark.replay
def test_upstream_replay_by_the_tool(tmp_path: Path) -> None:
    """Packets of modems and their management messages come out as they were sent."""
    config, captured, out, control, stats = (
        tmp_path / name for name in ("sg.yaml", "uepi.pcap", "ip.pcap", "mmm.pcap", "stats.json")
    )
    config.write_text(UPSTREAM)
    sender = UpstreamSender(load_config(config), Random(71))
    for number in range(100):
        stream = sender.streams()[number % len(sender.streams())]
        modem, _, _ = sender.by_stream[stream]
        sender.send(stream, numbered_frame(modem.addresses[0], number, 60 + 12 * number))
    channel = sender.config.upstream.channels[0]
    sender.send_ranging(channel, 0, management_message(modem.mac, RNG_REQ, bytes(20)))
    write_pcap(captured, records_of(sender.packets, START_NS))
    files = ("replay", "--config", config, "--rphy-in", captured, "--network-out", out)
    done = vcmts(*files, "--control-out", control, "--stats", stats)
    assert (done.status, done.messages) == (0, [])
    sent = [frame for frames in sender.expected.values() for frame in frames]
    assert sorted(record.data for record in read_pcap(out).records) == sorted(sent)
    messages = [message.ljust(SHORTEST, b"\0") for message in sender.management]
    assert [record.data for record in read_pcap(control).records] == messages
    told = json.loads(stats.read_text())["upstream"]
    assert told["transmitted"] == len(sent) == 100
    assert told["balanced"] and told["counters"]["management"] == 1
    assert "upstream: transmitted 100" in done.stdout
    # without a capture for them, they end under a name
    assert vcmts(*files, "--stats", stats).status == 0
    assert json.loads(stats.read_text())["upstream"]["drops"]["no_control_port"] == 1


@pytest.mark.parametrize(
    "files",
    [
        (),
        ("--stats", "s"),
        ("--rphy-out", "o"),
        ("--network-in", "i"),
        ("--rphy-in", "i"),
        ("--network-out", "o"),
        ("--network-in", "i", "--network-out", "o"),
        ("--network-in", "i", "--rphy-out", "o", "--rphy-in", "I", "--network-out", "O"),
        ("--network-in", "i", "--rphy-out", "o", "--control-out", "m"),
    ],
)
def test_replay_of_too_little_or_too_much(files: tuple[str, ...]) -> None:
    done = vcmts("replay", "--config", SMALL, *files)
    assert done.status == 2 and done.stdout == ""
    assert "--network-in and --rphy-out are needed, or --rphy-in and --network-out" in done.stderr


def test_upstream_replay_needs_an_upstream(tmp_path: Path) -> None:
    captured, out = tmp_path / "uepi.pcap", tmp_path / "ip.pcap"
    write_pcap(captured, [])
    files = ("--config", SMALL, "--rphy-in", captured, "--network-out", out)
    one_line(vcmts("replay", *files), str(SMALL), "upstream_channels")
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("replay",),
        ("replay", "--config", SMALL),
        ("replay", "--config", SMALL, "--network-in", "x.pcap"),
        ("replay", "--config", SMALL, "--network-in", "x.pcap", "--rphy-out"),
        ("replay", "--config", SMALL, "--nonsense"),
        ("nonsense",),
        ("profile",),
        ("validate",),
    ],
)
def test_wrong_arguments(arguments: tuple[str | Path, ...]) -> None:
    ended = vcmts(*arguments)
    assert ended.status == 2
    assert ended.stdout == "" and ended.stderr


@pytest.mark.parametrize("device", ["nonsense", "net_nothing0"])
def test_nothing_stays_of_what_did_not_start(device: str, tmp_path: Path) -> None:
    """What is no device for DPDK, and one that it has no driver for."""
    environment = os.environ | {"RUNTIME_DIRECTORY": str(tmp_path)}
    rest = ("--config", SMALL, "--network", "net_null0", "--rphy", device)
    server, peer = (program("vcmtsd"), "run"), (program("vcmts-traffic"), "--rate", "1Mbps")
    for command in (server, peer):
        assert run((*command, *rest), environment).status == 2
        assert list((tmp_path / "dpdk").iterdir()) == []


@pytest.mark.parametrize(
    ("network", "rphy"),
    [("net_null0", "net_null0,size=128"), ("0000:3b:00.0", "3b:00.0")],
)
def test_one_device_for_two_ports(network: str, rphy: str) -> None:
    devices = ("--network", network, "--rphy", rphy)
    said = f"found one device, {rphy.split(',')[0]}, for two ports, allowed: one each"
    done = vcmtsd("run", "--config", SMALL, *devices)
    assert done.status == 2 and done.messages == [f"vcmtsd: {said}"]
    done = run((program("vcmts-traffic"), "--config", SMALL, *devices, "--check"))
    assert done.status == 2 and done.messages == [f"vcmts-traffic: {said}"]
