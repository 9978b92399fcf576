# SPDX-License-Identifier: BSD-3-Clause
"""The service groups of the chart's values as the server's configuration, which vcmtsd takes."""

import io
from pathlib import Path
from typing import Any

import pytest
import yaml

from python.chart.charts import (
    CHART,
    CI,
    Json,
    Rendered,
    Renderer,
    needs_renderer,
    one_group,
)
from python.layout_machines import HostSpec, write_host
from vcmts import yamls
from vcmts.layout import machine as layout_machine
from vcmts.pod.render import Source, rendered
from vcmts.profile.server import write_item
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


def test_defaults_stand_once_and_groups_go_before_them(render: Renderer) -> None:
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


def test_groups_share_two_ports(render: Renderer) -> None:
    made = render(sriov([{"id": 1}, {"id": 2, "ports": {"network": {"vlan": 102}}}]))
    first, second = made.configuration()["service_groups"]
    assert ports(first) == ports(second) == [NET % 0, NET % 1]
    assert second["ports"]["network"]["vlan"] == 102 and "vlan" not in first["ports"]["network"]
    assert made.container()["resources"]["limits"]["intel.com/sriov_net"] == "2"


def test_a_group_with_a_resource_of_its_own_has_a_port_of_its_own(render: Renderer) -> None:
    own = {
        "network": {"resource": "intel.com/sriov_net"},
        "rphy": {"resource": "intel.com/fast-net"},
    }
    made = render(sriov([{"id": 1}, {"id": 2, "ports": own}, {"id": 3}]))
    found = [ports(item) for item in made.configuration()["service_groups"]]
    fast = "${PCIDEVICE_INTEL_COM_FAST_NET[0]}"
    assert found == [[NET % 0, NET % 1], [NET % 2, fast], [NET % 0, NET % 1]]
    limits = made.container()["resources"]["limits"]
    assert (limits["intel.com/sriov_net"], limits["intel.com/fast-net"]) == ("3", "1")


def test_a_pod_for_each_group_asks_for_what_the_fullest_needs(render: Renderer) -> None:
    control = {"control": {"resource": "intel.com/sriov_net"}}
    made = render(sriov([{"id": 4}, {"id": 5, "ports": control}], mode="separate"))
    assert sorted(made.configurations()) == ["vcmts-0.yaml", "vcmts-1.yaml"]
    for name, number in (("vcmts-0.yaml", 4), ("vcmts-1.yaml", 5)):
        (item,) = made.configurations()[name]["service_groups"]
        assert item["service_group"] == number and ports(item) == [NET % 0, NET % 1]
    assert made.container()["resources"]["limits"]["intel.com/sriov_net"] == "3"
    assert "--config=/etc/vcmts/config/$(POD_NAME).yaml" in made.container()["args"]


def test_a_pod_for_each_numa_node(render: Renderer) -> None:
    groups = [{"id": number, "pod": number % 2} for number in range(1, 6)]
    for mode in ("shared", "separate"):
        made = render(sriov(groups, mode=mode, cores={"layout": "1us1t_1ds2t"}))
        ids = [
            [
                item["service_group"]
                for item in made.configurations()[f"vcmts-{pod}.yaml"]["service_groups"]
            ]
            for pod in (0, 1)
        ]
        assert ids == [[2, 4], [1, 3, 5]]
        assert made.container()["resources"]["limits"]["cpu"] == "10"  # three groups and management


def test_a_group_of_an_accelerator(render: Renderer) -> None:
    crypto = {"resource": "qat.intel.com/generic", "variable": "QAT0"}
    groups: list[Json] = [
        {"id": 1},
        {"id": 2, "crypto": {"provider": "ipsec-mb"}},
        {"id": 3, "crypto": {"variable": "QAT1"}},
    ]
    values = sriov(groups)
    values["defaults"]["crypto"] = crypto
    made = render(values)
    found = [item["crypto"] for item in made.configuration()["service_groups"]]
    device = {"provider": "cryptodev", "device": "${QAT0}"}
    assert found == [device, {"provider": "ipsec-mb"}, {**device, "device": "${QAT1}"}]
    assert made.container()["resources"]["limits"]["qat.intel.com/generic"] == "1"


MB = "ipsec-mb"
QAT = "qat.intel.com/generic"
VARIABLE = "${PCIDEVICE_QAT_INTEL_COM_GENERIC[0]}"


def cryptodev(device: str) -> Json:
    return {"provider": "cryptodev", "device": device}


# Of the defaults, of the group, what the server is told, and whether an accelerator is asked for.
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


