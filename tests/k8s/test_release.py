# SPDX-License-Identifier: BSD-3-Clause
"""Tests helm upgrade, rollback and test, and an image by digest. Tests depend on their order."""

import json
import os
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from k8s.lab import (
    CHART,
    IMAGE,
    NAMESPACE,
    POD,
    RELEASE,
    check_proven,
    helm,
    kubectl,
    lab_folder,
    messages,
    run_command,
    status,
    sync,
    traffic,
    uid,
    values,
    wait_for_new_pod,
    wait_for_ready,
)
from k8s.losses import record
from patience import until
from vcmts.paths import CHECKOUT

STATEFULSET = f"statefulset/{RELEASE}-vcmts"
PACKETS = f"{RELEASE}-vcmts-test"  # the pod of `helm test`


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with lab_folder() as path:
        yield path


def git(*arguments: str) -> str:
    return run_command("git", "-C", CHECKOUT, *arguments).strip()


def previous_chart(folder: Path) -> Path:
    """The chart before its version was last changed, assembled."""
    changed = git("log", "-1", "--format=%H", "-G^version:", "--", "deploy/helm/vcmts/Chart.yaml")
    archive = folder / "previous.tar"
    git("archive", "-o", str(archive), f"{changed}^")
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "previous", filter="data")
    environment = os.environ | {"PYTHON": str(CHECKOUT / ".venv/bin/python")}
    assemble = folder / "previous/devtools/helm/assemble"
    subprocess.run([assemble, folder / "chart"], check=True, env=environment)
    chart = folder / "chart" / "vcmts"
    versions = [yaml.safe_load((one / "Chart.yaml").read_text()) for one in (chart, CHART)]
    assert versions[0]["version"] != versions[1]["version"]
    return chart


def rate_limit(folder: Path, rate: str, **more: object) -> Path:
    defaults = yaml.safe_load(values(folder).read_text())["defaults"]
    return values(folder, defaults=defaults | {"config": {"rate_limit": rate}}, **more)


def reloads() -> int:
    return sum("reloaded: service group 1" in message for message in messages())


def test_upgrade_from_the_previous_chart_and_rollback_lose_nothing(folder: Path) -> None:
    """Chart and values change while traffic runs. The pod keeps running."""
    old = values(folder)
    tree = yaml.safe_load(old.read_text())
    tree.pop("test")  # the previous chart has no test
    old.write_text(yaml.safe_dump(tree))
    helm("install", RELEASE, previous_chart(folder), "-f", old)
    wait_for_ready()
    before = uid()
    with traffic("upgrade", seconds=120) as run:
        helm("upgrade", RELEASE, CHART, "-f", rate_limit(folder, "3 Gbps"))
        sync()
        until(lambda: reloads() == 1, "the new values")
        helm("rollback", RELEASE, "1")
        sync()
        until(lambda: reloads() == 2, "the old values")
        assert not run.is_over(), "the traffic ended before the rollback"
        summary = run.summary()
    record("helm upgrade from the previous chart, and rollback: configuration", summary)
    check_proven(summary)
    assert uid() == before and status()["restartCount"] == 0


def test_rollback_of_an_image_that_does_not_exist(folder: Path) -> None:
    """The rollback alone replaces the pod that cannot start."""
    image = {"pullPolicy": "Never", "repository": "localhost/vcmts", "tag": "gone"}
    before = uid()
    with traffic("gone", seconds=90) as run:
        helm("upgrade", RELEASE, CHART, "-f", values(folder, image=image))

        def waiting() -> str:
            return str(status().get("state", {}).get("waiting", {}).get("reason", ""))

        until(lambda: waiting() == "ErrImageNeverPull", "the pod without an image")
        helm("rollback", RELEASE)
        wait_for_new_pod(before)
        record("helm upgrade to a missing image, and rollback", run.summary())
    with traffic("back", seconds=5) as run:
        check_proven(run.summary())


def image_digest() -> str:
    """The digest of the node's image. Adds the reference by digest, as a pull would."""
    lab = os.environ["K8S_LAB_COMMAND"]
    ctr = (lab, "exec", "ctr", "-n", "k8s.io", "images")
    lines = run_command(*ctr, "list", f"name=={IMAGE}").splitlines()
    digest = next(word for word in lines[1].split() if word.startswith("sha256:"))
    name = f"{IMAGE.rpartition(':')[0]}@{digest}"
    run_command(*ctr, "tag", "--force", IMAGE, name)
    return digest


def test_image_by_digest(folder: Path) -> None:
    digest = image_digest()
    name = IMAGE.rpartition(":")[0]
    image = {"pullPolicy": "Never", "repository": name, "tag": "gone", "digest": digest}
    before = uid()
    with traffic("digest", seconds=60) as run:
        helm("upgrade", RELEASE, CHART, "-f", values(folder, image=image))
        wait_for_new_pod(before)
        record("helm upgrade of image, resources or options", run.summary())
    spec = json.loads(kubectl("get", "pod", POD, "-o", "json"))["spec"]
    assert spec["containers"][0]["image"] == f"{name}@{digest}"
    with traffic("by-digest", seconds=5) as run:
        check_proven(run.summary())


def helm_test() -> tuple[int, str]:
    """Exit status and output. Helm prints the log of the pod to stderr."""
    command = ["helm", "-n", NAMESPACE, "test", RELEASE, "--timeout", "10m"]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def test_helm_test_proves_packets(folder: Path) -> None:
    """It tests the release as installed: here with the image by digest."""
    exit_status, printed = helm_test()
    assert exit_status == 0 and "packets proven" in printed, printed
    assert not kubectl("get", "pod", PACKETS, "--ignore-not-found")


def test_helm_test_fails_without_a_pod_in_service(folder: Path) -> None:
    kubectl("scale", STATEFULSET, "--replicas=0")
    until(lambda: not kubectl("get", "pod", POD, "--ignore-not-found"), "no pod")
    exit_status, printed = helm_test()
    assert exit_status != 0 and f"pod {PACKETS} failed" in printed, printed
    assert "FAIL: " in kubectl("logs", PACKETS)
    helm("upgrade", RELEASE, CHART, "-f", values(folder))  # also restores the number of pods
    wait_for_ready()
    exit_status, printed = helm_test()
    assert exit_status == 0, printed


def test_names_of_another_release_are_refused(folder: Path) -> None:
    """Releases `lab` and `lab-vcmts` would have objects of the same names."""
    before = uid()
    assert f"{RELEASE}-vcmts" == POD.rpartition("-")[0]
    error = helm("install", f"{RELEASE}-vcmts", CHART, "-f", values(folder), fails=True)
    assert "exists and cannot be imported" in error and NAMESPACE in error
    assert uid() == before and helm("list", "-q", "--all").split() == [RELEASE]
