# SPDX-License-Identifier: BSD-3-Clause
"""Tests the command line: exit status, errors, `show`, `validate`, `replay`, rates of `run`."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from patience import TIMEOUT
from vcmts import cli, options, paths
from vcmts.run import command as run
from vcmts.run import rates

# The shortest valid service group, and one that uses most settings.
SHORT = """
channels: [{id: 1, type: ofdm, rate: 1.89 Gbps, session: 1}]
bonding_groups: [{id: 1, channels: [1]}]
modems:
  - mac: "02:01:00:00:00:01"
    addresses: [10.0.0.1]
    bonding_group: 1
    security: {said: 1, key: 000102030405060708090a0b0c0d0e0f, iv: 101112131415161718191a1b1c1d1e1f}
    service_flows: [{id: 1}]
"""
LONG = """
name: two-modems
service_group: 0x07
rphy: {core_ip: 192.0.2.1, rpd_ip: 192.0.2.2, mtu: 2 kB, flush: 20 us}
rate_limit: none
filter_default: deny
channels:
  - {id: 1, type: ofdm, rate: 1.89 Gbps, session: 1}
  - {id: 2, type: ofdm, rate: 1.89 Gbps, session: 2}
  - {id: 3, type: sc-qam, rate: 42.24 Mbps, session: 3}
bonding_groups: [{id: 1, channels: [1, 2]}, {id: 2, channels: [3]}]
filter_groups: [{id: 1, rules: [{family: ipv4, action: permit}]}]
upstream: {verify_source: false, verify_crc: true, reorder_timeout: 2 ms, held: 1 MB}
upstream_channels:
  - {id: 1, type: ofdma, rate: 600 Mbps, session: 11, request_session: 21}
  - {id: 2, type: ofdma, rate: 600 Mbps, session: 12, request_session: 22, ranging_session: 32}
  - {id: 3, type: sc-qam, rate: 30.72 Mbps, session: 13}
modems:
  - mac: "02:01:00:00:00:01"
    addresses: [10.0.0.1]
    filter_groups: [1]
    bonding_group: 1
    security: {said: 1, key: 000102030405060708090a0b0c0d0e0f, iv: 101112131415161718191a1b1c1d1e1f}
    service_flows:
      - {id: 1, dsid: 1, max_sustained_rate: 10 Mbps, peak_rate: 20 Mbps, aqm: docsis-pie}
      - {id: 2, state: provisioned, aqm: wred, priority: 7, max_sustained_rate: 1 Mbps}
    upstream_service_flows:
      - {id: 101, sid_clusters: [{id: 0, sids: [{channel: 1, sid: 1}, {channel: 2, sid: 1}]}]}
      - {id: 102, segment_header: false, sid_clusters: [{id: 0, sids: [{channel: 3, sid: 1}]}]}
  - mac: "02:01:00:00:00:02"
    addresses: [10.0.0.2, 10.0.0.3]
    filter_groups: [1]
    bonding_group: 2
    max_aggregate_rate: 0.1 Gbps
    security: {said: 2, cipher: none}
    service_flows: [{id: 3}, {id: 4, weight: 0x4, priority: 1, min_reserved_rate: 1 Mbps}]
    classifiers: [{family: ipv4, protocol: udp, service_flow: 4}]
