# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts convert`: values of the reference's charts become values of this chart. Keys without
a counterpart are reported, and wrong values refused."""

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from python.chart.converted import Converter, ids
from python.chart.reference_values import PKTGEN, group, vcmtsd
from vcmts import cli, yamls
from vcmts.convert.reading import read
from vcmts.paths import MistakeError

Json = dict[str, Any]


def test_groups_become_releases_of_equal_pods(convert: Converter) -> None:
    result = convert.values(vcmtsd())
    assert [ids(one) for one in result] == [list(range(n, n + 7)) for n in (1, 8, 15, 22)]
    first, second, *_ = result
    assert first["mode"] == "separate"
    assert first["defaults"] == {
        "profile": "6ofdm-0sc-qam_300cms_aes",
        "ports": {
            "network": {"resource": "openshift.io/vcmts_nw_vf_ds_0"},
            "rphy": {"resource": "openshift.io/vcmts_nw_vf_us_0"},
        },
        "crypto": {
            "generate_crc": True,
            "provider": "cryptodev",
            "resource": "qat.intel.com/generic",
            "variable": "QAT0",
        },
    }
    assert first["serviceGroups"][0] == {"id": 1, "name": "sg-0"}
    assert second["defaults"]["crypto"] == {"generate_crc": True}
    assert first["hugePages"] == {"size": "1Gi", "amount": "1024Mi"}
    assert first["cores"] == {"layout": "1us1t_1ds2t", "count": 4}
    assert (first["latency"], first["cycles"]) == (True, True)


def test_groups_of_a_numa_node_share_a_pod(convert: Converter) -> None:
    groups = [group(number, pf_index=number // 4, cpu_socket_id=number // 4) for number in range(8)]
    result = convert.values(
        vcmtsd(*groups, group(8, pf_index=1, cpu_socket_id=1, qat="no")), "--mode", "shared"
    )
    assert [ids(one) for one in result] == [[1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert {one["mode"] for one in result} == {"shared"}
    assert result[0]["hugePages"] == {"size": "1Gi", "perGroup": "1024Mi"}
    assert result[1]["serviceGroups"][4]["crypto"] == {"generate_crc": True, "provider": "ipsec-mb"}


def test_keys_without_counterpart_are_reported_with_lines(convert: Converter) -> None:
    convert.values(vcmtsd())
    messages = convert.messages.splitlines()
    keys = [line.split(": ")[1] for line in messages]
    assert keys == [
        *("sg_id", "cpu_socket_id", "template_config", "socket_mem", "socket_lim"),
        *("vcmtsd_image", "app_stats", "us_sched_enabled", "us_sched_id", "tls_port"),
    ]
    for line in messages[1:]:
        assert re.fullmatch(r"values\.yaml:\d+: \w+: left out: .{20,}\(28 times\)", line), line
    lines = vcmtsd().splitlines()
    for line in messages:
        number, key = int(line.split(":")[1]), line.split(": ")[1]
        assert key in lines[number - 1]


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({"num_ofdm": 3}, "3ofdm-32sc-qam_300cms_aes"),
        ({"num_ofdm": 2}, "2ofdm-32sc-qam_300cms_aes"),
        ({"num_ofdm": 4, "num_subs": 100}, "4ofdm-0sc-qam_100cms_aes"),
        ({"aes_key_size": 32}, "6ofdm-0sc-qam_300cms_aes256"),
        ({"cm_crypto": "des"}, "6ofdm-0sc-qam_300cms_des"),
        ({"cm_crypto": "none", "aes_key_size": None}, "6ofdm-0sc-qam_300cms_none"),
    ],
)
def test_groups_become_profiles(convert: Converter, over: Json, expected: str) -> None:
    (result,) = convert.values(vcmtsd(group(1, **over)))
    assert result["defaults"]["profile"] == expected


def test_keys_with_counterpart_are_converted(convert: Converter) -> None:
    over: Json = {"crc": "no", "latency": "no", "cycles": "false", "power_mgmt": "time_of_day"}
    over |= {
        "hpg_sz": "2Mi",
        "hpg_alloc_sz": "300Mi",
        "core_config": "combined",
        "num_lcores_required": 3,
    }
    (result,) = convert.values(vcmtsd(group(9, qat="no", **over)))
    assert result["defaults"]["crypto"] == {"generate_crc": False}
    assert (result["latency"], result["cycles"]) == (False, False)
    assert result["server"] == {"power": {"policy": "balanced"}}
    assert result["hugePages"] == {"size": "2Mi", "amount": "300Mi"}
    assert result["cores"] == {"layout": "combined", "count": 3, "siblings": 1}
    assert ids(result) == [9]  # ID 0 is not used
    assert "power_mgmt: taken as policy balanced" in convert.messages


def test_pci_addresses_are_not_numbers(convert: Converter) -> None:
    """YAML 1.1 reads 18:02.0 as the number 1082."""
    over = {"net_us": "18:02.0", "net_ds": "0001:8a:0a.7", "qat_pci": "3d:01.0", "pf_index": None}
    (result,) = convert.values(vcmtsd(group(1, **over)))
    assert result["defaults"]["ports"] == {
        "network": {"device": "0001:8a:0a.7"},
        "rphy": {"device": "0000:18:02.0"},
    }
    assert result["defaults"]["crypto"]["device"] == "0000:3d:01.0"


def test_values_of_2018_are_converted(convert: Converter) -> None:
    text = """\
