# SPDX-License-Identifier: BSD-3-Clause
"""Tests Secrets that are changed outside, and a pod that is killed at moments of a reload."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from k8s import processes
from k8s.lab import (
    CHART,
    GROUPS,
    POD,
    RELEASE,
    check_proven,
    helm,
    is_ready,
    kubectl,
    lab_folder,
    messages,
    objects,
    status,
    sync,
    termination,
    traffic,
    uid,
    values,
    wait_for_message,
    wait_for_new_pod,
    wait_for_ready,
)
from k8s.losses import record
from k8s.processes import Processes
from patience import until

SECRETS = [f"plant-sg-{group}" for group in GROUPS]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with lab_folder() as path:
        yield path


def put_secret(name: str, path: Path, text: str | None = None) -> None:
    """Creates or replaces a Secret as an operator does: with a group's file or another text."""
    source = f"file={path.name}={path}" if text is None else f"literal={path.name}={text}"
    kind = ("create", "secret", "generic", name, f"--from-{source}")
    manifest = kubectl(*kind, "--dry-run=client", "-o", "json")
    exists = kubectl("get", "secret", name, "--ignore-not-found")
    kubectl("replace" if exists else "create", "-f", "-", stdin=manifest)


def group_file(folder: Path, group: int, rate: str) -> Path:
    """The file of a group with another rate limit, in a folder of its own."""
    tree = yaml.safe_load((folder / f"sg-{group}.yaml").read_text(encoding="utf-8"))
    path = folder / "changed" / f"sg-{group}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(tree | {"rate_limit": rate}), encoding="utf-8")
    return path


def with_secrets(folder: Path, **secrets: object) -> Path:
    defaults = yaml.safe_load(values(folder).read_text())["defaults"]
    return values(folder, defaults=defaults | {"profile": ""}, secrets=secrets)


def rates() -> list[str]:
    """The rate limits in service, by group."""
    reply = kubectl("exec", POD, "--", "vcmts", "control", "config.get", "--json")
    groups = json.loads(reply)["config"]["service_groups"]
    return [str(group.get("rate_limit")) for group in groups]


def test_changed_secret_is_reloaded_without_loss(folder: Path) -> None:
    for group, name in zip(GROUPS, SECRETS, strict=True):
        put_secret(name, folder / f"sg-{group}.yaml")
    helm("install", RELEASE, CHART, "-f", with_secrets(folder, existing=SECRETS))
    wait_for_ready()
    before = uid()
    with traffic("secret", seconds=60) as run:
        put_secret(SECRETS[0], group_file(folder, 1, "3 Gbps"))
        sync()
        wait_for_message("reloaded: service group 1")
        assert not run.is_over(), "the traffic ended before the change"
        summary = run.summary()
    record("a Secret of secrets.existing is changed", summary)
    check_proven(summary)
    assert rates()[0] == "3 Gbps" and uid() == before and status()["restartCount"] == 0


def test_wrong_or_deleted_secret_is_refused(folder: Path) -> None:
    """The pod continues to serve, but cannot start again until the Secret is mended."""
    put_secret(SECRETS[0], folder / "sg-1.yaml", "modems: 7")
    sync()
    wait_for_message("sg-1.yaml")
    wait_for_message("refused: ")
    kubectl("delete", "secret", SECRETS[1])
    sync()
    wait_for_message("sg-2.yaml: No such file or directory")
    assert is_ready() and status()["restartCount"] == 0 and rates()[0] == "3 Gbps"
    with traffic("refused", seconds=5) as run:
        check_proven(run.summary())
    kubectl("delete", "pod", POD)
    printed, exit_status = termination(POD)
    assert "sg-2.yaml: No such file or directory; is the Secret" in printed and exit_status == 2
    for group, name in zip(GROUPS, SECRETS, strict=True):
        put_secret(name, group_file(folder, group, "2 Gbps"))
    wait_for_ready()  # the kubelet restarts it
    assert rates() == ["2 Gbps"] * 2


