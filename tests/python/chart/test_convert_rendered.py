# SPDX-License-Identifier: BSD-3-Clause
"""The chart renders converted reference values: accelerators and ports of the groups."""

from typing import Any

import pytest

from python.chart.charts import Renderer, needs_renderer
from python.chart.converted import Converter, ids
from python.chart.reference_values import group, vcmtsd

Json = dict[str, Any]
ADDRESS = "0000:1a:01.0"
# Rendered `crypto` of a group: accelerator by PCI address, by device plugin, or none. `crc: yes` of
# the reference values gives generate_crc.
BY_ADDRESS = {"generate_crc": True, "provider": "cryptodev", "device": ADDRESS}
BY_PLUGIN = {"generate_crc": True, "provider": "cryptodev", "device": "${QAT0}"}
BY_CPU = {"generate_crc": True}
CRYPTO: dict[str, Json] = {ADDRESS: BY_ADDRESS, "plugin": BY_PLUGIN, "none": BY_CPU}


def with_crypto(number: int, kind: str) -> Json:
    """Reference values of a group. `kind`: a key of CRYPTO."""
    address = kind if kind == ADDRESS else None
    qat = "no" if kind == "none" else "yes"
    return group(number, qat=qat, qat_pci=address, pf_index=0, cpu_socket_id=0)


@needs_renderer
@pytest.mark.parametrize("mode", ["separate", "shared"])  # a pod per group, per NUMA node
@pytest.mark.parametrize(
    # Mixes whose most common crypto must not become a default, as a group names an address. Last: a
    # default that a group overrides.
    "kinds",
    [
        (ADDRESS, "none"),
        (ADDRESS, ADDRESS, "none"),
        (ADDRESS, "none", "none"),
        (ADDRESS, ADDRESS, "plugin", "none"),
        ("plugin", "plugin", ADDRESS, "none"),
        ("plugin", "plugin", "none"),
    ],
)
def test_groups_have_the_requested_accelerators(
    render: Renderer, convert: Converter, mode: str, kinds: tuple[str, ...]
) -> None:
    # The converter writes ipsec-mb, vcmtsd's default, only to override a default of the release.
    listed = [with_crypto(number, kind) for number, kind in enumerate(kinds, 1)]
    result = {
        item["service_group"]: {"provider": "ipsec-mb", **item["crypto"]}
        for values in convert.values(vcmtsd(*listed), "--mode", mode)
        for one in render(values).configurations().values()
        for item in one["service_groups"]
    }
    assert result == {
        number: {"provider": "ipsec-mb", **CRYPTO[kind]} for number, kind in enumerate(kinds, 1)
    }


def test_address_of_accelerator_is_reported(convert: Converter) -> None:
    (result,) = convert.values(vcmtsd(*[with_crypto(number, ADDRESS) for number in (1, 2)]))
    assert result["defaults"]["crypto"] == BY_ADDRESS
    assert (
        "qat_pci: taken as a device: a pod sees it only where a device plugin" in convert.messages
    )
    convert.values(vcmtsd(group(1, qat="no", qat_pci="1a:01.0")))
    assert "qat_pci: left out: qat requests no accelerator" in convert.messages


@needs_renderer
@pytest.mark.parametrize("mode", ["separate", "shared"])  # a pod per group, per NUMA node
def test_all_groups_are_served_with_their_ports(
    render: Renderer, convert: Converter, mode: str
) -> None:
    for values in convert.values(vcmtsd(), "--mode", mode):
        rendered = render(values)
        served = [
            item["service_group"]
            for one in rendered.configurations().values()
            for item in one["service_groups"]
        ]
        assert served == ids(values)
        limits = rendered.container()["resources"]["limits"]
        assert {name: count for name, count in limits.items() if "vf" in name} == {
            values["defaults"]["ports"][role]["resource"]: "1" for role in ("network", "rphy")
        }
