# SPDX-License-Identifier: BSD-3-Clause
"""Tests the server configuration that the chart renders, and that vcmtsd accepts it."""

import io
from pathlib import Path
from typing import Any

import pytest
import yaml

from python.chart.charts import CHART, CI, Json, Rendered, Renderer, needs_renderer, one_group
from python.layout_machines import HostSpec, write_host
from vcmts import yamls
from vcmts.layout import machine as layout_machine
from vcmts.pod.render import Source, rendered
from vcmts.profile.server import write_group_file
from vcmts.system.files import Files

pytestmark = needs_renderer

SRIOV = {
    "network": {"resource": "intel.com/sriov_net"},
    "rphy": {"resource": "intel.com/sriov_net"},
}
SECRET, RUN = "/etc/vcmts/secret", "/run/vcmts"


def sriov(groups: list[Json], **over: Any) -> Json:
    return {
        "serviceGroups": groups,
        "defaults": {"profile": "1ofdm-0sc-qam_1cms_aes", "ports": SRIOV},
        **over,
    }


def ports(item: Json) -> list[str]:
    return [item["ports"][role]["device"] for role in ("network", "rphy")]


NET = "${PCIDEVICE_INTEL_COM_SRIOV_NET[%d]}"


def test_groups_override_defaults(render: Renderer) -> None:
    config = {"rate_limit": "9 Gbps", "rphy": {"core_ip": "10.9.0.1", "dscp": 4}}
    values = one_group(
        defaults={"config": {**config, "upstream": {"verify_crc": True}}},
        serviceGroups=[
            {"id": 1},
            {"id": 2, "config": {"rphy": {"dscp": 0}, "upstream": {"verify_crc": False}}},
        ],
    )
    first, second = render(values).configuration()["service_groups"]
    assert first["rate_limit"] == second["rate_limit"] == "9 Gbps"
    assert first["rphy"] == {"core_ip": "10.9.0.1", "dscp": 4}
    assert second["rphy"] == {"core_ip": "10.9.0.1", "dscp": 0}
    assert (first["upstream"]["verify_crc"], second["upstream"]["verify_crc"]) == (True, False)


def test_groups_share_ports(render: Renderer) -> None:
    chart = render(sriov([{"id": 1}, {"id": 2, "ports": {"network": {"vlan": 102}}}]))
    first, second = chart.configuration()["service_groups"]
    assert ports(first) == ports(second) == [NET % 0, NET % 1]
    assert second["ports"]["network"]["vlan"] == 102 and "vlan" not in first["ports"]["network"]
    assert chart.container()["resources"]["limits"]["intel.com/sriov_net"] == "2"


def test_group_with_own_resource_has_own_ports(render: Renderer) -> None:
    own = {
        "network": {"resource": "intel.com/sriov_net"},
        "rphy": {"resource": "intel.com/fast-net"},
    }
    chart = render(sriov([{"id": 1}, {"id": 2, "ports": own}, {"id": 3}]))
    result = [ports(item) for item in chart.configuration()["service_groups"]]
    fast = "${PCIDEVICE_INTEL_COM_FAST_NET[0]}"
    assert result == [[NET % 0, NET % 1], [NET % 2, fast], [NET % 0, NET % 1]]
    limits = chart.container()["resources"]["limits"]
    assert (limits["intel.com/sriov_net"], limits["intel.com/fast-net"]) == ("3", "1")


def test_separate_pods_request_the_largest_need(render: Renderer) -> None:
    control = {"control": {"resource": "intel.com/sriov_net"}}
    chart = render(sriov([{"id": 4}, {"id": 5, "ports": control}], mode="separate"))
    assert sorted(chart.configurations()) == ["vcmts-0.yaml", "vcmts-1.yaml"]
    for name, number in (("vcmts-0.yaml", 4), ("vcmts-1.yaml", 5)):
        (item,) = chart.configurations()[name]["service_groups"]
        assert item["service_group"] == number and ports(item) == [NET % 0, NET % 1]
    assert chart.container()["resources"]["limits"]["intel.com/sriov_net"] == "3"
    assert "--config=/etc/vcmts/config/$(POD_NAME).yaml" in chart.container()["args"]


