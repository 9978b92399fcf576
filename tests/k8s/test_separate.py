# SPDX-License-Identifier: BSD-3-Clause
"""Tests the chart with one pod per service group on a real node."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from k8s.cpus import cpus_for_two_pods
from k8s.lab import (
    CHART,
    GROUPS,
    NAMESPACE,
    RELEASE,
    check_proven,
    helm,
    is_ready,
    kubectl,
    lab_folder,
    messages,
    pod,
    traffic,
    values,
    wait_for_no_pods,
)
from k8s.losses import record
from patience import until

FIRST, SECOND = PODS = tuple(f"{RELEASE}-vcmts-{number}" for number in range(2))
# One line per change: name, UID and readiness.
STATE = '{.metadata.name} {.metadata.uid} {.status.containerStatuses[0].ready}{"\\n"}'


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with lab_folder() as path, cpus_for_two_pods():
        yield path
        helm("uninstall", RELEASE, "--ignore-not-found", "--wait")
        wait_for_no_pods()


def separate(folder: Path, groups: tuple[int, ...] = GROUPS, **more: Any) -> Path:
    """Values with one pod per group. Idle workers sleep: pods and traffic share two cores."""
    changes = {
        "mode": "separate",
        "serviceGroups": [{"id": group} for group in groups],
        "server": {"power": {"idle": "sleep"}},
        "hugePages": {"size": "2Mi", "amount": "256Mi"},
    }
    return values(folder, **(changes | more))


def upgrade(path: Path) -> None:
    helm("upgrade", RELEASE, CHART, "-f", path)


def uids() -> list[str]:
    return [str(pod(name)["metadata"]["uid"]) for name in PODS]


def wait_for_new_pod(name: str, before: str) -> None:
    def is_new() -> bool:
        return is_ready(name) and pod(name)["metadata"]["uid"] != before

    until(is_new, f"the new {name}")


@contextmanager
def record_states(path: Path) -> Iterator[None]:
    """Records every state of the pods in a file until the block ends."""
    command = ["kubectl", "-n", NAMESPACE, "get", "pods", "-w", f"-o=jsonpath={STATE}"]
    selected = [*command, "-l", "app.kubernetes.io/name=vcmts"]
    with path.open("w") as out, subprocess.Popen(selected, stdout=out) as watching:
        until(lambda: path.read_text().count("true") >= len(PODS), "the first states")
        yield
        watching.terminate()


def states(path: Path) -> Iterator[dict[str, tuple[str, bool]]]:
    """All pods by name, with UID and readiness, after each change."""
    now: dict[str, tuple[str, bool]] = {}
    for line in path.read_text().splitlines():
        name, uid, *ready = line.split(" ")
        now[name] = (uid, ready == ["true"])
        yield dict(now)


def test_each_group_has_a_pod(folder: Path) -> None:
    helm("install", RELEASE, CHART, "-f", separate(folder))
    for group, name in zip(GROUPS, PODS, strict=True):
        until(lambda name=name: is_ready(name), f"{name} ready")  # type: ignore[misc]
        reply = kubectl("exec", name, "--", "vcmts", "control", "group.list", "--json")
        assert [item["id"] for item in yaml.safe_load(reply)["groups"]] == [group]


def test_update_of_one_pod_loses_no_packets_of_the_other(folder: Path) -> None:
    before = uids()
    path = separate(folder, podAnnotations={"rolled": "once"}, rollPartition=1)
    with traffic("beside", seconds=60, config="sg-1.yaml") as run:
        upgrade(path)
        wait_for_new_pod(SECOND, before[1])
        assert not run.is_over(), "the traffic ended before the update"
        check_proven(run.summary())
    assert uids()[0] == before[0]


def test_rolling_update_starts_with_the_last_pod(folder: Path) -> None:
    before = uids()
    log = folder / "states"
    with record_states(log):
        upgrade(separate(folder, podAnnotations={"rolled": "twice"}))
        for name, uid in zip(PODS, before, strict=True):
            wait_for_new_pod(name, uid)
    history = list(states(log))
    new = [[uid not in before for _, (uid, _) in sorted(state.items())] for state in history]
    assert new[-1] == [True, True] and [False, True] in new and [True, False] not in new
    ready = [[ready for _, ready in state.values()] for state in history if len(state) == len(PODS)]
    assert min(map(sum, ready)) == 1, history


def test_removed_and_added_group_does_not_restart_the_other(folder: Path) -> None:
    before = uids()
    same = {"rolled": "twice"}
    upgrade(separate(folder, groups=GROUPS[:1], podAnnotations=same))
    until(lambda: not kubectl("get", "pod", SECOND, "--ignore-not-found"), "one pod")
    upgrade(separate(folder, podAnnotations=same))
    until(lambda: is_ready(SECOND), "two pods")
    after = uids()
    assert after[0] == before[0] and after[1] != before[1]
    kubectl("annotate", "pod", FIRST, "sync=1", "--overwrite")
    with traffic("others", seconds=10) as run:
        check_proven(run.summary())
    assert not any("refused" in message for message in messages(FIRST))


def evict(name: str, fails: bool = False) -> str:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/eviction"
    return kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction), fails=fails)


def test_one_pod_is_evicted_at_a_time(folder: Path) -> None:
    before = uids()
    with traffic("evicted", seconds=60, config="sg-1.yaml") as run:
        evict(SECOND)
        assert "disruption budget" in evict(FIRST, fails=True)
        wait_for_new_pod(SECOND, before[1])
        assert not run.is_over(), "the traffic ended before the new pod"
        summary = run.summary()
    record("the pod of another group is evicted", summary)
    check_proven(summary)
    assert uids()[0] == before[0]
