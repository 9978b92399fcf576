# SPDX-License-Identifier: BSD-3-Clause
"""Tests the chart on a real node. The tests depend on their order."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from k8s.lab import (
    CHART,
    GROUPS,
    NAMESPACE,
    POD,
    RELEASE,
    check_proven,
    drops_by_reason,
    final_counters,
    has_drained,
    helm,
    huge_pages_free,
    is_ready,
    kubectl,
    lab_folder,
    messages,
    objects,
    pod,
    status,
    termination,
    traffic,
    values,
    wait_for_message,
    wait_for_no_pods,
)
from k8s.losses import record
from patience import until

KINDS = "all,configmap,secret,serviceaccount,poddisruptionbudget,networkpolicy,pvc"


OPEN = 20  # incomplete upstream frames per group at the stop, at most: two flows of ten modems
FREE = huge_pages_free()  # before the installation


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with lab_folder() as path:
        yield path


def validate(*manifests: dict[str, object], fails: bool = False) -> str:
    """Lets the API server validate manifests strictly, without applying them."""
    arguments = ("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-")
    return kubectl(*arguments, stdin=yaml.safe_dump_all(manifests), fails=fails)


def test_api_server_accepts_only_valid_manifests(folder: Path) -> None:
    text = helm("template", RELEASE, CHART, "--validate", "-f", values(folder))
    manifests = {one["kind"]: one for one in yaml.safe_load_all(text) if one}
    account = manifests["ServiceAccount"]["metadata"]["name"]
    kubectl("create", "serviceaccount", account)  # a pod needs one that exists
    try:
        validate(*manifests.values())
    finally:
        kubectl("delete", "serviceaccount", account)
    manifest = manifests["StatefulSet"]
    container = manifest["spec"]["template"]["spec"]["containers"][0]
    container["resources"]["limits"]["hugepages-2Mi"] = "3Mi"
    assert "hugepages-2Mi" in validate(manifest, fails=True)
    container["resources"]["limits"] = dict(container["resources"]["requests"])
    container["resources"]["limits"]["cpu"] = "500m"
    assert "must be less than or equal to cpu limit" in validate(manifest, fails=True)
    container["resources"]["limits"]["cpu"] = container["resources"]["requests"]["cpu"]
    validate(manifest)
    container["readynessProbe"] = container["readinessProbe"]
    assert "readynessProbe" in validate(manifest, fails=True)


def test_two_groups_run_on_one_core_and_huge_pages(folder: Path) -> None:
    free = huge_pages_free()
    helm("install", RELEASE, CHART, "-f", values(folder))
    until(lambda: is_ready() or status().get("restartCount", 0) > 0, "ready")
    assert is_ready() and status()["restartCount"] == 0, kubectl("logs", POD, "--previous")
    assert pod()["status"]["qosClass"] == "Guaranteed"
    log = messages()
    assert any(message.startswith("combined2 on cores 1") for message in log), log
    assert not any("running on ordinary pages" in message for message in log), log
    assert any("serving service groups: 2" in message for message in log), log
    assert huge_pages_free() < free
    reply = kubectl("exec", POD, "--", "vcmts", "control", "group.list", "--json")
    assert all(f'"id":{group}' in reply.replace(" ", "") for group in GROUPS)


def test_traffic_between_pods_is_proven(folder: Path) -> None:
    with traffic("first", seconds=8) as run:
        check_proven(run.summary())


def test_changed_values_take_effect_during_traffic(folder: Path) -> None:
    """The process is not restarted, and no packet is lost."""
    before = pod()["metadata"]["uid"]
    defaults = yaml.safe_load(values(folder).read_text())["defaults"]
    changed = values(folder, defaults=defaults | {"config": {"rate_limit": "3 Gbps"}})
    with traffic("during", seconds=60) as run:
        helm("upgrade", RELEASE, CHART, "-f", changed)
        # The kubelet updates volumes when the pod changes, or once per minute.
        kubectl("annotate", "pod", POD, "sync=1", "--overwrite")
        wait_for_message("reloaded: service group 1")
        assert not run.is_over(), "the traffic ended before the change"
        check_proven(run.summary())
    assert pod()["metadata"]["uid"] == before
    assert status()["restartCount"] == 0


def test_invalid_change_is_refused(folder: Path) -> None:
    defaults = yaml.safe_load(values(folder).read_text())["defaults"]
    defaults["ports"]["network"] = {"device": "net_af_packet0,iface=${GONE}"}
    helm("upgrade", RELEASE, CHART, "-f", values(folder, defaults=defaults))
    kubectl("annotate", "pod", POD, "sync=2", "--overwrite")
    wait_for_message("found ${GONE}, but the variable GONE is not set")
    wait_for_message("refused: ")
    assert is_ready() and status()["restartCount"] == 0
    helm("upgrade", RELEASE, CHART, "-f", values(folder))
    kubectl("annotate", "pod", POD, "sync=3", "--overwrite")
    until(lambda: sum("reloaded: service group 1" in m for m in messages()) >= 2, "a reload")


def test_rolling_update_drains_received_packets(folder: Path) -> None:
    """The old pod sends all packets that it received. Packets sent while no pod runs are lost."""
    before = pod()["metadata"]["uid"]
    changed = values(folder, podAnnotations={"rolled": "yes"})
    with (folder / "old.log").open("w") as log, traffic("rolling", seconds=45) as run:
        command = ["kubectl", "-n", NAMESPACE, "logs", "-f", POD]
        with subprocess.Popen(command, stdout=log) as following:
            time.sleep(5)  # so that packets are in flight
            helm("upgrade", RELEASE, CHART, "-f", changed)
            until(lambda: following.poll() is not None, "the exit of the old pod")
        until(lambda: is_ready() and pod()["metadata"]["uid"] != before, "the new pod")
        summary = run.summary()
    record("a pod is restarted by helm upgrade", summary)
    log_text = (folder / "old.log").read_text()
    assert has_drained(log_text), log_text[-2000:]
    ends = [line for line in log_text.splitlines() if "stream: received" in line]
    counters = final_counters(ends)
    assert len(counters) == 2 * len(GROUPS)
    for number, counts in enumerate(counters):
        assert counts["received"] > 0 and counts["held"] == 0, counters
        if number % 2 == 0:
            assert counts["dropped"] == 0 and counts["received"] == counts["transmitted"], counters
        else:  # L2TPv3 packets become IP packets; frames may be incomplete at the stop
            dropped = drops_by_reason(ends[number])
            assert dropped.pop("stopped", 0) <= OPEN, ends
            assert dropped.keys() <= {"no_control_port"}, ends  # MAC messages of modems
    with traffic("after", seconds=5) as run:
        check_proven(run.summary())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"defaults": {"profile": ""}, "secrets": {"existing": ["gone"]}},
            "sg-1.yaml: No such file or directory; is the Secret or ConfigMap that has it mounted?",
        ),
        (
            {
                "extraEnvironment": [{"name": "CARD", "value": ""}],
                "defaults": {"network": "${CARD}"},
            },
            "found ${CARD}, but the variable CARD is empty",
        ),
        (
            {"serviceGroups": [{"id": group} for group in (1, 2, 3)]},
            "cores: found 1 (1), of which 1 may poll, allowed: enough for 3 service groups",
        ),
    ],
    ids=["missing-secret", "empty-variable", "cores"],
)
def test_exit_message_is_the_error(folder: Path, changes: dict[str, object], message: str) -> None:
    helm("uninstall", RELEASE, "--ignore-not-found", "--wait")
    wait_for_no_pods()
    defaults = yaml.safe_load(values(folder).read_text())["defaults"]
    new = dict(changes.get("defaults", {}))  # type: ignore[call-overload]
    if network := new.pop("network", None):
        defaults["ports"]["network"] = {"device": network}
    path = values(folder, **(changes | {"defaults": defaults | new}))
    helm("install", RELEASE, CHART, "-f", path)
    printed, exit_status = termination(POD)
    assert message in printed and len(printed.splitlines()) == 1
    assert exit_status == 2


def test_uninstall_removes_everything(folder: Path) -> None:
    helm("uninstall", RELEASE, "--ignore-not-found", "--wait")
    wait_for_no_pods()
    remaining = [
        f"{one['kind']}/{one['metadata']['name']}"
        for one in objects(KINDS, "-l", f"app.kubernetes.io/instance={RELEASE}")
    ]
    assert remaining == []
    assert not list(Path("/dev/hugepages").glob("*vcmts*"))
    until(lambda: huge_pages_free() >= FREE, "huge pages are free again")
