# SPDX-License-Identifier: BSD-3-Clause
"""Tests the chart's objects: Kubernetes' schemas, Guaranteed unprivileged pods, probes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from python.chart.charts import CI, Json, Rendered, Renderer, needs_renderer, one_group
from vcmts import yamls
from vcmts.paths import CHECKOUT

pytestmark = needs_renderer

CUSTOM_KINDS = ("ServiceMonitor", "PrometheusRule")  # custom resources have other schemas


@pytest.fixture(params=CI, ids=lambda path: path.stem, name="rendered")
def rendered_fixture(render: Renderer, request: pytest.FixtureRequest) -> Rendered:
    return render(None, request.param)


@pytest.mark.parametrize("release", ["1.27", "1.31", "1.37"])
def test_kubernetes_schemas_accept_objects(rendered: Rendered, release: str) -> None:
    """In objects of each values file in ci/. `strict` makes unknown keys errors."""
    validate = pytest.importorskip("kubernetes_validate", reason="devtools/install-deps chart")
    for one in rendered.objects:
        if one["kind"] not in CUSTOM_KINDS:
            validate.validate(one, release, strict=True)


def test_kubernetes_schemas_reject_unknown_keys(render: Renderer) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="devtools/install-deps chart")
    pod = render(one_group()).one("StatefulSet")
    pod["spec"]["template"]["spec"]["containers"][0]["lifeCycle"] = {}
    with pytest.raises(validate.ValidationError):
        validate.validate(pod, "1.31", strict=True)


def test_names_and_labels_have_the_release(rendered: Rendered) -> None:
    kinds = [(one["kind"], one["metadata"]["name"]) for one in rendered.objects]
    assert len(set(kinds)) == len(kinds)
    for one in rendered.objects:
        labels = one["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == "vcmts"
        assert labels["app.kubernetes.io/managed-by"] == "Helm"
        assert one["metadata"]["name"].startswith("vcmts")
        for value in labels.values():
            assert len(value) <= 63


def test_selectors_match_the_pods(rendered: Rendered) -> None:
    labels = rendered.one("StatefulSet")["spec"]["template"]["metadata"]["labels"]
    result = [rendered.one("Service")["spec"]["selector"]]
    for kind in ("StatefulSet", "PodDisruptionBudget"):
        result.append(rendered.one(kind)["spec"]["selector"]["matchLabels"])
    for one in rendered.all_of("NetworkPolicy"):
        result.append(one["spec"]["podSelector"]["matchLabels"])
    for selector in result:
        assert selector.items() <= labels.items()


def test_pods_are_guaranteed(rendered: Rendered) -> None:
    resources = rendered.container()["resources"]
    assert resources["requests"] == resources["limits"]
    assert {"cpu", "memory"} <= resources["limits"].keys()
    assert resources["limits"]["cpu"].isdigit() and int(resources["limits"]["cpu"]) > 0


def security_violations(pod: Json, container: Json) -> list[str]:
    """Returns what breaks the Pod Security level "restricted", or is a capability or a volume that
    the chart does not need. It does not check host ports, sysctls and SELinux."""
    both = [pod["securityContext"], container["securityContext"]]
    result = []
    if not any(context.get("runAsNonRoot") for context in both):
        result.append("runAsNonRoot")
    if any(context.get("runAsUser") == 0 for context in both):
        result.append("runAsUser")
    if not any(c.get("seccompProfile", {}).get("type") == "RuntimeDefault" for c in both):
        result.append("seccompProfile")
    context = container["securityContext"]
    if context.get("allowPrivilegeEscalation") is not False or context.get("privileged"):
        result.append("privileges")
    capabilities = context["capabilities"]
    if capabilities["drop"] != ["ALL"] or capabilities.get("add"):
        result.append("capabilities")
    if any(pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC")):
        result.append("host")
    allowed = {"name", "configMap", "emptyDir", "projected", "secret"}
    if any(not volume.keys() <= allowed for volume in pod["volumes"]):
        result.append("volumes")
    return result


def test_pods_are_restricted_unless_root_is_set(render: Renderer) -> None:
    for path in CI:
        rendered = render(None, path)
        pod, container = rendered.pod(), rendered.container()
        root = yamls.safe_load(path.read_text()).get("root", False)
        expected = ["runAsNonRoot", "runAsUser", "capabilities"] if root else []
        assert security_violations(pod, container) == expected, path
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert pod["automountServiceAccountToken"] is False
        written = {m["name"] for m in container["volumeMounts"] if not m.get("readOnly")}
        assert written <= {"run", "hugepages"}


def test_capabilities_are_added_for_root_only(render: Renderer) -> None:
    def added(**values: Any) -> object:
        return render(one_group(**values)).container()["securityContext"]["capabilities"].get("add")

    assert added() is None
    assert added(capabilities=["NET_RAW"]) is None
    assert added(root=True) == ["IPC_LOCK"]
    assert added(root=True, capabilities=["NET_RAW"]) == ["NET_RAW"]
    assert added(root=True, capabilities=[]) is None


def test_user_ids_are_left_to_openshift(render: Renderer) -> None:
    known = ["security.openshift.io/v1"]

    def users(**more: Any) -> Json:
        values = one_group(**more.pop("values", {}))
        context = render(values, **more).pod()["securityContext"]
        return {key: value for key, value in context.items() if key.startswith(("runAs", "fs"))}

    default_user = {"runAsNonRoot": True, "runAsUser": 10001, "runAsGroup": 0, "fsGroup": 10001}
    assert users() == default_user
    assert users(api=known) == {"runAsNonRoot": True}
    assert users(values={"openshift": True}) == {"runAsNonRoot": True}
    assert users(values={"openshift": False}, api=known) == default_user


def test_grace_period_is_longer_than_drain(render: Renderer) -> None:
    for seconds in (0, 20, 120):
        rendered = render(one_group(drainSeconds=seconds))
        assert f"--drain={seconds}s" in rendered.container()["args"]
        assert rendered.pod()["terminationGracePeriodSeconds"] >= seconds + 10


def test_probes_request_paths_of_the_metrics_port(rendered: Rendered) -> None:
    container = rendered.container()
    (port,) = container["ports"]
    paths = {"startupProbe": "/live", "readinessProbe": "/ready", "livenessProbe": "/live"}
    for probe, path in paths.items():
        assert container[probe]["httpGet"] == {"path": path, "port": port["name"]}
    assert f"--metrics=0.0.0.0:{port['containerPort']}" in container["args"]


def test_changed_configuration_keeps_the_pod_template(render: Renderer) -> None:
    """A changed template would restart pods. They reload their mounted files instead."""
    before = render(one_group(server={"maxGroups": 4}))
    changes: list[Json] = [
        {"defaults": {"config": {"rate_limit": "5 Gbps"}}},
        {"serviceGroups": [{"id": 1, "name": "elm"}]},
        {"serviceGroups": [{"id": 1}, {"id": 2}]},
    ]
    for change in changes:
        after = render(one_group(server={"maxGroups": 4}, **change), upgrade=True)
        assert after.configurations() != before.configurations()
        assert after.one("StatefulSet") == before.one("StatefulSet")


def with_secrets(groups: int, names: int) -> Json:
    """Values with one pod per group, and `names` Secrets of the operator: sg-1, sg-2, ..."""
    return one_group(
        mode="separate",
        defaults={"profile": ""},
        serviceGroups=[{"id": number} for number in range(1, groups + 1)],
        secrets={"existing": [f"sg-{number}" for number in range(1, names + 1)]},
    )


def test_added_pod_keeps_the_pod_template(render: Renderer) -> None:
    """The template depends on the named Secrets, not on the number of groups. An operator who names
    Secrets in advance can add groups without a restart of running pods."""

    def template(groups: int, names: int) -> Json:
        result: Json = render(with_secrets(groups, names)).one("StatefulSet")["spec"]["template"]
        return result

    assert template(1, 3) == template(2, 3) == template(3, 3)
    assert template(2, 2) != template(3, 3)


def test_configuration_file_has_the_name_of_its_pod(render: Renderer) -> None:
    """All pods have one template, so $(POD_NAME) selects the file. Groups that are added or removed
    change the file of no other pod."""
    charts = [render(with_secrets(groups, 2)) for groups in (1, 2)]
    assert [sorted(chart.configurations()) for chart in charts] == [
        ["vcmts-0.yaml"],
        ["vcmts-0.yaml", "vcmts-1.yaml"],
    ]
    first, second = (chart.configurations()["vcmts-0.yaml"] for chart in charts)
    assert first == second
    argument = "--config=/etc/vcmts/config/$(POD_NAME).yaml"
    assert all(argument in chart.container()["args"] for chart in charts)


def test_existing_config_map_names_files_by_pod_if_there_are_several(render: Renderer) -> None:
    def named(groups: int) -> list[str]:
        rendered = render({**with_secrets(groups, 2), "existingConfigMap": "mine"})
        return [one for one in rendered.container()["args"] if one.startswith("--config=")]

    assert named(1) == []  # one pod: `vcmts pod` reads vcmts.yaml, its default
    assert named(2) == ["--config=/etc/vcmts/config/$(POD_NAME).yaml"]


def test_pods_are_updated_one_by_one(rendered: Rendered) -> None:
    spec = rendered.one("StatefulSet")["spec"]
    assert spec["updateStrategy"]["type"] == "RollingUpdate"
    assert spec["replicas"] == len(rendered.configurations())
    assert rendered.one("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1


def test_monitoring_objects_are_the_projects_files(render: Renderer) -> None:
    rendered = render(None, *[path for path in CI if path.stem == "shared"])
    alerts = yamls.safe_load((CHECKOUT / "deploy/prometheus/alerts.yaml").read_text())
    assert rendered.one("PrometheusRule")["spec"]["groups"] == alerts["groups"]
    boards = {path.name: path for path in (CHECKOUT / "deploy/grafana").glob("*.json")}
    result = [
        one
        for one in rendered.all_of("ConfigMap")
        if "grafana_dashboard" in one["metadata"]["labels"]
    ]
    assert len(result) == len(boards)
    for one in result:
        ((name, text),) = one["data"].items()
        assert json.loads(text) == json.loads(boards[name.removeprefix("vcmts-")].read_text())
    (endpoint,) = rendered.one("ServiceMonitor")["spec"]["endpoints"]
    replaced = {rule["targetLabel"]: rule.get("replacement") for rule in endpoint["relabelings"]}
    assert f'job="{replaced["job"]}"' in (CHECKOUT / "deploy/prometheus/alerts.yaml").read_text()


def test_reference_rules_are_optional(render: Renderer) -> None:
    """rules.reference adds rules that record metrics under the reference system's names."""
    rules = {"enabled": True, "reference": True}
    rendered = render(one_group(monitoring={"rules": rules}))
    expected = []
    for name in ("alerts", "reference"):
        expected += yamls.safe_load((CHECKOUT / f"deploy/prometheus/{name}.yaml").read_text())[
            "groups"
        ]
    assert rendered.one("PrometheusRule")["spec"]["groups"] == expected


