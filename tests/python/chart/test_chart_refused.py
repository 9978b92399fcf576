# SPDX-License-Identifier: BSD-3-Clause
"""Tests that Helm refuses wrong values in one line, with the value and what is allowed."""

from typing import Any

import pytest

from python.chart.charts import CHART, CI, Json, Renderer, needs_renderer, one_group, renderer_of
from vcmts import yamls

pytestmark = needs_renderer


def groups(*listed: Json, **more: Any) -> Json:
    return one_group(serviceGroups=list(listed), **more)


# values, path of the error in the schema, part of the message
BY_SCHEMA: list[tuple[Json, str, str]] = [
    ({"mode": "both"}, "/mode", "'shared', 'separate'"),
    ({"modes": "shared"}, "''", "additional properties 'modes' not allowed"),
    (groups({"name": "elm"}), "/serviceGroups/0", "missing property 'id'"),
    (groups({"id": 0}), "/serviceGroups/0/id", "minimum: got 0, want 1"),
    (groups({"id": "1"}), "/serviceGroups/0/id", "got string, want integer"),
    (groups({"id": 1, "profile": "6ofdm"}), "/serviceGroups/0/profile", "does not match"),
    (groups({"id": 1, "file": "../x"}), "/serviceGroups/0/file", "does not match"),
    (
        groups({"id": 1, "ports": {"network": {"vlan": 5000}}}),
        "/serviceGroups/0/ports/network/vlan",
        "want 4,094",
    ),
    (groups({"id": 1, "ports": {"net": {}}}), "/serviceGroups/0/ports", "'net' not allowed"),
    (
        groups({"id": 1, "config": {"rphy": {"mtu": "12 m"}}}),
        "/serviceGroups/0/config/rphy/mtu",
        "",
    ),
    (
        groups({"id": 1, "config": {"threads": {}}}),
        "/serviceGroups/0/config",
        "'threads' not allowed",
    ),
    (
        groups({"id": 1, "config": {"modems": [{"mac": "02:00:00:00:00:01"}]}}),
        "/serviceGroups/0/config/modems/0",
        "missing properties 'addresses'",
    ),
    (
        one_group(defaults={"ports": {"rphy": {"resource": "vf"}}}),
        "/defaults/ports/rphy/resource",
        "pattern",
    ),
    (one_group(cores={"layout": "fast"}), "/cores/layout", "'combined2'"),
    (one_group(cores={"count": 1.5}), "/cores/count", "want integer"),
    (one_group(hugePages={"size": "4Ki"}), "/hugePages/size", "'2Mi', '1Gi', 'none'"),
    (one_group(hugePages={"amount": "1G"}), "/hugePages/amount", "(Mi|Gi)"),
    (one_group(memory={"perGroup": "lots"}), "/memory/perGroup", "(Mi|Gi)"),
    (one_group(server={"maxGroups": 65}), "/server/maxGroups", "want 64"),
    (one_group(metricsPort=80), "/metricsPort", "want 1,024"),
    (one_group(drainSeconds="20s"), "/drainSeconds", "want integer"),
    (one_group(root=True, capabilities=["SYS_ADMIN"]), "/capabilities/0", "'IPC_LOCK'"),
    (one_group(secrets={"existing": ["No Name"]}), "/secrets/existing/0", "pattern"),
    (one_group(monitoring={"rules": {"on": True}}), "/monitoring/rules", "'on' not allowed"),
    (one_group(networks=[{"interface": "net1"}]), "/networks/0", "missing property 'name'"),
]


@pytest.mark.parametrize(("values", "where", "allowed"), BY_SCHEMA, ids=lambda part: str(part)[:40])
def test_schema_refuses_values(render: Renderer, values: Json, where: str, allowed: str) -> None:
    error = render.refused(values)
    line = next(line for line in error.splitlines() if f"at '{where.strip(chr(39))}'" in line)
    assert allowed in error and len(line) < 400


def inline(*files: str | None) -> list[Json]:
    """Returns groups with modems, each in a file with the given name."""
    path = next(path for path in CI if path.stem == "inline")
    config = yamls.safe_load(path.read_text())["serviceGroups"][0]["config"]
    return [
        {"id": number, "config": config} | ({"file": file} if file else {})
        for number, file in enumerate(files, 1)
    ]


BOTH = {"provider": "ipsec-mb", "resource": "qat.intel.com/generic"}

