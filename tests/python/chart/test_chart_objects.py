# SPDX-License-Identifier: BSD-3-Clause
"""What the chart renders: objects that Kubernetes takes, Guaranteed and unprivileged pods."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from python.chart.charts import CI, Json, Rendered, Renderer, needs_renderer, one_group
from vcmts import yamls
from vcmts.paths import CHECKOUT

pytestmark = needs_renderer

OF_PROMETHEUS = ("ServiceMonitor", "PrometheusRule")  # custom: their schemas are not Kubernetes'


@pytest.fixture(params=CI, ids=lambda path: path.stem, name="rendered")
def rendered_fixture(render: Renderer, request: pytest.FixtureRequest) -> Rendered:
    return render(None, request.param)


@pytest.mark.parametrize("release", ["1.27", "1.31", "1.37"])
def test_kubernetes_takes_the_objects(rendered: Rendered, release: str) -> None:
    """Strictly: a key that it does not know is a mistake."""
    validate = pytest.importorskip("kubernetes_validate", reason="devtools/install-deps chart")
    for one in rendered.objects:
        if one["kind"] not in OF_PROMETHEUS:
            validate.validate(one, release, strict=True)


def test_a_key_that_kubernetes_does_not_know_is_seen(render: Renderer) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="devtools/install-deps chart")
    pod = render(one_group()).one("StatefulSet")
    pod["spec"]["template"]["spec"]["containers"][0]["lifeCycle"] = {}
    with pytest.raises(validate.ValidationError):
        validate.validate(pod, "1.31", strict=True)


def test_names_are_of_one_release(rendered: Rendered) -> None:
    kinds = [(one["kind"], one["metadata"]["name"]) for one in rendered.objects]
    assert len(set(kinds)) == len(kinds)
    for one in rendered.objects:
        labels = one["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == "vcmts"
        assert labels["app.kubernetes.io/managed-by"] == "Helm"
        assert one["metadata"]["name"].startswith("vcmts")
        for value in labels.values():
            assert len(value) <= 63


def test_selectors_find_the_pods(rendered: Rendered) -> None:
    labels = rendered.one("StatefulSet")["spec"]["template"]["metadata"]["labels"]
    found = [rendered.one("Service")["spec"]["selector"]]
    for kind in ("StatefulSet", "PodDisruptionBudget"):
        found.append(rendered.one(kind)["spec"]["selector"]["matchLabels"])
    for one in rendered.of("NetworkPolicy"):
        found.append(one["spec"]["podSelector"]["matchLabels"])
    for selector in found:
        assert selector.items() <= labels.items()


def test_pods_are_guaranteed(rendered: Rendered) -> None:
    resources = rendered.container()["resources"]
    assert resources["requests"] == resources["limits"]
    assert {"cpu", "memory"} <= resources["limits"].keys()
    assert resources["limits"]["cpu"].isdigit() and int(resources["limits"]["cpu"]) > 0


def restricted(pod: Json, container: Json) -> list[str]:
    """What the Pod Security level "restricted" has against a pod."""
    both = [pod["securityContext"], container["securityContext"]]
    found = []
    if not any(context.get("runAsNonRoot") for context in both):
        found.append("runAsNonRoot")
    if any(context.get("runAsUser") == 0 for context in both):
        found.append("runAsUser")
    if not any(c.get("seccompProfile", {}).get("type") == "RuntimeDefault" for c in both):
        found.append("seccompProfile")
    context = container["securityContext"]
    if context.get("allowPrivilegeEscalation") is not False or context.get("privileged"):
        found.append("privileges")
    capabilities = context["capabilities"]
    if capabilities["drop"] != ["ALL"] or capabilities.get("add"):
        found.append("capabilities")
    if any(pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC")):
        found.append("host")
    allowed = {"name", "configMap", "emptyDir", "projected", "secret"}
    if any(not volume.keys() <= allowed for volume in pod["volumes"]):
        found.append("volumes")
    return found


def test_pods_have_no_rights_but_those_that_root_is_given(render: Renderer) -> None:
    for path in CI:
        rendered = render(None, path)
        pod, container = rendered.pod(), rendered.container()
        root = yamls.safe_load(path.read_text()).get("root", False)
        expected = ["runAsNonRoot", "runAsUser", "capabilities"] if root else []
        assert restricted(pod, container) == expected, path
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert pod["automountServiceAccountToken"] is False
        written = {m["name"] for m in container["volumeMounts"] if not m.get("readOnly")}
        assert written <= {"run", "hugepages"}


def test_root_has_the_capabilities_that_are_named(render: Renderer) -> None:
    def added(**values: Any) -> object:
        return render(one_group(**values)).container()["securityContext"]["capabilities"].get("add")

    assert added() is None
    assert added(capabilities=["NET_RAW"]) is None
    assert added(root=True) == ["IPC_LOCK"]
    assert added(root=True, capabilities=["NET_RAW"]) == ["NET_RAW"]
    assert added(root=True, capabilities=[]) is None


def test_openshift_gives_the_user(render: Renderer) -> None:
    known = ["security.openshift.io/v1"]

    def users(**more: Any) -> Json:
        values = one_group(**more.pop("values", {}))
        context = render(values, **more).pod()["securityContext"]
        return {key: value for key, value in context.items() if key.startswith(("runAs", "fs"))}

    ours = {"runAsNonRoot": True, "runAsUser": 10001, "runAsGroup": 0, "fsGroup": 10001}
    assert users() == ours
    assert users(api=known) == {"runAsNonRoot": True}
    assert users(values={"openshift": True}) == {"runAsNonRoot": True}
    assert users(values={"openshift": False}, api=known) == ours


def test_the_pod_ends_behind_its_drain(render: Renderer) -> None:
    for seconds in (0, 20, 120):
        rendered = render(one_group(drainSeconds=seconds))
        assert f"--drain={seconds}s" in rendered.container()["args"]
        assert rendered.pod()["terminationGracePeriodSeconds"] >= seconds + 10


def test_probes_ask_what_the_endpoint_answers(rendered: Rendered) -> None:
    container = rendered.container()
    (port,) = container["ports"]
    paths = {"startupProbe": "/live", "readinessProbe": "/ready", "livenessProbe": "/live"}
    for probe, path in paths.items():
        assert container[probe]["httpGet"] == {"path": path, "port": port["name"]}
    assert f"--metrics=0.0.0.0:{port['containerPort']}" in container["args"]


def test_a_change_of_the_configuration_alone_restarts_nothing(render: Renderer) -> None:
    """The pods' template stays as it is, so that what is mounted is reloaded live."""
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
    return one_group(
        mode="separate",
        defaults={"profile": ""},
        serviceGroups=[{"id": number} for number in range(1, groups + 1)],
        secrets={"existing": [f"sg-{number}" for number in range(1, names + 1)]},
    )