def test_default_objects_need_no_custom_kinds(render: Renderer) -> None:
    kinds = {one["kind"] for one in render(one_group()).objects}
    assert kinds == {"ConfigMap", "StatefulSet", "Service", "ServiceAccount", "PodDisruptionBudget"}


def test_memory_and_huge_pages_are_requested(render: Renderer) -> None:
    def limits(**values: Any) -> Json:
        result: Json = render(one_group(**values)).container()["resources"]["limits"]
        return result

    huge = limits(hugePages={"size": "2Mi", "base": "100Mi", "perGroup": "33Mi"})
    assert huge["hugepages-2Mi"] == "134Mi"  # rounded up to pages
    assert huge["memory"] == "1024Mi"
    assert (
        limits(hugePages={"size": "1Gi", "base": "1Mi", "perGroup": "1Mi"})["hugepages-1Gi"]
        == "1024Mi"
    )
    small = {"size": "none", "base": "100Mi", "perGroup": "33Mi"}
    assert limits(hugePages=small) == {"cpu": "4", "memory": "1157Mi"}
    assert limits(memory={"amount": "3Gi"})["memory"] == "3072Mi"


def test_pods_with_huge_pages_do_not_start_without_them(render: Renderer) -> None:
    must = "--huge-pages=must"
    with_pages, without = render(one_group()), render(one_group(hugePages={"size": "none"}))
    assert must in with_pages.container()["args"]
    assert must not in without.container()["args"]
    names = [[volume["name"] for volume in one.pod()["volumes"]] for one in (with_pages, without)]
    assert ["hugepages" in one for one in names] == [True, False]


