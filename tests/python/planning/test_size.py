# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts size` with the papers' examples: results, steps, bounds and refused options."""

import json
from pathlib import Path
from typing import Any

import pytest

from python.conftest import ExpectError
from vcmts import cli, published

DATA = published.load()
Json = dict[str, Any]


def size(*options: str, folder: Path) -> Json:
    stored = folder / "size.json"
    assert cli.main(["size", *options, "--json", str(stored)]) == 0
    answer: Json = json.loads(stored.read_text())
    return answer


def size_one(*options: str, folder: Path) -> Json:
    """Returns the answer for a single kind of service group."""
    [kind] = size(*options, folder=folder)["kinds"]
    answer: Json = kind
    return answer


DUAL_6148 = ("--sockets", "2", "--cores-per-socket", "20")
SLOTS = ("--port-speed", "50Gbps", "--ports-per-card", "1", "--slots", "12")


def test_2017_server(tmp_path: Path) -> None:
    """24 service groups and 160 Gbps on 40 cores, in four of twelve PCIe slots."""
    options = ("--machine", "published:2017-1st-gen", *DUAL_6148, *SLOTS)
    result = size_one(*options, "--groups", "6ofdm:max/0", folder=tmp_path)
    assert result["per_server"] == DATA.value("2017.groups") == 24
    assert result["bound_by"] == ["cores"]
    assert result["cores"] == {
        "reserved": 4, "data_plane": 36, "control_plane": 0, "used": 40, "all": 40
    }  # fmt: skip
    assert result["server_gbps"]["downstream"] == pytest.approx(DATA.value("2017.server"))
    assert result["rate_bound_by"] == "core"
    assert result["slots"] == DATA.value("2017.nic-slots") == 4
    steps = "\n".join(result["steps"])
    for words in ("4 of 2 x 20 = 40: 36 left", "36 / 1.5 = 24.00 by cores", "rule of thumb"):
        assert words in steps


def test_2017_server_at_2_4_ghz(tmp_path: Path) -> None:
    """The paper uses 2.4 for 2.5 GHz. Scaled cycles leave 153.6 of the 160 Gbps."""
    options = ("--machine", "published:2017-1st-gen", *DUAL_6148, "--core-clock", "2.4GHz")
    result = size_one(*options, "--groups", "6ofdm:max/0", folder=tmp_path)
    assert result["per_server"] == 24
    assert result["server_gbps"]["downstream"] == pytest.approx(153.6)
    assert any("2.4 GHz: measured at 2.5" in s for s in result["outside_what_was_measured"])


def test_2017_with_crypto_cards(tmp_path: Path) -> None:
    """200 Gbps need eight slots. With seven, the 150 Gbps of three cards each are the bound."""
    options = ("--machine", "published:2017-1st-gen-qat", *DUAL_6148, *SLOTS)
    wanted = ("--crypto-card", "50Gbps", "--groups", "6ofdm:max/0")
    result = size_one(*options, *wanted, folder=tmp_path)
    assert result["per_server"] == 24
    assert result["server_gbps"]["downstream"] == pytest.approx(DATA.value("2017.server.qat"))
    assert result["slots"] == DATA.value("2017.slots.qat") == 8
    fewer = size_one(*options, *wanted, "--slots", "7", folder=tmp_path)
    assert fewer["bound_by"] == ["slots"] and fewer["slots"] == 6
    each = fewer["gbps"]["downstream"]
    assert fewer["per_server"] * each <= 150 < (fewer["per_server"] + 1) * each


@pytest.mark.parametrize("channels", ["6ofdm", "5ofdm"])
def test_2023_server(channels: str, tmp_path: Path) -> None:
    """16 service groups on 32 cores: 2 for the system, 16 + 8 data plane, 6 others."""
    result = size_one("--groups", f"{channels}:8.7Gbps/2Gbps", folder=tmp_path)
    assert result["per_server"] == DATA.value("2023.groups") == 16
    assert result["cores"] == {
        "reserved": 2, "data_plane": 24, "control_plane": 6, "used": 32, "all": 32
    }  # fmt: skip
    assert result["server_gbps"]["total"] == pytest.approx(DATA.value("2023.total.4th-gen"))
    assert round(result["core_cycles_per_packet"]) == 1652
    assert bool(result["outside_what_was_measured"]) == (channels != "6ofdm")


