# SPDX-License-Identifier: BSD-3-Clause
"""The node of the lab: its tools, and the pods of the tests. `run` beside this file starts it."""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from patience import TIMEOUT, until
from vcmts.paths import CHECKOUT
from vcmts.profile.server import write_item

Json = dict[str, Any]
CHART = CHECKOUT / "build-chart" / "vcmts"  # assembled by `run` beside this file
LAB_VALUES = CHECKOUT / "deploy" / "helm" / "vcmts" / "ci" / "lab.yaml"
NAMESPACE = "vcmts-lab"
RELEASE = "lab"
POD = "lab-vcmts-0"
GROUPS = (1, 2)
IMAGE = os.environ.get("K8S_IMAGE_NAME", "localhost/vcmts:dev")
NETWORKS = {"vcmts-network": "lab-network", "vcmts-rphy": "lab-rphy"}  # bridges of the node


def called(*command: str | Path, given: str | None = None, fails: bool = False) -> str:
    """What it prints, or complains of where it is to fail."""
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert (done.returncode != 0) == fails, f"{command}: {done.stdout}{done.stderr}"
    return done.stderr if fails else done.stdout


def kubectl(*words: str | Path, given: str | None = None, fails: bool = False) -> str:
    return called("kubectl", "-n", NAMESPACE, *words, given=given, fails=fails)


def objects(*words: str) -> list[Json]:
    found: Json = json.loads(kubectl("get", *words, "-o", "json"))
    return list(found["items"]) if "items" in found else [found]


def helm(*words: str | Path, fails: bool = False) -> str:
    return called("helm", "-n", NAMESPACE, *words, fails=fails)


def values(folder: Path, **more: Any) -> Path:
    """Those of the lab, with others beside and instead of them."""
    path = folder / "values.yaml"
    given = yaml.safe_load(LAB_VALUES.read_text(encoding="utf-8"))
    name, _, tag = IMAGE.rpartition(":")
    given["image"] |= {"repository": name, "tag": tag}
    path.write_text(yaml.safe_dump(given | more), encoding="utf-8")
    return path


def pod(name: str = POD) -> Json:
    return objects("pod", name)[0]


def status(name: str = POD) -> Json:
    """Of the only container."""
    found: list[Json] = pod(name)["status"].get("containerStatuses", [])
    return found[0] if found else {}


def is_ready(name: str = POD) -> bool:
    found = kubectl("get", "pod", name, "--ignore-not-found", "-o", "json")
    return bool(found) and bool(status(name).get("ready"))


def logs(name: str = POD) -> list[Json]:
    """Lines that are JSON."""
    lines = kubectl("logs", name).splitlines()
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def messages(name: str = POD) -> list[str]:
    return [str(line.get("message")) for line in logs(name)]


def until_said(part: str, name: str = POD) -> None:
    until(lambda: any(part in message for message in messages(name)), part)


def termination(name: str) -> tuple[str, int]:
    """Message and exit status of a container that ended, once it has."""

    def ended() -> Json:
        found = status(name)
        states = (found.get("state", {}), found.get("lastState", {}))
        return next((state["terminated"] for state in states if "terminated" in state), {})

    until(lambda: bool(ended()), f"the end of {name}")
    return str(ended().get("message", "")).strip(), int(ended()["exitCode"])


def namespace_made() -> None:
    manifests: list[Json] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    ]
    for name, bridge in NETWORKS.items():
        config = {"cniVersion": "0.4.0", "name": name, "type": "bridge", "bridge": bridge}
        manifests.append(
            {
                "apiVersion": "k8s.cni.cncf.io/v1",
                "kind": "NetworkAttachmentDefinition",
                "metadata": {"name": name, "namespace": NAMESPACE},
                "spec": {"config": json.dumps(config)},
            }
        )
    kubectl("apply", "-f", "-", given=yaml.safe_dump_all(manifests))


def profile() -> str:
    name: str = yaml.safe_load(LAB_VALUES.read_text(encoding="utf-8"))["defaults"]["profile"]
    return name


def traffic_config(folder: Path) -> None:
    """The same groups as a ConfigMap for the traffic program."""
    names = [f"sg-{group}.yaml" for group in GROUPS]
    for group, name in zip(GROUPS, names, strict=True):
        with (folder / name).open("w", encoding="utf-8") as out:
            write_item(profile(), group, out)
    items = [
        {"service_group": group, "file": name} for group, name in zip(GROUPS, names, strict=True)
    ]
    (folder / "server.yaml").write_text(yaml.safe_dump({"service_groups": items}))
    files = [f"--from-file={folder / name}" for name in ("server.yaml", *names)]
    kubectl("create", "configmap", "traffic", *files)


DEVICES = ("--network=net_af_packet0,iface=net1", "--rphy=net_af_packet1,iface=net2")