def test_notes_have_the_health_command(render: Renderer) -> None:
    rendered = render(one_group(metricsPort=9999), release="plant", namespace="cable")
    health = "/usr/libexec/vcmts/health /ready"
    assert f"kubectl -n cable exec plant-vcmts-0 -- {health}\n" in rendered.notes
    environment = {one["name"]: one.get("value") for one in rendered.container()["env"]}
    assert environment["VCMTS_METRICS_PORT"] == "9999"


# Keys whose values are names; "7" is a Secret's file, "07" a dashboard's label.
NAME_KEYS = {"name", "serviceName", "serviceAccountName", "priorityClassName", "runtimeClassName"}
NAME_KEYS |= {"app.kubernetes.io/name", "app.kubernetes.io/instance", "matchNames", "7", "07"}


def names(part: Any) -> Iterator[tuple[object, object]]:
    """Yields key and value of each entry, at any depth, whose key is in NAME_KEYS."""
    if isinstance(part, dict):
        yield from ((key, value) for key, value in part.items() if str(key) in NAME_KEYS)
    for inner in part.values() if isinstance(part, dict) else part:
        if isinstance(inner, dict | list):
            yield from names(inner)


def test_numeric_names_are_strings(render: Renderer) -> None:
    """Templates must quote names: without quotes YAML reads 07 as a number."""
    on: Json = {"enabled": True}
    monitoring = {"serviceMonitor": on, "rules": on, "dashboards": {**on, "label": "07"}}
    values = one_group(
        image={"pullSecrets": ["9"]},
        secrets={"existing": ["8"], "files": {"7": "name: elm\n"}},
        serviceAccount={"name": "007"},
        priorityClassName="12",
        runtimeClassName="13",
        nameOverride="14",
        fullnameOverride="15",
        networkPolicy={"enabled": True},
        monitoring=monitoring,
    )
    for more in ({}, {"existingConfigMap": "16"}):
        rendered = render({**values, **more}, release="17", namespace="18")
        result = [pair for one in rendered.objects for pair in names(one)]
        for key, value in result:
            for text in [key, *(value if isinstance(value, list) else [value])]:
                assert isinstance(text, str), (key, value)
        texts = {value for _, value in result if isinstance(value, str)}
        expected = {"9", "8", "007", "12", "13", "14", "15", "17", *more.values()}
        assert expected <= texts
        assert {key for key, _ in result} >= {"7", "07", "matchNames"}


