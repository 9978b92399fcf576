# SPDX-License-Identifier: BSD-3-Clause
"""The chart on a real node: served, changed, rolled, removed; one after the other."""

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
    accounts,
    helm,
    huge_pages_free,
    is_ready,
    kubectl,
    lab_place,
    messages,
    no_pods,
    objects,
    pod,
    proven,
    reasons,
    status,
    termination,
    traffic,
    until_said,
    values,
)
from patience import until

KINDS = "all,configmap,secret,serviceaccount,poddisruptionbudget,networkpolicy,pvc"


OPEN = 20  # frames of a group's modems that may be without their end: two flows of ten modems
FREE = huge_pages_free()  # before anything is installed


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with lab_place() as made:
        yield made


def strict(*manifests: dict[str, object], fails: bool = False) -> str:
    words = ("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-")
    return kubectl(*words, given=yaml.safe_dump_all(manifests), fails=fails)


def test_the_server_takes_good_manifests_and_no_others(place: Path) -> None:
    text = helm("template", RELEASE, CHART, "--validate", "-f", values(place))
    manifests = {one["kind"]: one for one in yaml.safe_load_all(text) if one}
    strict(*manifests.values())
    wrong = manifests["StatefulSet"]
    container = wrong["spec"]["template"]["spec"]["containers"][0]
    container["resources"]["limits"]["hugepages-2Mi"] = "3Mi"
    assert "hugepages-2Mi" in strict(wrong, fails=True)
    container["resources"]["limits"] = dict(container["resources"]["requests"])
    container["resources"]["limits"]["cpu"] = "500m"
    assert "must be less than or equal to cpu limit" in strict(wrong, fails=True)
    container["resources"]["limits"]["cpu"] = container["resources"]["requests"]["cpu"]
    strict(wrong)
    container["readynessProbe"] = container["readinessProbe"]
    assert "readynessProbe" in strict(wrong, fails=True)


def test_two_groups_have_a_core_and_huge_pages(place: Path) -> None:
    free = huge_pages_free()
    helm("install", RELEASE, CHART, "-f", values(place))
    until(lambda: is_ready() or status().get("restartCount", 0) > 0, "ready")
    assert is_ready() and status()["restartCount"] == 0, kubectl("logs", POD, "--previous")
    assert pod()["status"]["qosClass"] == "Guaranteed"
    said = messages()
    assert any(message.startswith("combined2 on cores 1") for message in said), said
    assert not any("running on ordinary pages" in message for message in said), said
    assert any("serving service groups: 2" in message for message in said), said
    assert huge_pages_free() < free
    allowed = kubectl("exec", POD, "--", "vcmts", "control", "group.list", "--json")
    assert all(f'"id":{group}' in allowed.replace(" ", "") for group in GROUPS)


def test_traffic_is_proven_between_pods(place: Path) -> None:
    with traffic("first", seconds=8) as run:
        proven(run.summary())


def test_values_change_while_traffic_goes_on(place: Path) -> None:
    """The same process goes on, and nothing is lost."""
    before = pod()["metadata"]["uid"]
    defaults = yaml.safe_load(values(place).read_text())["defaults"]
    changed = values(place, defaults=defaults | {"config": {"rate_limit": "3 Gbps"}})
    with traffic("during", seconds=60) as run:
        helm("upgrade", RELEASE, CHART, "-f", changed)
        # the kubelet looks after volumes when something of the pod changes, or once a minute
        kubectl("annotate", "pod", POD, "look=now", "--overwrite")
        until_said("read again: service group 1")
        assert not run.is_over(), "it was changed while traffic went on"
        proven(run.summary())
    assert pod()["metadata"]["uid"] == before
    assert status()["restartCount"] == 0