def test_upgrade_restores_the_charts_own_secret(folder: Path) -> None:
    """`kubectl edit` of it is applied, but lasts until the next upgrade."""
    files = {f"sg-{group}.yaml": (folder / f"sg-{group}.yaml").read_text() for group in GROUPS}
    path = with_secrets(folder, files=files)
    before = uid()
    helm("upgrade", RELEASE, CHART, "-f", path)
    wait_for_new_pod(before)
    text = group_file(folder, 1, "4 Gbps").read_bytes()
    patch = {"data": {"sg-1.yaml": base64.b64encode(text).decode()}}
    (folder / "patch.json").write_text(json.dumps(patch))
    name = f"{RELEASE}-vcmts"
    kubectl("patch", "secret", name, "--type=merge", f"--patch-file={folder / 'patch.json'}")
    sync()
    until(lambda: rates()[0] == "4 Gbps", "the edited Secret in service")
    helm("upgrade", RELEASE, CHART, "-f", path)
    sync()
    until(lambda: rates()[0] != "4 Gbps", "the chart's Secret in service")
    data = objects("secret", name)[0]["data"]
    assert base64.b64decode(data["sg-1.yaml"]).decode() == files["sg-1.yaml"]


Moment = Callable[[Processes], Callable[[], bool]]


def when_mounted(found: Processes) -> Callable[[], bool]:
    before = found.mounted()
    return lambda: found.mounted() != before


def when_validated(found: Processes) -> Callable[[], bool]:
    return (found.run_folder() / "trial-vcmts.yaml").exists


def when_written(found: Processes) -> Callable[[], bool]:
    before = found.configuration()
    return lambda: found.configuration() != before


def when_reloaded(found: Processes) -> Callable[[], bool]:
    written = when_written(found)
    return lambda: written() and any("reloaded: service group" in m for m in messages())


@pytest.fixture(scope="module")
def installed(folder: Path) -> Path:
    """The release with groups of a profile, instead of Secrets."""
    helm("uninstall", RELEASE, "--ignore-not-found", "--wait")
    helm("install", RELEASE, CHART, "-f", values(folder))
    wait_for_ready()
    return folder


def replace_restarted_pod() -> None:
    """The kubelet restarts a container of a new pod at once, and later ones after a delay."""
    if status()["restartCount"] == 0:
        return
    before = uid()
    kubectl("delete", "pod", POD)
    wait_for_new_pod(before)


@pytest.mark.parametrize("victim", ["first", "vcmtsd"])
@pytest.mark.parametrize(
    "moment", [when_mounted, when_validated, when_written, when_reloaded], ids=lambda m: m.__name__
)
def test_killed_pod_starts_with_the_new_values(
    installed: Path, moment: Moment, victim: str
) -> None:
    """The kubelet restarts the container in the same pod: with files that it left in /run/vcmts."""
    replace_restarted_pod()
    old = rates()[0]
    new = "3 Gbps" if old != "3 Gbps" else "2 Gbps"
    found = processes.find()
    condition = moment(found)
    defaults = yaml.safe_load(values(installed).read_text())["defaults"]
    changed = values(installed, defaults=defaults | {"config": {"rate_limit": new}})
    helm("upgrade", RELEASE, CHART, "-f", changed)
    sync()
    processes.kill_when(condition, getattr(found, victim))
    until(lambda: status().get("restartCount") == 1 and is_ready(), "the restarted container")
    assert rates() == [new] * 2
    names = {path.name for path in processes.find().run_folder().iterdir()}
    assert not any(name.startswith(("new-", "trial-")) for name in names), names


def test_killed_pod_loses_packets_until_it_serves_again(installed: Path) -> None:
    replace_restarted_pod()
    with traffic("killed", seconds=60) as run:
        found = processes.find()
        processes.kill_when(lambda: True, found.vcmtsd)
        until(lambda: status().get("restartCount") == 1 and is_ready(), "the restart")
        record("vcmtsd or the container is killed", run.summary())
    with traffic("again", seconds=5) as run:
        check_proven(run.summary())