@pytest.mark.parametrize(
    ("profile", "rate", "groups"),
    [("2023-4th-gen-qat", "max", 6), ("2023-4th-gen-qat-crypto", "10Gbps", 9)],
)
def test_2023_crypto_devices(profile: str, rate: str, groups: int, tmp_path: Path) -> None:
    """72 Gbps for six service groups of six channels, as in the paper; 94 without their CRC."""
    options = ("--machine", f"published:{profile}", "--service-group-limit", "none")
    result = size_one(*options, "--groups", f"6ofdm:{rate}/2Gbps", folder=tmp_path)
    assert result["per_server"] == groups and result["bound_by"] == ["crypto devices"]
    two = size_one(*options, "--sockets", "2", "--groups", f"6ofdm:{rate}/2Gbps", folder=tmp_path)
    assert two["per_server"] >= 2 * groups
    raised = ("--crypto-limit", "1Tbps", "--groups", f"6ofdm:{rate}/2Gbps")
    assert size_one(*options, *raised, folder=tmp_path)["bound_by"] == ["cores"]


def test_2021_two_service_groups_per_core(tmp_path: Path) -> None:
    """A third of the cores: both directions of a group (32 SC-QAM and 2 OFDM) on a hyper-thread."""
    options = ("--machine", "published:2021-3rd-gen", "--groups", "2ofdm-32sc-qam:2Gbps/0")
    usual = size_one(*options, "--control-plane-cores", "0", folder=tmp_path)
    two = size_one(
        *options, "--rules", "2021-two-a-core", "--control-plane-cores", "0", folder=tmp_path
    )
    assert (usual["per_server"], two["per_server"]) == (21, 64)
    assert two["core_gbps"] == pytest.approx(4.5)


@pytest.mark.parametrize(("interfaces", "groups"), [("15", 7), ("13", 6), ("8", 3), ("4", 1)])
def test_cloud_is_bound_by_interfaces(interfaces: str, groups: int, tmp_path: Path) -> None:
    """An instance is bound by its interfaces: two per service group, and one for administration."""
    options = ("--machine", "published:2021-c5n-metal", "--interfaces", interfaces)
    result = size_one(*options, "--groups", "6ofdm", folder=tmp_path)
    assert result["per_server"] == groups and result["bound_by"] == ["interfaces"]
    notes = " ".join(result["outside_what_was_measured"])
    assert ("4 service groups at once on a socket: measured with up to 3" in notes) == (groups == 7)


CLOUD = ("--machine", "published:2021-c5n-metal", "--groups", "6ofdm")


@pytest.mark.parametrize("interfaces", ["15", "13", "8"])
def test_cloud_with_shared_ports_is_bound_by_cores(interfaces: str, tmp_path: Path) -> None:
    """Two ports serve all groups, so that interfaces are no bound."""
    alone = size_one(*CLOUD, "--interfaces", interfaces, folder=tmp_path)
    by_card = size_one(
        *CLOUD, "--interfaces", interfaces, "--shared-ports", "card", folder=tmp_path
    )
    software = size_one(
        *CLOUD, "--interfaces", interfaces, "--shared-ports", "software", folder=tmp_path
    )
    assert alone["bound_by"] == ["interfaces"] and alone["receivers"] is None
    assert by_card["bound_by"] == software["bound_by"] == ["cores"]
    assert by_card["interfaces"] == software["interfaces"] == 3
    # 36 cores, 1.5 per group; the two receivers are hyper-threads
    assert (by_card["per_server"], software["per_server"]) == (24, 23)
    assert by_card["receivers"]["cores"] == 0 and software["receivers"]["cores"] == 1
    assert software["cores"]["used"] == 23 * 1.5 + 0.5 + 1
    steps = "\n".join(software["steps"])
    assert "100 cycles per packet to tell it apart" in steps
    assert "interfaces: 3, with those for administration, shared by all" in steps


def test_receivers_scale_with_the_rate(tmp_path: Path) -> None:
    """Threads = packets/s x cycles / clock. Each pair of ports has one thread."""
    options = (*CLOUD, "--interfaces", "13", "--shared-ports", "software")
    base = size_one(*options, folder=tmp_path)
    costly = size_one(*options, "--receiver-cycles", "1000", folder=tmp_path)
    rate = base["gbps"]["downstream"] * base["per_server"]
    [kind] = size(*options, folder=tmp_path)["kinds"]
    clock = json.loads((tmp_path / "size.json").read_text())["server"]["clock"]
    cycles = base["receivers"]["network"] * clock / 2
    packets = cycles / 100  # 10^9 per second
    assert packets * 8 * 64 < rate < packets * 8 * 1500
    assert base["receivers"]["pairs"] == 1 and kind == base
    assert costly["receivers"]["pairs"] > 1
    assert costly["receivers"]["pairs"] >= costly["receivers"]["network"]
    assert costly["interfaces"] == 2 * costly["receivers"]["pairs"] + 1
    assert costly["per_server"] < base["per_server"]