def test_a_group_more_in_a_pod_of_its_own_leaves_the_others(render: Renderer) -> None:
    """Where its Secret is named already; a group less leaves them likewise."""

    def template(groups: int, names: int) -> Json:
        found: Json = render(with_secrets(groups, names)).one("StatefulSet")["spec"]["template"]
        return found

    assert template(1, 3) == template(2, 3) == template(3, 3)
    assert template(2, 2) != template(3, 3)


def test_a_pod_finds_its_configuration_whatever_their_number(render: Renderer) -> None:
    """By the name that its argument has, so that none is without while others come and go."""
    made = [render(with_secrets(groups, 2)) for groups in (1, 2)]
    assert [sorted(one.configurations()) for one in made] == [
        ["vcmts-0.yaml"],
        ["vcmts-0.yaml", "vcmts-1.yaml"],
    ]
    assert made[0].configurations()["vcmts-0.yaml"] == made[1].configurations()["vcmts-0.yaml"]
    given = "--config=/etc/vcmts/config/$(POD_NAME).yaml"
    assert all(given in one.container()["args"] for one in made)


def test_a_configuration_of_others_is_found_by_the_name_of_one_or_of_each(render: Renderer) -> None:
    def named(groups: int) -> list[str]:
        made = render({**with_secrets(groups, 2), "existingConfigMap": "mine"})
        return [one for one in made.container()["args"] if one.startswith("--config=")]

    assert named(1) == []  # `vcmts pod` looks for vcmts.yaml
    assert named(2) == ["--config=/etc/vcmts/config/$(POD_NAME).yaml"]


