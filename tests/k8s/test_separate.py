# SPDX-License-Identifier: BSD-3-Clause
"""A pod for each group on a real node: rolled one at a time, and more and fewer of them."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from k8s.cpus import for_two_pods
from k8s.lab import (
    CHART,
    GROUPS,
    NAMESPACE,
    RELEASE,
    helm,
    is_ready,
    kubectl,
    lab_place,
    messages,
    no_pods,
    pod,
    proven,
    traffic,
    values,
)
from patience import until

FIRST, SECOND = PODS = tuple(f"{RELEASE}-vcmts-{number}" for number in range(2))
# Name, identity and readiness, a line a change.
STATE = '{.metadata.name} {.metadata.uid} {.status.containerStatuses[0].ready}{"\\n"}'


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with lab_place() as made, for_two_pods():
        yield made
        helm("uninstall", RELEASE, "--ignore-not-found", "--wait")
        no_pods()


def separate(folder: Path, groups: tuple[int, ...] = GROUPS, **more: Any) -> Path:
    """Workers sleep while nothing comes: two pods and the traffic have two cores together."""
    given = {
        "mode": "separate",
        "serviceGroups": [{"id": group} for group in groups],
        "server": {"power": {"idle": "sleep"}},
        "hugePages": {"size": "2Mi", "amount": "256Mi"},
    }
    return values(folder, **(given | more))


def upgraded(path: Path) -> None:
    helm("upgrade", RELEASE, CHART, "-f", path)


def uids() -> list[str]:
    return [str(pod(name)["metadata"]["uid"]) for name in PODS]


def until_rolled(name: str, before: str) -> None:
    def is_new() -> bool:
        return is_ready(name) and pod(name)["metadata"]["uid"] != before

    until(is_new, f"the new {name}")


@contextmanager
def watched(path: Path) -> Iterator[None]:
    """Every state of the pods meanwhile, into a file."""
    command = ["kubectl", "-n", NAMESPACE, "get", "pods", "-w", f"-o=jsonpath={STATE}"]
    selected = [*command, "-l", "app.kubernetes.io/name=vcmts"]
    with path.open("w") as out, subprocess.Popen(selected, stdout=out) as watching:
        until(lambda: path.read_text().count("true") >= len(PODS), "the first states")
        yield
        watching.terminate()


def states(path: Path) -> Iterator[dict[str, tuple[str, bool]]]:
    """Which pods there were, each with its identity and whether it was ready."""
    now: dict[str, tuple[str, bool]] = {}
    for line in path.read_text().splitlines():
        name, uid, *ready = line.split(" ")
        now[name] = (uid, ready == ["true"])
        yield dict(now)


def test_each_group_has_a_pod(place: Path) -> None:
    helm("install", RELEASE, CHART, "-f", separate(place))
    for group, name in zip(GROUPS, PODS, strict=True):
        until(lambda name=name: is_ready(name), f"{name} ready")  # type: ignore[misc]
        told = kubectl("exec", name, "--", "vcmts", "control", "group.list", "--json")
        ids = [one["id"] for one in yaml.safe_load(told)["groups"]]
        assert ids == [group]


def test_the_one_is_rolled_and_the_other_loses_nothing(place: Path) -> None:
    before = uids()
    path = separate(place, podAnnotations={"rolled": "once"}, rollPartition=1)
    with traffic("beside", seconds=60, config="sg-1.yaml") as run:
        upgraded(path)
        until_rolled(SECOND, before[1])
        assert not run.is_over(), "it was rolled while traffic went on"
        proven(run.summary())
    assert uids()[0] == before[0]


def test_one_after_the_other_the_last_first(place: Path) -> None:
    before = uids()
    log = place / "states"
    with watched(log):
        upgraded(separate(place, podAnnotations={"rolled": "twice"}))
        for name, uid in zip(PODS, before, strict=True):
            until_rolled(name, uid)
    seen = list(states(log))
    order = [[uid not in before for uid, _ in one.values()] for one in map(sorted_by_name, seen)]
    assert order[-1] == [True, True] and [False, True] in order and [True, False] not in order
    ready = [sum(is_ready for _, is_ready in one.values()) for one in seen if len(one) == len(PODS)]
    assert min(ready) == 1, seen


def sorted_by_name(state: dict[str, tuple[str, bool]]) -> dict[str, tuple[str, bool]]:
    return dict(sorted(state.items()))


def test_a_group_goes_and_comes_and_the_other_stays(place: Path) -> None:
    before = uids()
    same = {"rolled": "twice"}
    upgraded(separate(place, groups=GROUPS[:1], podAnnotations=same))
    until(lambda: not kubectl("get", "pod", SECOND, "--ignore-not-found"), "one pod")
    upgraded(separate(place, podAnnotations=same))
    until(lambda: is_ready(SECOND), "two pods")
    after = uids()
    assert after[0] == before[0] and after[1] != before[1]
    kubectl("annotate", "pod", FIRST, "look=now", "--overwrite")
    with traffic("others", seconds=10) as run:
        proven(run.summary())
    assert not any("refused" in message for message in messages(FIRST))