# values, and the error of a template, for rules that a schema cannot express
BY_TEMPLATE: list[tuple[Json, str]] = [
    ({}, "serviceGroups: missing; needed: a list of 1 to 64 service groups"),
    (
        groups({"id": 3}, {"id": 3}),
        "serviceGroups[1].id: duplicate id 3, first in serviceGroups[0]",
    ),
    (
        groups({"id": 1}, {"id": 2, "pod": 2}),
        "serviceGroups: no group for pod 1 of 2; pods are numbered from 0 without gaps: "
        "set `pod: 1` for a group",
    ),
    *(
        (
            groups(*inline("elm.yaml", "elm.yaml"), mode=mode),
            "serviceGroups[1].file: duplicate file elm.yaml, as another group or secrets.files "
            "has it",
        )
        for mode in ("shared", "separate")
    ),
    (
        groups(*inline(None), secrets={"files": {"sg-1.yaml": "name: elm\n"}}),
        "serviceGroups[0].file: duplicate file sg-1.yaml, as another group or secrets.files has it",
    ),
    (
        groups({"id": 1, "profile": ""}),
        "serviceGroups[0]: no configuration; needed: a profile, config with modems, "
        '"sg-1.yaml" in secrets.files, or a Secret that contains it in secrets.existing',
    ),
    (
        {
            "serviceGroups": [
                {"id": 1, "profile": "1ofdm-0sc-qam_1cms_aes", "ports": {"network": {"vlan": 3}}}
            ]
        },
        "serviceGroups[0].ports.network: neither resource nor device; needed: one of them, "
        "here or in defaults.ports.network",
    ),
    *(
        (
            groups({"id": 1, "crypto": own}, defaults={"crypto": shared}),
            "serviceGroups[0].crypto: resource qat.intel.com/generic is not allowed with provider "
            "ipsec-mb, which uses no device; remove one of the two, here or in defaults.crypto",
        )
        for own, shared in (({}, BOTH), (BOTH, {}), ({"generate_crc": True}, BOTH))
    ),
    (
        groups({"id": 65}),
        "serviceGroups[0].id: found 65, allowed: 1 to 64 for a group with a profile, "
        "as its addresses are derived from its id",
    ),
    (
        groups({"id": 1}, {"id": 2}, server={"maxGroups": 1}),
        "server.maxGroups: found 1, allowed: 2 or more, the number of groups of the fullest pod",
    ),
    (
        groups({"id": 1}, {"id": 2}, cores={"count": 4}),
        "cores.count: found 4, allowed: 5 or more, as layout 1us1t_1ds1t needs 4 for 2 group(s), "
        'and management needs 1; with `layout: ""` any number is allowed',
    ),
    (
        one_group(cores={"count": 5}),
        "cores.count: found 5, allowed: a multiple of cores.siblings, which is 2: hyper-threads of "
        "one core are not split",
    ),
    (
        one_group(hugePages={"size": "1Gi", "amount": "1536Mi"}),
        "hugePages.amount: found 1536Mi, allowed: a multiple of hugePages.size, which is 1Gi",
    ),
    (
        one_group(hugePages={"size": "2Mi", "amount": "33Mi"}),
        "hugePages.amount: found 33Mi, allowed: a multiple of hugePages.size, which is 2Mi",
    ),
    (
        one_group(hugePages={"size": "none", "amount": "2Gi"}),
        "hugePages.amount: found 2Gi, allowed: empty, as hugePages.size is none; or set "
        "hugePages.size to 2Mi or 1Gi",
    ),
    (
        one_group(secrets={"files": {"a.yaml": "x" * 600_000, "b.yaml": "x" * 500_000}}),
        "secrets.files: found 1100000 bytes with configurations of groups in the values, allowed: "
        "1048576, the limit of a Secret; create a Secret per group and list them in "
        "secrets.existing",
    ),
]


@pytest.mark.parametrize(("values", "error"), BY_TEMPLATE, ids=lambda part: str(part)[:40])
def test_template_refuses_wrong_values(render: Renderer, values: Json, error: str) -> None:
    assert render.refused(values).endswith(f"): {error}")


@pytest.mark.parametrize(
    ("key", "what"), [("rules", "alerts"), ("dashboards", "dashboards")], ids=lambda part: part
)
def test_chart_of_the_checkout_lacks_dashboards_and_alerts(key: str, what: str) -> None:
    """They are in other folders. The rest of the chart is rendered."""
    with renderer_of(CHART) as render:
        assert render(one_group()).objects
        error = render.refused(one_group(monitoring={key: {"enabled": True}}))
    assert error.endswith(
        f"): monitoring.{key}.enabled: this chart has no {what}; needed: the chart that "
        "`make chart` builds, build-chart/vcmts-VERSION.tgz"
    )


@pytest.mark.parametrize(
    ("layout", "count", "needed"),
    [
        ("1us1t_1ds2t", 3, 10),
        ("2us1t_1ds2t", 3, 9),
        ("1us1t_1ds1t", 3, 7),
        ("combined", 3, 4),
        ("combined2", 3, 3),
    ],
)
def test_layout_requests_its_cores(render: Renderer, layout: str, count: int, needed: int) -> None:
    """The default is the number that is needed, and one less is refused."""

    def values(cores: Json) -> Json:
        listed = [{"id": number} for number in range(1, count + 1)]
        return groups(*listed, cores={"layout": layout, "siblings": 1, **cores})

    for cores in ({}, {"count": needed}):
        assert render(values(cores)).container()["resources"]["limits"]["cpu"] == str(needed)
    assert f"allowed: {needed} or more" in render.refused(values({"count": needed - 1}))


def test_count_without_layout_is_requested(render: Renderer) -> None:
    listed = [{"id": number} for number in range(1, 9)]
    rendered = render(groups(*listed, cores={"layout": "", "count": 2}))
    assert rendered.container()["resources"]["limits"]["cpu"] == "2"
    assert "threads" not in rendered.configuration()