def test_one_pod_after_the_other_is_rolled(rendered: Rendered) -> None:
    spec = rendered.one("StatefulSet")["spec"]
    assert spec["updateStrategy"]["type"] == "RollingUpdate"
    assert spec["replicas"] == len(rendered.configurations())
    assert rendered.one("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1


def test_monitoring_is_what_the_project_has(render: Renderer) -> None:
    rendered = render(None, *[path for path in CI if path.stem == "shared"])
    alerts = yamls.safe_load((CHECKOUT / "deploy/prometheus/alerts.yaml").read_text())
    assert rendered.one("PrometheusRule")["spec"]["groups"] == alerts["groups"]
    boards = {path.name: path for path in (CHECKOUT / "deploy/grafana").glob("*.json")}
    found = [
        one for one in rendered.of("ConfigMap") if "grafana_dashboard" in one["metadata"]["labels"]
    ]
    assert len(found) == len(boards)
    for one in found:
        ((name, text),) = one["data"].items()
        assert json.loads(text) == json.loads(boards[name.removeprefix("vcmts-")].read_text())
    (endpoint,) = rendered.one("ServiceMonitor")["spec"]["endpoints"]
    replaced = {rule["targetLabel"]: rule.get("replacement") for rule in endpoint["relabelings"]}
    assert f'job="{replaced["job"]}"' in (CHECKOUT / "deploy/prometheus/alerts.yaml").read_text()


def test_the_names_of_the_reference_are_recorded_on_request(render: Renderer) -> None:
    rules = {"enabled": True, "reference": True}
    rendered = render(one_group(monitoring={"rules": rules}))
    wanted = []
    for name in ("alerts", "reference"):
        wanted += yamls.safe_load((CHECKOUT / f"deploy/prometheus/{name}.yaml").read_text())[
            "groups"
        ]
    assert rendered.one("PrometheusRule")["spec"]["groups"] == wanted


def test_by_itself_nothing_is_made_that_a_cluster_may_lack(render: Renderer) -> None:
    kinds = {one["kind"] for one in render(one_group()).objects}
    assert kinds == {"ConfigMap", "StatefulSet", "Service", "ServiceAccount", "PodDisruptionBudget"}


def test_memory_is_asked_for_once(render: Renderer) -> None:
    def limits(**values: Any) -> Json:
        found: Json = render(one_group(**values)).container()["resources"]["limits"]
        return found

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


def test_pages_that_are_asked_for_are_needed(render: Renderer) -> None:
    must = "--huge-pages=must"
    with_pages, without = render(one_group()), render(one_group(hugePages={"size": "none"}))
    assert must in with_pages.container()["args"]
    assert must not in without.container()["args"]
    names = [[volume["name"] for volume in one.pod()["volumes"]] for one in (with_pages, without)]
    assert ["hugepages" in one for one in names] == [True, False]


def test_the_notes_ask_the_pod_why_it_is_not_ready(render: Renderer) -> None:
    made = render(one_group(metricsPort=9999), release="plant", namespace="cable")
    health = "/usr/libexec/vcmts/health /ready"
    assert f"kubectl -n cable exec plant-vcmts-0 -- {health}\n" in made.notes
    environment = {one["name"]: one.get("value") for one in made.container()["env"]}
    assert environment["VCMTS_METRICS_PORT"] == "9999"


NAMES = {"name", "serviceName", "serviceAccountName", "priorityClassName", "runtimeClassName"}
NAMES |= {"app.kubernetes.io/name", "app.kubernetes.io/instance", "matchNames", "7", "07"}


def names(part: Any) -> Iterator[tuple[object, object]]:
    """Keys that are or have names, with their values."""
    if isinstance(part, dict):
        yield from ((key, value) for key, value in part.items() if str(key) in NAMES)
    for inner in part.values() if isinstance(part, dict) else part:
        if isinstance(inner, dict | list):
            yield from names(inner)


def test_names_that_look_like_numbers_are_texts(render: Renderer) -> None:
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
        made = render({**values, **more}, release="17", namespace="18")
        found = [pair for one in made.objects for pair in names(one)]
        for key, value in found:
            for text in [key, *(value if isinstance(value, list) else [value])]:
                assert isinstance(text, str), (key, value)
        told = {value for _, value in found if isinstance(value, str)}
        expected = {"9", "8", "007", "12", "13", "14", "15", "17", *more.values()}
        assert expected <= told
        assert {key for key, _ in found} >= {"7", "07", "matchNames"}


def test_a_name_of_a_release_stands_in_all_names(render: Renderer, tmp_path: Path) -> None:
    rendered = render(one_group(), release="plant")
    assert {one["metadata"]["name"] for one in rendered.objects} == {"plant-vcmts"}
    assert "statefulset/plant-vcmts" in rendered.notes
    with_name = render(one_group(fullnameOverride="north"), release="plant")
    assert {one["metadata"]["name"] for one in with_name.objects} == {"north"}
