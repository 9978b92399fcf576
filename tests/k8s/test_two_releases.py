# SPDX-License-Identifier: BSD-3-Clause
"""Tests two releases in one namespace: changes of one lose no packets of the other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from k8s.cpus import cpus_for_two_pods
from k8s.lab import (
    CHART,
    RELEASE,
    check_proven,
    helm,
    is_ready,
    kubectl,
    lab_folder,
    objects,
    traffic,
    uid,
    values,
    wait_for_new_pod,
    wait_for_no_pods,
    wait_for_ready,
)
from k8s.losses import record
from patience import until

OTHER = "other"
PODS = tuple(f"{release}-vcmts-0" for release in (RELEASE, OTHER))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with lab_folder() as path, cpus_for_two_pods():
        yield path
        for release in (RELEASE, OTHER):
            helm("uninstall", release, "--ignore-not-found", "--wait")
        wait_for_no_pods()


def one_group(folder: Path, group: int, **more: Any) -> Path:
    changes = {"serviceGroups": [{"id": group}], "server": {"power": {"idle": "sleep"}}}
    return values(folder, **(changes | more))


def test_both_releases_serve(folder: Path) -> None:
    for release, group, name in zip((RELEASE, OTHER), (1, 2), PODS, strict=True):
        helm("install", release, CHART, "-f", one_group(folder, group))
        wait_for_ready(name)
    with traffic("both", seconds=10) as run:
        check_proven(run.summary())


def test_budgets_and_services_select_the_pod_of_their_release(folder: Path) -> None:
    for release, name in zip((RELEASE, OTHER), PODS, strict=True):
        budget = objects("poddisruptionbudget", f"{release}-vcmts")[0]
        assert budget["status"]["expectedPods"] == 1
        slices = objects("endpointslices", "-l", f"kubernetes.io/service-name={release}-vcmts")
        names = [end["targetRef"]["name"] for one in slices for end in one["endpoints"]]
        assert names == [name]


def test_changes_of_the_other_release_lose_nothing(folder: Path) -> None:
    """Restart and removal of the other one, while traffic of the first runs."""
    before = [uid(name) for name in PODS]
    changed = one_group(folder, 2, podAnnotations={"rolled": "yes"})
    with traffic("first", seconds=90, config="sg-1.yaml") as run:
        helm("upgrade", OTHER, CHART, "-f", changed)
        wait_for_new_pod(before[1], PODS[1])
        helm("uninstall", OTHER, "--wait")
        until(lambda: not kubectl("get", "pod", PODS[1], "--ignore-not-found"), "one pod")
        assert not run.is_over(), "the traffic ended before the removal"
        summary = run.summary()
    record("another release of the namespace is upgraded and removed", summary)
    check_proven(summary)
    assert uid(PODS[0]) == before[0] and is_ready(PODS[0])