def test_pod_per_numa_node(render: Renderer) -> None:
    groups = [{"id": number, "pod": number % 2} for number in range(1, 6)]
    for mode in ("shared", "separate"):
        chart = render(sriov(groups, mode=mode, cores={"layout": "1us1t_1ds2t"}))
        ids = [
            [
                item["service_group"]
                for item in chart.configurations()[f"vcmts-{pod}.yaml"]["service_groups"]
            ]
            for pod in (0, 1)
        ]
        assert ids == [[2, 4], [1, 3, 5]]
        cpus = chart.container()["resources"]["limits"]["cpu"]
        assert cpus == "10"  # three groups and management


def test_group_with_accelerator(render: Renderer) -> None:
    crypto = {"resource": "qat.intel.com/generic", "variable": "QAT0"}
    groups: list[Json] = [
        {"id": 1},
        {"id": 2, "crypto": {"provider": "ipsec-mb"}},
        {"id": 3, "crypto": {"variable": "QAT1"}},
    ]
    values = sriov(groups)
    values["defaults"]["crypto"] = crypto
    chart = render(values)
    result = [item["crypto"] for item in chart.configuration()["service_groups"]]
    device = {"provider": "cryptodev", "device": "${QAT0}"}
    assert result == [device, {"provider": "ipsec-mb"}, {**device, "device": "${QAT1}"}]
    assert chart.container()["resources"]["limits"]["qat.intel.com/generic"] == "1"


MB = "ipsec-mb"
QAT = "qat.intel.com/generic"
VARIABLE = "${PCIDEVICE_QAT_INTEL_COM_GENERIC[0]}"


def cryptodev(device: str) -> Json:
    return {"provider": "cryptodev", "device": device}


# crypto of the defaults and of the group; crypto of the server; whether an accelerator is requested
CRYPTO: list[tuple[Json, Json, Json, bool]] = [
    ({"device": "crypto_aesni_mb0"}, {}, cryptodev("crypto_aesni_mb0"), False),
    ({"device": "0000:6b:01.0"}, {"resource": QAT}, cryptodev(VARIABLE), True),
    ({**cryptodev("0000:6b:01.0")}, {"resource": QAT, "variable": "Q"}, cryptodev("${Q}"), True),
    ({"provider": MB}, {"resource": QAT}, cryptodev(VARIABLE), True),
    ({"resource": QAT}, {"device": "crypto_null0"}, cryptodev("crypto_null0"), False),
    ({"resource": QAT}, {"device": "none"}, {"device": "none"}, False),
    (cryptodev("0000:6b:01.0"), {"provider": MB}, {"provider": MB}, False),
    ({"resource": QAT, "device": "crypto_qat0"}, {}, cryptodev("crypto_qat0"), True),
    ({"resource": QAT, "device": "crypto_qat0"}, {"variable": "Q"}, cryptodev("${Q}"), True),
    ({"resource": QAT}, {"generate_crc": False}, cryptodev(VARIABLE), True),
]


@pytest.mark.parametrize(("shared", "own", "expected", "requested"), CRYPTO)
def test_crypto_of_group_overrides_defaults(
    render: Renderer, shared: Json, own: Json, expected: Json, requested: bool
) -> None:
    values = sriov([{"id": 1, "crypto": own}])
    values["defaults"]["crypto"] = shared
    chart = render(values)
    (item,) = chart.configuration()["service_groups"]
    crc = {"generate_crc": False} if "generate_crc" in own else {}
    assert item["crypto"] == {**expected, **crc}
    assert (QAT in chart.container()["resources"]["limits"]) == requested


def test_keys_are_only_in_a_secret(render: Renderer) -> None:
    path = next(path for path in CI if path.stem == "inline")
    chart = render(None, path)
    key = yamls.safe_load(path.read_text())["serviceGroups"][0]["config"]["modems"][0]["security"][
        "key"
    ]
    assert key in chart.secret()["sg-7.yaml"]
    assert [one["kind"] for one in chart.objects if key in str(one)] == []
    (item,) = chart.configuration()["service_groups"]
    assert item["file"] == f"{SECRET}/sg-7.yaml" and "modems" not in item
    with_file = render(
        one_group(secrets={"files": {"sg-1.yaml": "name: elm\n"}, "existing": ["more"]})
    )
    assert with_file.secret() == {"sg-1.yaml": "name: elm\n"}
    volume = next(one for one in with_file.pod()["volumes"] if one["name"] == "secret")
    names = [source["secret"] for source in volume["projected"]["sources"]]
    assert names == [{"name": "vcmts", "optional": True}, {"name": "more", "optional": True}]