def test_receivers_without_hyper_threads_use_cores(tmp_path: Path) -> None:
    options = (*CLOUD, "--threads-per-core", "1", "--shared-ports", "software")
    result = size_one(*options, folder=tmp_path)
    assert result["receivers"]["cores"] == 2
    assert result["cores"]["used"] == 2 + 2 * result["per_server"]


def test_cloud_is_bound_by_instance_rate(tmp_path: Path) -> None:
    """The 11 Gbps of c5n.4xlarge leave two of the three service groups of 4.4 Gbps."""
    options = ("--machine", "published:2021-c5n-metal", "--interfaces", "8")
    wanted = ("--nic-limit", "11Gbps", "--groups", "6ofdm:4Gbps/0.4Gbps")
    result = size_one(*options, *wanted, folder=tmp_path)
    assert result["per_server"] == 2 and result["bound_by"] == ["NIC rate"]


def test_energy_paper_server(tmp_path: Path) -> None:
    """28 service groups on 64 cores, 258 Gbps at 90 % load, 287 Gbps without headroom."""
    options = ("--machine", "published:2023-energy", "--groups", "6ofdm")
    result = size_one(*options, folder=tmp_path)
    assert result["per_server"] == DATA.value("energy.groups") == 28
    assert result["cores"]["data_plane"] == DATA.value("energy.cores") == 56
    assert result["server_gbps"]["total"] == pytest.approx(DATA.value("energy.loaded"), rel=0.002)
    full = size_one(*options, "--headroom", "0", folder=tmp_path)
    assert full["server_gbps"]["total"] == pytest.approx(DATA.value("energy.total"))


def test_servers_carry_all_kinds(tmp_path: Path) -> None:
    """Kinds from a file and from an option share the servers."""
    wanted = tmp_path / "groups.yaml"
    wanted.write_text(
        "- {count: 20, channels: 6ofdm, downstream: 8Gbps, upstream: 1Gbps}\n"
        "- {count: 13, channels: 2ofdm-32sc-qam, downstream: 4 Gbps, upstream: 500 Mbps}\n"
    )
    answer = size("--groups", str(wanted), "--groups", "3x5ofdm:7Gbps/1Gbps", folder=tmp_path)
    totals = [
        sum(filled["servers"] * filled["counts"][kind] for filled in answer["servers"])
        for kind in range(3)
    ]
    assert totals == [20, 13, 3]
    assert answer["server_count"] == 3, "36 service groups, 16 per server"
    assert answer["servers"][1]["counts"] == [4, 12, 0]


def test_standby_and_spare_servers(tmp_path: Path) -> None:
    options = ("--groups", "32x6ofdm:8Gbps/1Gbps")
    plain = size(*options, folder=tmp_path)
    safe = size(*options, "--standby", "0.25", "--spare-servers", "1", folder=tmp_path)
    kind = safe["kinds"][0]
    assert (kind["per_server"], kind["standby"]) == (12, 3), "12 + 3 = 15; 13 would need 4 more, 17"
    assert (plain["server_count"], safe["server_count"], safe["spare_servers"]) == (2, 3, 1)


@pytest.mark.parametrize(("model", "ports"), [("none", 2), ("n+1", 3), ("1+1", 4)])
def test_redundancy_adds_ports(model: str, ports: int, tmp_path: Path) -> None:
    result = size_one("--groups", "6ofdm:8Gbps/1Gbps", "--redundancy", model, folder=tmp_path)
    assert result["ports"] == ports


def test_server_is_bound_by_memory(tmp_path: Path) -> None:
    """1 GiB per service group of the reference, and 4 GiB of the system."""
    result = size_one("--groups", "6ofdm:8Gbps/1Gbps", "--memory", "12", folder=tmp_path)
    assert (result["per_server"], result["bound_by"]) == (8, ["memory"])
    memory = ("--memory-per-service-group", "0.125")
    result = size_one("--groups", "6ofdm:8Gbps/1Gbps", "--memory", "12", *memory, folder=tmp_path)
    assert (result["per_server"], result["bound_by"]) == (16, ["cores"])


