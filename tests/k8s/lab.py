# SPDX-License-Identifier: BSD-3-Clause
"""Runs kubectl, helm and traffic pods on the lab's node, which `run` beside this file starts."""

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from patience import TIMEOUT, until
from vcmts.paths import CHECKOUT
from vcmts.profile.server import write_group_file

Json = dict[str, Any]
CHART = CHECKOUT / "build-chart" / "vcmts"  # assembled by `run` beside this file
LAB_VALUES = CHECKOUT / "deploy" / "helm" / "vcmts" / "ci" / "lab.yaml"
NAMESPACE = "vcmts-lab"
RELEASE = "lab"
POD = "lab-vcmts-0"
GROUPS = (1, 2)
IMAGE = os.environ.get("K8S_IMAGE_NAME", "localhost/vcmts:dev")
NETWORKS = {"vcmts-network": "lab-network", "vcmts-rphy": "lab-rphy"}  # bridge by network


def run_command(*command: str | Path, stdin: str | None = None, fails: bool = False) -> str:
    """Runs a command. Returns its output, or its error output if it is expected to fail."""
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert (done.returncode != 0) == fails, f"{command}: {done.stdout}{done.stderr}"
    return done.stderr if fails else done.stdout


def kubectl(*arguments: str | Path, stdin: str | None = None, fails: bool = False) -> str:
    return run_command("kubectl", "-n", NAMESPACE, *arguments, stdin=stdin, fails=fails)


def objects(*arguments: str) -> list[Json]:
    result: Json = json.loads(kubectl("get", *arguments, "-o", "json"))
    return list(result["items"]) if "items" in result else [result]


def helm(*arguments: str | Path, fails: bool = False) -> str:
    return run_command("helm", "-n", NAMESPACE, *arguments, fails=fails)


def values(folder: Path, **changes: Any) -> Path:
    """Writes the lab's values file, with changes."""
    path = folder / "values.yaml"
    tree = yaml.safe_load(LAB_VALUES.read_text(encoding="utf-8"))
    name, _, tag = IMAGE.rpartition(":")
    tree["image"] |= {"repository": name, "tag": tag}
    path.write_text(yaml.safe_dump(tree | changes), encoding="utf-8")
    return path


def pod(name: str = POD) -> Json:
    return objects("pod", name)[0]


def status(name: str = POD) -> Json:
    """Status of the pod's only container."""
    result: list[Json] = pod(name)["status"].get("containerStatuses", [])
    return result[0] if result else {}


def is_ready(name: str = POD) -> bool:
    result = kubectl("get", "pod", name, "--ignore-not-found", "-o", "json")
    return bool(result) and bool(status(name).get("ready"))


def logs(name: str = POD) -> list[Json]:
    """The JSON lines of the log."""
    lines = kubectl("logs", name).splitlines()
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def messages(name: str = POD) -> list[str]:
    return [str(line.get("message")) for line in logs(name)]


def wait_for_message(part: str, name: str = POD) -> None:
    until(lambda: any(part in message for message in messages(name)), part)


def sync(name: str = POD) -> None:
    """Makes the kubelet update the pod's volumes now, by a changed annotation."""
    kubectl("annotate", "pod", name, f"sync={time.monotonic_ns()}", "--overwrite")


def uid(name: str = POD) -> str:
    return str(pod(name)["metadata"]["uid"])


def wait_for_new_pod(before: str, name: str = POD) -> None:
    """Waits until another pod than that with the UID `before` is ready."""
    until(lambda: is_ready(name) and uid(name) != before, f"the new {name}")


def wait_for_ready(name: str = POD) -> None:
    until(lambda: is_ready(name), f"{name} ready")


def termination(name: str) -> tuple[str, int]:
    """Message and exit status of a container. Waits until it has exited."""

    def terminated() -> Json:
        result = status(name)
        states = (result.get("state", {}), result.get("lastState", {}))
        return next((state["terminated"] for state in states if "terminated" in state), {})

    until(lambda: bool(terminated()), f"exit of {name}")
    return str(terminated().get("message", "")).strip(), int(terminated()["exitCode"])


def create_namespace() -> None:
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
    kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(manifests))


def profile() -> str:
    name: str = yaml.safe_load(LAB_VALUES.read_text(encoding="utf-8"))["defaults"]["profile"]
    return name


