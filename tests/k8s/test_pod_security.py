# SPDX-License-Identifier: BSD-3-Clause
"""Tests which values work in a namespace with the Pod Security level "restricted"."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from k8s.lab import (
    CHART,
    NAMESPACE,
    POD,
    RELEASE,
    helm,
    kubectl,
    lab_folder,
    objects,
    run_command,
    values,
    wait_for_no_pods,
    wait_for_ready,
)
from patience import until

LABEL = "pod-security.kubernetes.io/enforce"
NULL = {"network": {"device": "net_null0,no-rx=1"}, "rphy": {"device": "net_null1,no-rx=1"}}
CARDS = {"network": {"resource": "intel.com/a"}, "rphy": {"resource": "intel.com/a"}}
HOST = {"name": "wires", "hostPath": {"path": "/run/wires"}}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with lab_folder() as path:
        yield path


def enforce(level: str) -> None:
    run_command("kubectl", "label", "namespace", NAMESPACE, f"{LABEL}={level}", "--overwrite")


def unprivileged(folder: Path, **changes: Any) -> Path:
    """Values of the lab without root, on null ports."""
    defaults = {"profile": "2ofdm-0sc-qam_10cms_aes", "ports": NULL}
    base = {"root": False, "networks": [], "defaults": defaults, "test": {"enabled": False}}
    return values(folder, **(base | changes))


def pods_of(path: Path) -> list[dict[str, Any]]:
    """The pods that a release would create, and that of its test."""
    text = helm("template", RELEASE, CHART, "--kube-version", "1.34", "-f", path)
    found = []
    for one in filter(None, yaml.safe_load_all(text)):
        if one["kind"] == "StatefulSet":
            template = one["spec"]["template"]
            template["metadata"]["name"] = "pod"
            found.append({"apiVersion": "v1", "kind": "Pod", **template})
        elif one["kind"] == "Pod":
            found.append(one)
    for pod in found:
        pod["spec"].pop("serviceAccountName")  # the release would create it
    return found


def violations(level: str, path: Path) -> str:
    """What the API server says against these pods; empty if it admits them."""
    enforce(level)
    said = []
    for pod in pods_of(path):
        command = ["kubectl", "-n", NAMESPACE, "create", "--dry-run=server", "-f", "-"]
        try:
            run_command(*command, stdin=json.dumps(pod))
        except AssertionError as error:
            said.append(str(error))
    return "\n".join(said)


ENDS = {"enabled": True, "ports": NULL}
TABLE: list[tuple[dict[str, Any], list[str], list[str]]] = [
    # values, part of the refusal at level baseline, and at level restricted
    ({}, [], []),
    ({"hugePages": {"size": "none", "amount": ""}}, [], []),
    ({"defaults": {"profile": "", "ports": CARDS}, "secrets": {"existing": ["sg"]}}, [], []),
    ({"openshift": True}, [], []),
    ({"test": ENDS}, [], []),
    ({"root": True, "capabilities": []}, [], ["runAsNonRoot != true", "runAsUser=0"]),
    ({"root": True, "capabilities": ["IPC_LOCK"]}, ["IPC_LOCK"], ["IPC_LOCK", "runAsUser=0"]),
    ({"root": True, "capabilities": ["NET_RAW"]}, ["NET_RAW"], ["NET_RAW", "runAsUser=0"]),
    ({"extraVolumes": [HOST]}, ["hostPath"], ["hostPath"]),
]


@pytest.mark.parametrize(("changes", "baseline", "restricted"), TABLE)
def test_levels_admit_or_reject_values(
    folder: Path, changes: dict[str, Any], baseline: list[str], restricted: list[str]
) -> None:
    path = unprivileged(folder, **changes)
    for level, parts in (("baseline", baseline), ("restricted", restricted)):
        said = violations(level, path)
        assert all(part in said for part in parts) and bool(said) == bool(parts), (level, said)


def test_release_serves_in_a_restricted_namespace(folder: Path) -> None:
    enforce("restricted")
    helm("install", RELEASE, CHART, "-f", unprivileged(folder))
    wait_for_ready()
    reply = kubectl("exec", POD, "--", "vcmts", "control", "group.list", "--json")
    assert len(json.loads(reply)["groups"]) == 2


def test_rejected_pod_is_an_event_of_the_statefulset(folder: Path) -> None:
    """helm succeeds: only the events of the StatefulSet say why it has no pod."""
    enforce("restricted")
    helm("uninstall", RELEASE, "--ignore-not-found", "--wait")
    wait_for_no_pods()
    helm("install", RELEASE, CHART, "-f", values(folder))
    selector = f"--field-selector=involvedObject.name={RELEASE}-vcmts,reason=FailedCreate"
    until(lambda: bool(objects("events", selector)), "the event")
    assert 'violates PodSecurity "restricted' in objects("events", selector)[0]["message"]
    assert not objects("pods", "-l", "app.kubernetes.io/name=vcmts")
    enforce("privileged")
    wait_for_ready()  # without another command