def test_rate_is_bound_by_channels(tmp_path: Path) -> None:
    result = size_one("--groups", "2ofdm-32sc-qam:max/1Gbps", folder=tmp_path)
    assert result["rate_bound_by"] == "channels"
    assert result["gbps"]["downstream"] == pytest.approx(2 * 1.89 + 32 * 0.04224)
    machine = ("--machine", "published:2023-4th-gen-qat")
    result = size_one(*machine, "--groups", "6ofdm:max/1Gbps", folder=tmp_path)
    assert (result["rate_bound_by"], result["gbps"]["downstream"]) == ("service group limit", 10)


BAD_REQUESTS = [
    ("--groups 6ofdm --machine published:2030", "published:2017-1st-gen, "),
    ("--groups 6ofdm --machine no-such-file.json", "No such file"),
    ("--groups 6ofdm --rules 1999", "allowed: 2017, 2021"),
    ("--groups 6ofdm:12Gbps", "carries 11.34 Gbps"),
    ("--groups 7ofdm:12Gbps", "allowed: 10 Gbps"),
    ("--groups 6ofdm:9.5Gbps/1Gbps", "its core carries 8.70 Gbps"),
    ("--groups 6ofdm:8Gbps/3Gbps", "is known to carry 2.00 Gbps"),
    ("--groups 6ofdm:0", "found 0"),
    ("--groups 6ofdm:-1Gbps", "allowed: a rate"),
    ("--groups 6ofdm:fast", "allowed: a rate"),
    ("--groups 6ofdm:8", "allowed: a rate"),
    ("--groups 0x6ofdm", "count: found '0'"),
    ("--groups 0ofdm", "allowed: channels"),
    ("--groups 999ofdm", "allowed: channels"),
    ("--groups banana", "allowed: [COUNTx]"),
    ("--groups no-such-file.yaml", "No such file"),
    ("--groups 6ofdm:8Gbps/1Gbps --cores-per-socket 2", "it needs 5 cores of 2"),
    ("--groups 6ofdm:8Gbps/1Gbps --memory 2", "GiB of 2.0 GiB"),
    ("--groups 6ofdm:8Gbps/1Gbps --ports 1 --port-speed 5Gbps", "it needs 2 ports of 1"),
    ("--groups 6ofdm:8Gbps/1Gbps --nic-limit 5Gbps", "9.00 Gbps of 5.0 Gbps"),
    ("--groups 6ofdm --rules cloud --interfaces 2", "it needs 3 interfaces of 2"),
    ("--groups 6ofdm:8Gbps/1Gbps --crypto des", "allowed: aes, aes-qat, none"),
    ("--groups 6ofdm:8Gbps/1Gbps --crypto aes-qat", "crypto aes-qat: published with aes"),
    ("--groups 6ofdm --machine published:2023-4th-gen-qat --crypto aes", "with aes-qat"),
    ("--groups 6ofdm --crypto-limit 5Gbps", "8.70 Gbps for its 5.0 Gbps"),
    ("--groups 6ofdm:8Gbps/1Gbps --mix 64", "needs a measured profile"),
    ("--groups 6ofdm --downstream-cores 0.3", "allowed: 0.5 or 1"),
    ("--groups 6ofdm --machine published:2023-4th-gen --machine published:2023-3rd-gen", "one"),
]


@pytest.mark.parametrize(("options", "error"), BAD_REQUESTS)
def test_bad_requests_are_refused(options: str, error: str, expect_error: ExpectError) -> None:
    expect_error(error, "size", *options.split())


@pytest.mark.parametrize(
    "options",
    [
        "--cores-per-socket 0",
        "--sockets 0",
        "--core-clock 0",
        "--headroom 100",
        "--standby -1",
        "--memory nan",
        "--threads-per-core 4",
        "--port-speed 0",
        "--redundancy 2n",
    ],
)
def test_invalid_numbers_are_refused(options: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["size", "--groups", "6ofdm", *options.split()])
    assert stopped.value.code == 2
    assert options.split()[0] in capfd.readouterr().err


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("", "a list of service groups"),
        ("{}", "a list of service groups"),
        ("[{}]", "channels: missing; needed"),
        ("[{channels: 6ofdm, colour: red}]", 'unknown key "colour"; allowed: '),
        ("[{channels: 6ofdm, count: many}]", "count: found 'many'"),
        ("[{channels: 6ofdm, modems: 0}]", "modems: found 0"),
        ("a: [", "not YAML"),
    ],
)
def test_invalid_files_of_groups_are_refused(
    content: str, error: str, tmp_path: Path, expect_error: ExpectError
) -> None:
    wanted = tmp_path / "groups.yaml"
    wanted.write_text(content)
    expect_error(error, "size", "--groups", str(wanted))