def test_a_change_that_is_wrong_is_refused(place: Path) -> None:
    given = yaml.safe_load(values(place).read_text())["defaults"]
    given["ports"]["network"] = {"device": "net_af_packet0,iface=${GONE}"}
    helm("upgrade", RELEASE, CHART, "-f", values(place, defaults=given))
    kubectl("annotate", "pod", POD, "look=again", "--overwrite")
    until_said("found ${GONE}, but the variable GONE is not set")
    until_said("refused: ")
    assert is_ready() and status()["restartCount"] == 0
    helm("upgrade", RELEASE, CHART, "-f", values(place))
    kubectl("annotate", "pod", POD, "look=and again", "--overwrite")
    until(lambda: sum("read again: service group 1" in m for m in messages()) >= 2, "the old one")


def test_a_rolling_update_sends_what_was_received(place: Path) -> None:
    """What is sent while no pod is there is lost; what the old one had received is not."""
    before = pod()["metadata"]["uid"]
    changed = values(place, podAnnotations={"rolled": "yes"})
    with (place / "old.log").open("w") as log, traffic("rolling", seconds=45) as run:
        command = ["kubectl", "-n", NAMESPACE, "logs", "-f", POD]
        with subprocess.Popen(command, stdout=log) as following:
            time.sleep(5)  # so that there is something on its way
            helm("upgrade", RELEASE, CHART, "-f", changed)
            until(lambda: following.poll() is not None, "the end of the old pod")
        until(lambda: is_ready() and pod()["metadata"]["uid"] != before, "the new pod")
        summary = run.summary()
    lines = (place / "old.log").read_text().splitlines()
    assert any("drained: nothing is held" in line for line in lines), lines
    ends = [line for line in lines if "stream: received" in line]
    told = accounts(ends)
    assert len(told) == 2 * len(GROUPS)
    for number, account in enumerate(told):
        assert account["received"] > 0 and account["held"] == 0, told
        if number % 2 == 0:
            assert account["dropped"] == 0 and account["received"] == account["transmitted"], told
        else:  # L2TPv3 packets come in and IP packets go out; of a frame the rest may not come
            dropped = reasons(ends[number])
            assert dropped.pop("stopped", 0) <= OPEN, ends
            assert dropped.keys() <= {"no_control_port"}, ends  # messages of modems
    for direction in ("downstream", "upstream"):
        assert summary[direction]["corrupted"] == 0
        assert (
            summary[direction]["proven"] + summary[direction]["lost"] == summary[direction]["sent"]
        )
    with traffic("after", seconds=5) as run:
        proven(run.summary())


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        (
            "gone",
            {"defaults": {"profile": ""}, "secrets": {"existing": ["gone"]}},
            "sg-1.yaml: No such file or directory; is the Secret or ConfigMap that has it mounted?",
        ),
        (
            "empty",
            {
                "extraEnvironment": [{"name": "CARD", "value": ""}],
                "defaults": {"network": "${CARD}"},
            },
            "found ${CARD}, but the variable CARD is empty",
        ),
        (
            "cores",
            {"serviceGroups": [{"id": group} for group in (1, 2, 3)]},
            "cores: found 1 (1), of which 1 may poll, allowed: enough for 3 service groups",
        ),
    ],
)
def test_a_pod_says_why_it_ends(
    place: Path, name: str, more: dict[str, object], message: str
) -> None:
    helm("uninstall", RELEASE, "--ignore-not-found", "--wait")
    no_pods()
    given = yaml.safe_load(values(place).read_text())
    defaults = given["defaults"]
    own = dict(more.get("defaults", {}))  # type: ignore[call-overload]
    network = own.pop("network", None)
    if network:
        defaults["ports"]["network"] = {"device": network}
    helm("install", RELEASE, CHART, "-f", values(place, **(more | {"defaults": defaults | own})))
    said, exit_status = termination(POD)
    assert message in said and len(said.splitlines()) == 1
    assert exit_status == 2


def test_nothing_is_left(place: Path) -> None:
    helm("uninstall", RELEASE, "--ignore-not-found", "--wait")
    no_pods()
    left = [
        f"{one['kind']}/{one['metadata']['name']}"
        for one in objects(KINDS, "-l", f"app.kubernetes.io/instance={RELEASE}")
    ]
    assert left == []
    assert not list(Path("/dev/hugepages").glob("*vcmts*"))
    until(lambda: huge_pages_free() >= FREE, "huge pages given back")