def test_names_have_the_release_or_the_override(render: Renderer) -> None:
    rendered = render(one_group(), release="plant")
    assert {one["metadata"]["name"] for one in rendered.objects} == {"plant-vcmts"}
    assert "statefulset/plant-vcmts" in rendered.notes
    with_name = render(one_group(fullnameOverride="north"), release="plant")
    assert {one["metadata"]["name"] for one in with_name.objects} == {"north"}


def test_long_releases_have_different_names(render: Renderer) -> None:
    """Helm allows 53 characters. Names of pods and their labels have fewer."""
    start = "plant-north-east-hub-with-a-name-of-many-characters"
    found = [render(one_group(), release=f"{start}-{number}") for number in (1, 2)]
    names = [one.one("StatefulSet")["metadata"]["name"] for one in found]
    assert len(set(names)) == 2 and all(len(name) <= 48 for name in names)
    assert all(name.startswith(start[:39]) for name in names)


def test_notes_name_the_levels_that_reject_root(render: Renderer) -> None:
    def rejecting(**values: Any) -> str:
        notes = render(one_group(**values)).notes
        return next((line for line in notes.splitlines() if "`root: true`" in line), "")

    assert rejecting() == ""
    both = rejecting(root=True, capabilities=["NET_RAW", "NET_ADMIN"])
    assert "as root with NET_RAW, NET_ADMIN." in both and 'or "baseline" reject' in both
    only_root = rejecting(root=True, capabilities=[])
    assert "as root. " in only_root and "baseline" not in only_root
