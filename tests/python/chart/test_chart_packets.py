# SPDX-License-Identifier: BSD-3-Clause
"""Tests the pod of `helm test`, which sends packets through a pod of the release."""

from typing import Any

import pytest

from python.chart.charts import Json, Rendered, Renderer, merge, needs_renderer, one_group

pytestmark = needs_renderer

ENDS = {"network": {"device": "net_far0"}, "rphy": {"device": "net_far1"}}


def with_test(values: Json | None = None, **test: Any) -> Json:
    return merge(values or one_group(), {"test": {"enabled": True, "ports": ENDS, **test}})


def packet_pod(rendered: Rendered) -> Json:
    pod: Json = rendered.one("Pod")
    return pod


def arguments(rendered: Rendered) -> list[str]:
    result: list[str] = packet_pod(rendered)["spec"]["containers"][0]["args"]
    return result


def test_no_test_by_default(render: Renderer) -> None:
    assert render(one_group()).all_of("Pod") == []
    assert "helm test" not in render(one_group()).notes


def test_it_is_a_hook_of_helm_test_only(render: Renderer) -> None:
    """An install or upgrade does not create it, and no selector of the release matches it."""
    rendered = render(with_test(), release="plant", namespace="cable")
    metadata = packet_pod(rendered)["metadata"]
    assert metadata["name"] == "plant-vcmts-test"
    assert metadata["annotations"]["helm.sh/hook"] == "test"
    policy = metadata["annotations"]["helm.sh/hook-delete-policy"].split(",")
    assert policy == ["before-hook-creation", "hook-succeeded"]
    selector = rendered.one("StatefulSet")["spec"]["selector"]["matchLabels"]
    assert not selector.items() <= metadata["labels"].items()
    assert "helm test -n cable plant\n" in rendered.notes


def test_it_runs_the_traffic_program_with_the_pods_configuration(render: Renderer) -> None:
    values = one_group(mode="separate", serviceGroups=[{"id": 1}, {"id": 2}])
    rendered = render(with_test(values, pod=1, seconds=7, rate="2.5 Gbps", arguments=["--seed=3"]))
    own, options = (part.split() for part in " ".join(arguments(rendered)).split(" -- "))
    assert own == ["pod", "--traffic", "--config=/etc/vcmts/config/vcmts-1.yaml"]
    assert options == [
        *("--network=net_far0", "--rphy=net_far1", "--duration=7s"),
        *("--rate=2.5Gbps", "--upstream-rate=2.5Gbps", "--seed=3"),
    ]
    assert "vcmts-1.yaml" in rendered.configurations()
    shared = {volume["name"]: volume for volume in rendered.pod()["volumes"]}
    for volume in packet_pod(rendered)["spec"]["volumes"]:
        assert volume == shared[volume["name"]]


def test_existing_config_map_of_one_pod(render: Renderer) -> None:
    values = one_group(existingConfigMap="mine")
    assert arguments(render(with_test(values)))[:3] == ["pod", "--traffic", "--"]


def test_it_requests_devices_and_pages_of_its_own(render: Renderer) -> None:
    ends = {"network": {"resource": "intel.com/far"}, "rphy": {"resource": "intel.com/far"}}
    rendered = render(with_test(ports=ends, cores=2, hugePages="1Gi", memory="1Gi"))
    container = packet_pod(rendered)["spec"]["containers"][0]
    assert container["resources"]["limits"] == {
        **{"memory": "1024Mi", "cpu": "2", "hugepages-1Gi": "1024Mi", "intel.com/far": "2"}
    }
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert "--network=${PCIDEVICE_INTEL_COM_FAR[0]}" in container["args"]
    assert "--rphy=${PCIDEVICE_INTEL_COM_FAR[1]}" in container["args"]
    assert {"name": "hugepages", "mountPath": "/dev/hugepages"} in container["volumeMounts"]
    small = packet_pod(render(with_test()))["spec"]["containers"][0]
    assert small["resources"]["limits"] == {"memory": "512Mi"}


def test_it_has_the_rights_of_the_release(render: Renderer) -> None:
    for values in (one_group(), one_group(root=True, capabilities=["NET_RAW"])):
        rendered = render(with_test(values))
        spec = packet_pod(rendered)["spec"]
        assert spec["securityContext"] == rendered.pod()["securityContext"]
        inner = spec["containers"][0]["securityContext"]
        assert inner == rendered.container()["securityContext"]
        assert spec["automountServiceAccountToken"] is False


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ({"pod": 1}, "test.pod: found 1, allowed: 0 to 0, the pods of the release"),
        ({"ports": {"network": {"device": "x"}}}, "test.ports.rphy: neither resource"),
        ({"hugePages": "1Gi"}, "test.hugePages: found 1Gi, allowed: empty, as hugePages.size is"),
        ({"rate": "fast"}, "'/test/rate'"),
    ],
)
def test_wrong_values_are_refused(render: Renderer, test: Json, message: str) -> None:
    values = one_group(hugePages={"size": "none"})
    values["test"] = {"enabled": True, "ports": ENDS} | test
    assert message in render.refused(values)