def test_existing_config_map_is_used(render: Renderer) -> None:
    chart = render(one_group(existingConfigMap="mine"))
    assert chart.all_of("ConfigMap") == []
    volume = next(one for one in chart.pod()["volumes"] if one["name"] == "config")
    assert volume["configMap"]["name"] == "mine"


def run_pods(
    chart: Rendered, folder: Path, files: dict[str, str], cores: int, **environment: str
) -> list[Json]:
    """vcmtsd's facts for the configurations of all pods, each on a machine with these cores."""
    folder.mkdir(exist_ok=True)
    secret, run = folder / "secret", folder / "run"
    for part in (secret, run):
        part.mkdir()
    for name, text in files.items():
        (secret / name).write_text(text, encoding="utf-8")
    facts = []
    for name, configuration in chart.configurations().items():
        text = yaml.safe_dump(configuration).replace(SECRET, str(secret))
        (folder / name).write_text(
            text.replace(f"{RUN}/profiles", f"{run}/profiles"), encoding="utf-8"
        )
        host = Files(write_host(folder / f"machine-{name}", HostSpec(cores=cores)))
        source = Source(
            folder / name, run / "vcmts.yaml", layout_machine.read(host), host, environment
        )
        facts.append(rendered(source).facts)
    return facts


def group_file(number: int, profile: str = "1ofdm-0sc-qam_1cms_aes") -> str:
    out = io.StringIO()
    write_group_file(profile, number, out)
    return out.getvalue()


DEVICES = {
    "PCIDEVICE_INTEL_COM_SRIOV_NET": "0000:3b:02.0",
    "PCIDEVICE_INTEL_COM_SRIOV_RPHY": "0000:3b:02.1,0000:5e:0a.3",
    "PCIDEVICE_OPENSHIFT_IO_VCMTS_NW_VF_DS": "0000:3b:02.0",
    "PCIDEVICE_OPENSHIFT_IO_VCMTS_NW_VF_US": "0000:3b:02.1",
    "QAT0": "0000:6b:01.0",
}


@pytest.mark.parametrize("path", CI, ids=lambda path: path.stem)
def test_data_plane_accepts_examples(render: Renderer, path: Path, tmp_path: Path) -> None:
    values = yamls.safe_load(path.read_text())
    fewer = values["serviceGroups"][:4]
    values["serviceGroups"] = fewer  # a published profile is a megabyte per group
    if values.get("defaults", {}).get("profile", "").startswith("6ofdm"):
        values["defaults"]["profile"] = "6ofdm-0sc-qam_3cms_aes"
    chart = render(values)
    names = {101: "sg-101.yaml", 102: "sg-102.yaml", 103: "sg-103.yaml", 104: "birch.yaml"}
    files = {name: group_file(number - 100) for number, name in names.items()}
    if path.stem == "inline":
        files |= chart.secret()
    cores = int(chart.container()["resources"]["limits"]["cpu"])
    facts = run_pods(chart, tmp_path / "pod", files, cores, **DEVICES)
    served = [group["service_group"] for one in facts for group in one["groups"]]
    assert served == [group["id"] for group in fewer]
    devices = {
        group[port]
        for one in facts
        for group in one["groups"]
        for port in ("network_device", "rphy_device")
    }
    assert not any("$" in device for device in devices)
    if path.stem == "shared":
        assert devices == {"0000:3b:02.0", "0000:3b:02.1", "0000:5e:0a.3"}


def test_published_group_fits_into_a_secret() -> None:
    sizes = [len(group_file(number, "6ofdm-0sc-qam_300cms_aes")) for number in (1, 28, 64)]
    assert max(sizes) <= 1 << 20
    assert f"has {max(sizes):,} bytes" in (CHART / "README.md").read_text(encoding="utf-8")