"""


def one_line(text: str) -> bool:
    return text.startswith("vcmts: ") and text.count("\n") == 1


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VCMTS_BUILD", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "sg.yaml"],
        ["show", "sg.yaml"],
        ["replay", "--config", "sg.yaml", "--network-in", "x", "--rphy-out", "y"],
    ],
)
def test_missing_program_is_an_error(
    arguments: list[str], build: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    error = capfd.readouterr().err
    assert one_line(error)
    assert "vcmtsd" in error and str(build) in error and "make build" in error


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["replay"], ["replay", "--nonsense"]])
def test_wrong_arguments_exit_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as error:
        cli.main(arguments)
    assert error.value.code == 2


def write_vcmtsd_stub(build: Path, status: int) -> Path:
    """Writes a vcmtsd that appends its arguments to the returned file and exits with `status`."""
    program = build / "src" / "vcmtsd"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{build}/arguments"\nexit {status}\n')
    program.chmod(0o755)
    return build / "arguments"


REPLAY = [
    *("replay", "--config", "sg.yaml", "--network-in", "i", "--rphy-out", "o"),
    *("--json", "s.json"),
]
UPSTREAM_REPLAY = [
    *("replay", "--config", "sg.yaml", "--rphy-in", "i", "--network-out", "o"),
    *("--control-out", "m", "--json", "s.json"),
]


def tool(*arguments: str) -> "subprocess.Popen[bytes]":
    """Starts the tool as a process with the environment of this one."""
    environment = os.environ | {"PYTHONPATH": str(paths.CHECKOUT / "tools")}
    return subprocess.Popen([sys.executable, "-m", "vcmts", *arguments], env=environment)


@pytest.mark.parametrize("status", [0, 1, 2])
@pytest.mark.parametrize("argv", [REPLAY, UPSTREAM_REPLAY, REPLAY[:3]])
def test_replay_passes_on_arguments(argv: list[str], status: int, build: Path) -> None:
    """All arguments reach vcmtsd, which reports missing and wrong ones."""
    arguments = write_vcmtsd_stub(build, status)
    assert tool(*argv).wait(TIMEOUT) == status
    assert arguments.read_text().split() == argv


def test_replay_is_one_process(build: Path) -> None:
    """The tool is replaced by vcmtsd, so a signal to its process reaches vcmtsd."""
    arguments = write_vcmtsd_stub(build, 0)
    vcmtsd = build / "src" / "vcmtsd"
    vcmtsd.write_text(
        f'#!/bin/sh\ntrap "kill $!; exit 7" TERM\necho $$ >"{arguments}"\nsleep 60 & wait\n'
    )
    with tool(*REPLAY) as process:
        while not (arguments.exists() and arguments.read_text()):
            assert process.poll() is None
            time.sleep(0.02)
        assert int(arguments.read_text()) == process.pid
        process.terminate()
        assert process.wait(TIMEOUT) == 7


@pytest.mark.parametrize(("status", "expected"), [(0, 0), (1, 2), (139, 2)])
def test_validate_checks_every_file(status: int, expected: int, build: Path) -> None:
    arguments = write_vcmtsd_stub(build, status)
    assert cli.main(["validate", "a.yaml", "b.yaml"]) == expected
    assert arguments.read_text().split() == [
        *("check", "--config", "a.yaml"),
        *("check", "--config", "b.yaml"),
    ]


def test_missing_module_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(cli.COMMANDS, "imaginary", "does not exist")
    assert cli.main(["imaginary"]) == 2
    error = capfd.readouterr().err
    assert one_line(error) and "vcmts.imaginary" in error


CAPACITIES = {"capacity": 10_000_000_000, "upstream_capacity": 4_000_000_000}


@pytest.mark.parametrize(
    ("options", "facts", "expected"),
    [
        ([], {}, ("4000000000 bps", "600000000 bps")),
        ([], {"capacity": 1_000_000_000}, ("800000000 bps", "120000000 bps")),
        ([], {"upstream_capacity": 100_000_000}, ("4000000000 bps", "80000000 bps")),
        ([], {"upstream_capacity": 0}, ("4000000000 bps", "0")),
        (["--rate", "1.2 Gbps"], {}, ("1.2 Gbps", "180000000 bps")),
        (["--rate", "1kbps"], {}, ("1kbps", "150 bps")),
        (["--rate", "1Gbps"], {"upstream_capacity": 1_000_000}, ("1Gbps", "800000 bps")),
        (["--rate", "1Gbps", "--upstream-share", "10%"], {}, ("1Gbps", "100000000 bps")),
        (["--upstream-share", "12.5%"], {}, ("4000000000 bps", "500000000 bps")),
        (["--upstream-share", "0%"], {}, ("4000000000 bps", "0")),
        (["--rate", "max"], {}, ("max", "600000000 bps")),
        (["--rate", "0"], {}, ("0", "600000000 bps")),
        (["--upstream-rate", "0"], {}, ("4000000000 bps", "0")),
        (["--upstream-rate", "max"], {}, ("4000000000 bps", "max")),
        (["--rate", "2Gbps", "--upstream-rate", "1.5Gbps"], {}, ("2Gbps", "1.5Gbps")),
        (["--rate", "banana"], {}, ("banana", "600000000 bps")),
    ],
)
def test_run_rates_follow_options_and_capacity(
    options: list[str], facts: dict[str, int], expected: tuple[str, str]
) -> None:
    parsed = cli.make_parser(["run"]).parse_args(["run", *options])
    assert rates.rates_of(CAPACITIES | facts, parsed) == rates.Rates(*expected)


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (["--rate", "0"], {"upstream_capacity": 0}),
        (["--rate", "0", "--upstream-rate", "0"], {}),
        (["--rate", "0", "--upstream-share", "20%"], {}),
    ],
)
def test_run_without_traffic_is_refused(options: list[str], facts: dict[str, int]) -> None:
    parsed = cli.make_parser(["run"]).parse_args(["run", *options])
    with pytest.raises(paths.MistakeError, match="--rate"):
        rates.rates_of(CAPACITIES | facts, parsed)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["run", "--rate", "-5Mbps"], ["run", "--rate=-5Mbps"]),
        (["run", "--upstream-rate=-1"], ["run", "--upstream-rate=-1"]),
        (["run", "--rate", "5Mbps", "-5"], ["run", "--rate", "5Mbps", "-5"]),
        (["run", "--rate", "--verbose"], ["run", "--rate", "--verbose"]),
        (["-5"], ["-5"]),
    ],
)
def test_negative_value_is_joined_to_its_option(argv: list[str], expected: list[str]) -> None:
    """The program that reads the value refuses it."""
    assert options.join_values(argv) == expected


def test_messages_of_traffic_name_options_of_run() -> None:
    message = (
        "vcmts-traffic: --upstream-mix: 9: allowed: sizes\ntraffic: --mix: 9: allowed\n"
        "Try `vcmts-traffic --help' or `vcmts-traffic --usage' for more information.\n"
    )
    assert run.translate_messages(message) == (
        "vcmts: --upstream-traffic: 9: allowed: sizes\nvcmts: --traffic: 9: allowed\n"
        "Try `vcmts run --help' for more information.\n"
    )


@pytest.mark.parametrize(
    "options",
    [
        ["--upstream-share", "15"],
        ["--upstream-share", "banana"],
        ["--upstream-share=-15%"],
        ["--upstream-share", "1001%"],
        ["--upstream-share", "nan%"],
        ["--upstream-share", "15%", "--upstream-rate", "1Gbps"],
        ["--upstream-share", "15%", "--rate", "max"],
        ["--upstream-share", "15%", "--rate", "banana"],
    ],
)
def test_invalid_upstream_share_is_refused(options: list[str]) -> None:
    parsed = cli.make_parser(["run"]).parse_args(["run", *options])
    with pytest.raises(paths.MistakeError, match=r"^--upstream-share[: ].*(found|exclude)"):
        rates.rates_of(CAPACITIES, parsed)


def test_help_lists_all_impairments(capfd: pytest.CaptureFixture[str]) -> None:
    """The list is that of vcmts-traffic."""
    with pytest.raises(SystemExit):
        cli.main(["impairments", "--help"])
    listed = capfd.readouterr().out.split("of `vcmts run`:")[1]
    traffic = subprocess.check_output([paths.program("vcmts-traffic"), "--help"], text=True)
    known = re.findall(
        r"^  ([a-z-]+)(?: {2,}|$)", traffic.split("Kinds of --impair:")[1], re.MULTILINE
    )
    assert sorted(re.findall(r"^  ([a-z-]+) {2,}", listed, re.MULTILINE)) == sorted(known)
    assert len(known) > 10


def run_show(text: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    config = folder / "short.yaml"
    config.write_text(text)
    assert cli.main(["show", str(config)]) == 0
    return " ".join(capfd.readouterr().out.split())


def test_show_prints_settings(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_show(LONG, tmp_path, capfd) == (
        "two-modems "
        "service group 0x07 "
        "downstream channels 2 x ofdm 1.89 Gbps, 1 x sc-qam 42.24 Mbps "
        "bonding groups 1 x 1 channel, 1 x 2 channels "
        "rate limit none "
        "R-PHY 192.0.2.1 to 192.0.2.2, MTU 2 kB, flush 20 us "
        "modems 2, 1 to 2 addresses each "
        "encryption 1 x aes-128, 1 x none "
        "crypto ipsec-mb "
        "filters 1 group of 1 rule, 1 group per modem "
        "default filter action deny "
        "classifiers 0 to 1 per modem "
        "service flows 2 per modem, 1 to 2 active "
        "flow priorities 2 x priority 0 weight 1, 1 x priority 1 weight 0x4 "
        "flow rates 1 x no limit, 1 x reserved 1 Mbps, 1 x sustained 10 Mbps peak 20 Mbps "
        "congestion control 1 x docsis-pie 10 ms, 2 x tail-drop "
        "modem limits 1 x 0.1 Gbps, 1 x none "
        "upstream channels 2 x ofdma 600 Mbps, 1 x sc-qam 30.72 Mbps "
        "upstream service flows 0 to 2 per modem, 1 to 2 SIDs each "
        "upstream checks source address off, CRC on "
        "upstream sessions 3 for bursts, 2 for requests, 1 for ranging "
        "upstream timers reorder 2 ms, reassembly 2 s "
        "upstream memory 1 MB for pending packets, 256 kB of it per modem"
    )


def test_show_prints_defaults(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Values that a configuration does not set are shown as the defaults of vcmtsd."""
    assert run_show(SHORT, tmp_path, capfd) == (
        "short "
        "service group 1 "
        "downstream channels 1 x ofdm 1.89 Gbps "
        "bonding groups 1 x 1 channel "
        "rate limit 10 Gbps "
        "R-PHY 192.168.1.1 to 192.168.1.2, MTU 1500, flush 50 us "
        "modems 1, 1 address each "
        "encryption 1 x aes-128 "
        "crypto ipsec-mb "
        "filters none "
        "default filter action permit "
        "classifiers 0 per modem "
        "service flows 1 per modem, 1 active "
        "upstream none"
    )


@pytest.mark.parametrize(
    "content",
    ["", "[1, 2]", "a: [", "\x00", "modems: 3", SHORT + "rphy: 1\n", SHORT + "rate_limit: 1\n"],
)
def test_show_of_invalid_file_prints_errors_of_validate(
    content: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "sg.yaml"
    config.write_text(content)
    assert cli.main(["validate", str(config)]) == 2
    error = capfd.readouterr().err
    assert cli.main(["show", str(config)]) == 2
    assert capfd.readouterr() == ("", error)
    assert error.startswith(f"{config}:")


def test_show_refuses_a_pipe() -> None:
    """vcmtsd reads the whole pipe, so nothing is left for the table."""
    done = subprocess.run(
        [sys.executable, "-m", "vcmts", "show", "/dev/stdin"],
        env=os.environ | {"PYTHONPATH": str(paths.CHECKOUT / "tools")},
        input=SHORT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert one_line(done.stderr) and "regular file" in done.stderr


def test_launcher_runs_through_a_symlink(tmp_path: Path) -> None:
    link = tmp_path / "vcmts"
    link.symlink_to(paths.CHECKOUT / "vcmts")
    done = subprocess.run(
        [link, "--help"], cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(command in done.stdout for command in cli.COMMANDS)
