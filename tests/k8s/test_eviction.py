# SPDX-License-Identifier: BSD-3-Clause
"""Tests the drain of a node, with and without a disruption budget that permits it."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from k8s.lab import (
    CHART,
    NAMESPACE,
    POD,
    RELEASE,
    check_proven,
    has_drained,
    helm,
    kubectl,
    lab_folder,
    pod,
    run_command,
    traffic,
    uid,
    values,
    wait_for_new_pod,
    wait_for_ready,
)
from k8s.losses import record
from patience import until

NODE = ("node", "--all")
SELECTED = f"--pod-selector=app.kubernetes.io/instance={RELEASE}"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with lab_folder() as path:
        yield path
        run_command("kubectl", "uncordon", node())


def node() -> str:
    return run_command("kubectl", "get", "node", "-o", "jsonpath={.items[0].metadata.name}")


def drain(*options: str, fails: bool = False) -> str:
    command = ("drain", node(), SELECTED, "--ignore-daemonsets", "--delete-emptydir-data")
    return run_command("kubectl", *command, *options, fails=fails)


@contextmanager
def following_log(log: IO[str]) -> Iterator[None]:
    """Copies the pod's log until the pod has ended."""
    command = ["kubectl", "-n", NAMESPACE, "logs", "-f", POD]
    with subprocess.Popen(command, stdout=log) as following:
        yield
        until(lambda: following.poll() is not None, "the exit of the old pod")


def test_drained_node(folder: Path) -> None:
    """The evicted pod drains its groups. The next one waits for a node, and serves when it has
    one."""
    helm("install", RELEASE, CHART, "-f", values(folder))
    wait_for_ready()
    before = uid()
    with traffic("drain", seconds=60) as run:
        with (folder / "old.log").open("w") as log, following_log(log):
            assert f"pod/{POD} evicted" in drain("--timeout=300s")
        until(lambda: bool(kubectl("get", "pod", POD, "--ignore-not-found")), "the next pod")
        until(lambda: pod()["status"]["phase"] == "Pending", "a pod that waits for a node")
        run_command("kubectl", "uncordon", node())
        wait_for_new_pod(before)
        record("kubectl drain, and uncordon at once", run.summary())
    assert has_drained((folder / "old.log").read_text())
    with traffic("undrained", seconds=5) as run:
        check_proven(run.summary())


def test_budget_of_zero_refuses_the_drain(folder: Path) -> None:
    budget = {"enabled": True, "maxUnavailable": 0}
    helm("upgrade", RELEASE, CHART, "-f", values(folder, podDisruptionBudget=budget))
    before = uid()
    with traffic("budget", seconds=20) as run:
        error = drain("--timeout=10s", fails=True)
        assert "Cannot evict pod as it would violate the pod's disruption budget" in error
        check_proven(run.summary())
    assert uid() == before
    run_command("kubectl", "uncordon", node())
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": POD}}
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{POD}/eviction"
    error = kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction), fails=True)
    assert "disruption budget" in error and uid() == before