@pytest.mark.parametrize(("shared", "own", "told", "asked"), CRYPTO)
def test_what_encrypts_for_a_group_goes_before_the_defaults(
    render: Renderer, shared: Json, own: Json, told: Json, asked: bool
) -> None:
    values = sriov([{"id": 1, "crypto": own}])
    values["defaults"]["crypto"] = shared
    made = render(values)
    (item,) = made.configuration()["service_groups"]
    assert item["crypto"] == {**told, **({"generate_crc": False} if "generate_crc" in own else {})}
    assert (QAT in made.container()["resources"]["limits"]) == asked


def test_keys_are_in_a_secret_and_nowhere_else(render: Renderer) -> None:
    path = next(path for path in CI if path.stem == "inline")
    made = render(None, path)
    key = yamls.safe_load(path.read_text())["serviceGroups"][0]["config"]["modems"][0]["security"][
        "key"
    ]
    assert key in made.secret()["sg-7.yaml"]
    assert [one["kind"] for one in made.objects if key in str(one)] == []
    (item,) = made.configuration()["service_groups"]
    assert item["file"] == f"{SECRET}/sg-7.yaml" and "modems" not in item
    with_file = render(
        one_group(secrets={"files": {"sg-1.yaml": "name: elm\n"}, "existing": ["more"]})
    )
    assert with_file.secret() == {"sg-1.yaml": "name: elm\n"}
    volume = next(one for one in with_file.pod()["volumes"] if one["name"] == "secret")
    names = [source["secret"] for source in volume["projected"]["sources"]]
    assert names == [{"name": "vcmts", "optional": True}, {"name": "more", "optional": True}]


def test_a_configuration_that_is_there_is_used(render: Renderer) -> None:
    made = render(one_group(existingConfigMap="mine"))
    assert made.of("ConfigMap") == []
    volume = next(one for one in made.pod()["volumes"] if one["name"] == "config")
    assert volume["configMap"]["name"] == "mine"


def taken(
    made: Rendered, place: Path, files: dict[str, str], cores: int, **environment: str
) -> list[Json]:
    """What `vcmts pod` and vcmtsd make of the configurations, on a machine of so many cores."""
    place.mkdir(exist_ok=True)
    secret, run = place / "secret", place / "run"
    for folder in (secret, run):
        folder.mkdir()
    for name, text in files.items():
        (secret / name).write_text(text, encoding="utf-8")
    found = []
    for name, configuration in made.configurations().items():
        text = yaml.safe_dump(configuration).replace(SECRET, str(secret))
        (place / name).write_text(
            text.replace(f"{RUN}/profiles", f"{run}/profiles"), encoding="utf-8"
        )
        recorded = Files(write_host(place / f"machine-{name}", HostSpec(cores=cores)))
        source = Source(
            place / name, run / "vcmts.yaml", layout_machine.read(recorded), recorded, environment
        )
        found.append(rendered(source).facts)
    return found


def part(number: int, profile: str = "1ofdm-0sc-qam_1cms_aes") -> str:
    out = io.StringIO()
    write_item(profile, number, out)
    return out.getvalue()


DEVICES = {
    "PCIDEVICE_INTEL_COM_SRIOV_NET": "0000:3b:02.0",
    "PCIDEVICE_INTEL_COM_SRIOV_RPHY": "0000:3b:02.1,0000:5e:0a.3",
    "PCIDEVICE_OPENSHIFT_IO_VCMTS_NW_VF_DS": "0000:3b:02.0",
    "PCIDEVICE_OPENSHIFT_IO_VCMTS_NW_VF_US": "0000:3b:02.1",
    "QAT0": "0000:6b:01.0",
}


@pytest.mark.parametrize("path", CI, ids=lambda path: path.stem)
def test_the_data_plane_takes_it(render: Renderer, path: Path, tmp_path: Path) -> None:
    values = yamls.safe_load(path.read_text())
    fewer = values["serviceGroups"][:4]
    values["serviceGroups"] = fewer  # of the published profile, a megabyte each
    if values.get("defaults", {}).get("profile", "").startswith("6ofdm"):
        values["defaults"]["profile"] = "6ofdm-0sc-qam_3cms_aes"
    made = render(values)
    names = {101: "sg-101.yaml", 102: "sg-102.yaml", 103: "sg-103.yaml", 104: "birch.yaml"}
    files = {name: part(number - 100) for number, name in names.items()}
    if path.stem == "inline":
        files |= made.secret()
    cores = int(made.container()["resources"]["limits"]["cpu"])
    facts = taken(made, tmp_path / "pod", files, cores, **DEVICES)
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


def test_a_published_group_fits_a_secret() -> None:
    sizes = [len(part(number, "6ofdm-0sc-qam_300cms_aes")) for number in (1, 28, 64)]
    assert max(sizes) <= 1 << 20
    assert f"takes {max(sizes):,} bytes" in (CHART / "README.md").read_text(encoding="utf-8")