def traffic_pod(name: str, seconds: int, rate: str, config: str) -> Json:
    """The traffic program of the same image, on the other ends of the two networks."""
    mounts = [("config", "/etc/traffic"), ("run", "/run/vcmts")]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {"app": "traffic"},
            "annotations": {
                "k8s.v1.cni.cncf.io/networks": json.dumps(
                    [
                        {"name": network, "interface": f"net{place}"}
                        for place, network in enumerate(NETWORKS, 1)
                    ]
                )
            },
        },
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {
                    "name": "traffic",
                    "image": IMAGE,
                    "imagePullPolicy": "Never",
                    "command": [
                        *("vcmts-traffic", f"--config=/etc/traffic/{config}", *DEVICES),
                        *(f"--duration={seconds}s", f"--rate={rate}", f"--upstream-rate={rate}"),
                        "--json=/dev/stdout",
                    ],
                    "securityContext": {
                        "runAsUser": 0,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"], "add": ["NET_RAW", "NET_ADMIN"]},
                    },
                    "volumeMounts": [{"name": n, "mountPath": path} for n, path in mounts],
                }
            ],
            "volumes": [
                {"name": "config", "configMap": {"name": "traffic"}},
                {"name": "run", "emptyDir": {"medium": "Memory"}},
            ],
        },
    }


@dataclass(frozen=True)
class Traffic:
    """A run of the traffic program, and what came of it."""

    name: str

    def is_over(self) -> bool:
        return pod(self.name)["status"]["phase"] in ("Succeeded", "Failed")

    def summary(self) -> Json:
        until(self.is_over, f"the end of {self.name}")
        text = kubectl("logs", self.name)
        found = re.search(r"^\{$.*^\}$", text, re.MULTILINE | re.DOTALL)
        assert found, text
        summary: Json = json.loads(found[0])
        return summary


# With one core for pods nothing is left to ask for, and what asks for nothing gets what nobody else
# wants: on a busy machine next to nothing. The kubelet puts it back once a minute.
SHARES = """while sleep 1; do
    echo 1024 >/sys/fs/cgroup/cpu/kubepods/besteffort/cpu.shares
done"""


@contextmanager
def shares_for_all() -> Iterator[None]:
    """Where control groups of version 1 are in use."""
    lab = os.environ["K8S_LAB_COMMAND"]
    with subprocess.Popen([lab, "exec", "sh", "-c", SHARES], stderr=subprocess.DEVNULL) as loop:
        try:
            yield
        finally:
            loop.kill()


@contextmanager
def traffic(
    name: str, seconds: int, rate: str = "500kbps", config: str = "server.yaml"
) -> Iterator[Traffic]:
    """Sends both ways from now on, for so long; at a rate that lets a socket wait for seconds."""
    kubectl("apply", "-f", "-", given=yaml.safe_dump(traffic_pod(name, seconds, rate, config)))
    try:
        until(lambda: pod(name)["status"]["phase"] != "Pending", name)
        yield Traffic(name)
    finally:
        kubectl("delete", "pod", name, "--ignore-not-found", "--timeout=120s")


def proven(summary: Json) -> None:
    """Every packet of both directions came, as it was sent."""
    for direction in ("downstream", "upstream"):
        told = {key: summary[direction][key] for key in ("sent", "proven", "lost", "corrupted")}
        assert told["sent"] > 100, f"{direction}: {told}"
        wanted = {"sent": told["sent"], "proven": told["sent"], "lost": 0, "corrupted": 0}
        assert told == wanted, f"{direction}: {told}, {summary[direction].get('descheduled')}"


def accounts(lines: Sequence[str]) -> list[dict[str, int]]:
    """What the groups counted, by the lines that a pod writes at its end."""
    counts = [line.partition("; drops:")[0] for line in lines]
    found = [re.findall(r"(received|transmitted|dropped|held) (\d+)", line) for line in counts]
    return [{key: int(value) for key, value in pairs} for pairs in found if len(pairs) == 4]


def reasons(line: str) -> dict[str, int]:
    """Of the drops in such a line."""
    return {
        name: int(count)
        for name, count in re.findall(r"(\w+) (\d+)", line.partition("; drops:")[2])
    }


def huge_pages_free() -> int:
    text = Path("/proc/meminfo").read_text(encoding="utf-8")
    return int(re.findall(r"HugePages_Free:\s+(\d+)", text)[0])


def no_pods() -> None:
    until(lambda: not objects("pods", "-l", "app.kubernetes.io/name=vcmts"), "no pod")


@contextmanager
def lab_place() -> Iterator[Path]:
    """A namespace of our own, and a folder; nothing is left of either."""
    with tempfile.TemporaryDirectory(prefix="k8s-") as name, shares_for_all():
        namespace_made()
        traffic_config(Path(name))
        yield Path(name)
        helm("uninstall", RELEASE, "--ignore-not-found")
        kubectl("delete", "namespace", NAMESPACE, "--timeout=120s")