def create_traffic_config(folder: Path) -> None:
    """Creates a ConfigMap with the same groups for the traffic program."""
    names = [f"sg-{group}.yaml" for group in GROUPS]
    for group, name in zip(GROUPS, names, strict=True):
        with (folder / name).open("w", encoding="utf-8") as out:
            write_group_file(profile(), group, out)
    items = [
        {"service_group": group, "file": name} for group, name in zip(GROUPS, names, strict=True)
    ]
    (folder / "server.yaml").write_text(yaml.safe_dump({"service_groups": items}))
    files = [f"--from-file={folder / name}" for name in ("server.yaml", *names)]
    kubectl("create", "configmap", "traffic", *files)


DEVICES = ("--network=net_af_packet0,iface=net1", "--rphy=net_af_packet1,iface=net2")


def traffic_pod(name: str, seconds: int, rate: str, config: str) -> Json:
    """A pod that runs the traffic program at the other ends of the two networks."""
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
                        {"name": network, "interface": f"net{number}"}
                        for number, network in enumerate(NETWORKS, 1)
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
    """A run of the traffic program in a pod."""

    name: str

    def is_over(self) -> bool:
        return pod(self.name)["status"]["phase"] in ("Succeeded", "Failed")

    def summary(self) -> Json:
        until(self.is_over, f"the exit of {self.name}")
        text = kubectl("logs", self.name)
        result = re.search(r"^\{$.*^\}$", text, re.MULTILINE | re.DOTALL)
        assert result, text
        summary: Json = json.loads(result[0])
        return summary


# The only CPU for pods belongs to vcmtsd, so the traffic pod cannot request one. Without a request
# it starves on a busy machine. The kubelet resets cpu.shares once per minute.
SHARES = """while sleep 1; do
    for class in besteffort burstable; do
        echo 1024 >/sys/fs/cgroup/cpu/kubepods/$class/cpu.shares
    done
done"""


@contextmanager
def equal_cpu_shares() -> Iterator[None]:
    """Gives pods without a CPU request, such as that of `helm test`, a normal share of the CPU.
    Only cgroups v1 need it."""
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
    """Runs the traffic program in both directions, slowly: sockets buffer seconds of it."""
    kubectl("apply", "-f", "-", stdin=yaml.safe_dump(traffic_pod(name, seconds, rate, config)))
    try:
        until(lambda: pod(name)["status"]["phase"] != "Pending", name)
        yield Traffic(name)
    finally:
        kubectl("delete", "pod", name, "--ignore-not-found", "--timeout=120s")


def check_proven(summary: Json) -> None:
    """All packets of both directions arrived unchanged."""
    for direction in ("downstream", "upstream"):
        counts = {key: summary[direction][key] for key in ("sent", "proven", "lost", "corrupted")}
        assert counts["sent"] > 100, f"{direction}: {counts}"
        expected = {"sent": counts["sent"], "proven": counts["sent"], "lost": 0, "corrupted": 0}
        descheduled = summary[direction].get("descheduled")
        assert counts == expected, f"{direction}: {counts}, {descheduled}"


def final_counters(lines: Sequence[str]) -> list[dict[str, int]]:
    """The groups' packet counters, from the lines that vcmtsd logs when it stops."""
    parts = [line.partition("; drops:")[0] for line in lines]
    result = [re.findall(r"(received|transmitted|dropped|held) (\d+)", line) for line in parts]
    return [{key: int(value) for key, value in pairs} for pairs in result if len(pairs) == 4]


def drops_by_reason(line: str) -> dict[str, int]:
    """The drops by reason, from such a line."""
    return {
        name: int(count)
        for name, count in re.findall(r"(\w+) (\d+)", line.partition("; drops:")[2])
    }


def has_drained(log: str) -> bool:
    """Whether a pod's log says that everything complete was sent before its end."""
    return (
        re.search(r"drained: (nothing is|only \d+ incomplete packets are) pending", log) is not None
    )


def huge_pages_free() -> int:
    text = Path("/proc/meminfo").read_text(encoding="utf-8")
    return int(re.findall(r"HugePages_Free:\s+(\d+)", text)[0])


def wait_for_no_pods() -> None:
    until(lambda: not objects("pods", "-l", "app.kubernetes.io/name=vcmts"), "no pod")


@contextmanager
def lab_folder() -> Iterator[Path]:
    """Creates the lab's namespace and a folder; removes both at exit."""
    with tempfile.TemporaryDirectory(prefix="k8s-") as name, equal_cpu_shares():
        create_namespace()
        create_traffic_config(Path(name))
        yield Path(name)
        helm("uninstall", RELEASE, "--ignore-not-found")
        kubectl("delete", "namespace", NAMESPACE, "--timeout=120s")