serviceAccount: cmk-serviceaccount
topology:
  vcmts_replicas: 1
  vcmts_pods:
    - service_group_config:
      sg_id: 0
      net_us: 18:02.0
      net_ds: 18:02.1
      num_ofdm: 4
      num_subs: 300
      cm_crypto: aes
      qat: qat_off
      power_mgmt: pm_on
      cpu_socket_id: 0
      ds_core_type: exclusive
      ds_core_pool_index: 0
      vcmtsd_image: vcmts-d:feat
    - service_group_config:
      sg_id: 1
"""
    (result,) = convert.values(text)
    assert ids(result) == [1] and result["defaults"]["profile"] == "4ofdm-0sc-qam_300cms_aes"
    assert result["server"] == {"power": {"policy": "balanced"}}
    for message in (
        "the first 1 of 2 groups",
        "ds_core_type: left out",
        "serviceAccount: left out",
    ):
        assert message in convert.messages


def test_unknown_keys_are_reported(convert: Converter) -> None:
    convert.values(vcmtsd(group(1, colour="red")) + "  shape: round\nextra: 1\n")
    for key in ("colour", "shape", "extra"):
        assert f": {key}: left out: not known" in convert.messages


def test_pktgen_becomes_calls_of_traffic_program(convert: Converter, tmp_path: Path) -> None:
    assert convert(PKTGEN).splitlines() == [
        "#!/bin/sh",
        "# pktgen 0",
        "vcmts profile 6ofdm-0sc-qam_300cms_aes --part 1 -o sg-1.yaml",
        "vcmts-traffic --config sg-1.yaml --mix imix --upstream-mix upstream-imix --upstream-rate "
        "300Mbps --network 0000:05:02.1 --rphy 0000:05:02.0",
    ]
    assert "num_sockets: left out" in convert.messages and "images: left out" in convert.messages
    assert "not known" not in convert.messages
    convert(PKTGEN.replace("imix2", "imix9"), "-o", str(tmp_path / "out"))
    assert (tmp_path / "out" / "traffic.sh").exists()
    assert "imix9 is not known" in convert.messages


def test_output_folder_has_a_file_per_release(convert: Converter, tmp_path: Path) -> None:
    listed = convert(vcmtsd(), "-o", str(tmp_path / "out")).split()
    assert [Path(name).name for name in listed] == [f"values-{n}.yaml" for n in (1, 2, 3, 4)]
    assert all(yamls.safe_load(Path(name).read_text())["serviceGroups"] for name in listed)


# key and value of a group, line and text of the error
WRONG_IN_GROUP = [
    ("num_ofdm", "six", 20, "'six', allowed: "),
    ("num_ofdm", 300, 20, "300, allowed: "),
    ("sg_id", -1, 19, "'-1', allowed: a number, 0"),
    ("sg_id", 65, 19, "65, allowed: at most 64"),
    ("cm_crypto", "rot13", 22, "'rot13', "),
    ("aes_key_size", 24, 23, "'24', allowed: 16"),
    ("crc", "maybe", 24, "'maybe', allowed: yes or no"),
    ("qat", "[a]", 25, "a list, allowed: a text"),
    ("hpg_sz", "4Ki", 6, "'4Ki', allowed: 2Mi or 1Gi"),
    ("hpg_alloc_sz", "1G", 11, "'1G', "),
    ("hpg_alloc_sz", "768Mi", 11, "'768Mi', "),
    ("core_config", "1us", 7, "'1us', allowed: "),
    ("net_us", "18-02", 29, "'18-02', allowed: a PCI"),
]
ONE = group(3)
WRONG = [
    ("", "values.yaml:1: missing; needed: a map with topology"),
    ("- 1\n", "values.yaml:1: found a list, allowed: a map with topology"),
    ("topology: 3\n", "values.yaml:1: topology: found '3', allowed: a map"),
    ("image: x\n", "values.yaml:1: topology: missing; needed: a map"),
    (
        "topology: {a: 1}\n",
        "values.yaml:1: topology: neither vcmts_pods nor pktgen_pods; needed: ",
    ),
    (
        "topology:\n  vcmts_pods: []\n",
        "values.yaml:2: topology.vcmts_pods: found an empty list, allowed: ",
    ),
    (
        "topology:\n  vcmts_pods: [1]\n",
        "values.yaml:2: topology.vcmts_pods[0]: found '1', allowed: a map",
    ),
    ("a: [\n", "values.yaml:2: "),
    ("a: 1\na: 2\n", 'values.yaml:2: duplicate key "a", first on line 1'),
    (
        vcmtsd(ONE, replicas=0),
        "values.yaml:2: topology.vcmts_replicas: found '0', allowed: a number, 1 to 1",
    ),
    (
        vcmtsd(ONE, replicas=2),
        "values.yaml:2: topology.vcmts_replicas: found '2', allowed: a number, 1 to 1",
    ),
    (
        vcmtsd(ONE, ONE),
        "values.yaml:44: topology.vcmts_pods[1].sg_id: duplicate id 3, first on line 19",
    ),
    *(
        (
            vcmtsd(group(3, **{key: value})),
            f"values.yaml:{line}: topology.vcmts_pods[0].{key}: found {error}",
        )
        for key, value, line, error in WRONG_IN_GROUP
    ),
    *(
        (
            vcmtsd(group(3, **{key: None})),
            f"values.yaml:4: topology.vcmts_pods[0].{key}: missing; needed: a value",
        )
        for key in ("num_ofdm", "sg_id")
    ),
    (
        PKTGEN.replace("num_subs: 300", "num_subs: x", 1),
        "values.yaml:15: topology.pktgen_pods[0].ports[0].num_subs: ",
    ),
    (
        PKTGEN.replace("num_ofdm: 6", "num_ofdm: 4", 1),
        "values.yaml:19: topology.pktgen_pods[0].ports[1].num_ofdm: ",
    ),
    (
        PKTGEN[: PKTGEN.index("    - port_1")],
        "values.yaml:11: topology.pktgen_pods[0].ports: found 1 ports, allowed: ",
    ),
]


@pytest.mark.parametrize(
    ("text", "error"), WRONG, ids=lambda part: part[:60] if "values" in part else ""
)
def test_wrong_values_are_refused(convert: Converter, text: str, error: str) -> None:
    assert convert.refused(text).startswith(error)


def test_other_files_are_refused(convert: Converter, tmp_path: Path) -> None:
    path = tmp_path / "values.yaml"
    for data, error in (
        (b"a: 1\nb: \xff\n", ":2: invalid UTF-8"),
        (b"a: \x00\n", ":1: characters that YAML does not allow"),
        (b"[" * 20000, "maps and lists in too many levels"),
    ):
        path.write_bytes(data)
        with pytest.raises(MistakeError, match=re.escape(error)):
            read(path)


@given(st.data())
def test_damaged_files_are_refused_or_converted(data: st.DataObject) -> None:
    text = vcmtsd(group(0), group(1)) if data.draw(st.booleans()) else PKTGEN
    position = data.draw(st.integers(0, len(text)))
    piece = data.draw(
        st.text(max_size=4) | st.sampled_from([": ", "\n", "- ", "{", "*a", "&a ", "? "])
    )
    damaged = text[:position] + piece + text[position + data.draw(st.integers(0, 6)) :]
    path = Path(tempfile.mkdtemp(dir=tempfile.gettempdir())) / "values.yaml"
    try:
        path.write_text(damaged, encoding="utf-8", errors="ignore")
        assert cli.main(["convert", str(path)]) in (0, 2)
    finally:
        path.unlink()
        path.parent.rmdir()


def test_upstream_scheduler_is_set_by_config(convert: Converter) -> None:
    """The project has a scheduler, which the configuration of a group adds."""
    convert.values(vcmtsd(group(1, us_sched_enabled="true")))
    assert "us_sched_enabled: left out: config.upstream.scheduler adds" in convert.messages
