# SPDX-License-Identifier: BSD-3-Clause
"""Room for two pods on a node of two cores: its kubelet keeps none, and none is a pod's own."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from k8s.lab import called
from patience import until

# The state of the CPU manager names its policy: a kubelet of another one does not start with it.
AGAIN = """rm -f /var/lib/kubelet/cpu_manager_state
kill "$(pgrep -x kubelet)"
sleep 0.3
rm -f /var/lib/kubelet/cpu_manager_state"""


def allocatable() -> int:
    """Whole CPUs for pods."""
    return int(
        called("kubectl", "get", "node", "-o", "jsonpath={.items[0].status.allocatable.cpu}")
    )


def configured(path: Path, text: str, wanted: int) -> None:
    """The kubelet by another configuration; what keeps its processes alive starts it again."""
    path.write_text(text, encoding="utf-8")
    called(os.environ["K8S_LAB_COMMAND"], "exec", "sh", "-c", AGAIN)
    until(lambda: allocatable() == wanted, f"a node of {wanted} CPUs")
    called("kubectl", "wait", "--for=condition=Ready", "node", "--all", "--timeout=120s")


@contextmanager
def for_two_pods() -> Iterator[None]:
    """Nothing is changed where there are enough."""
    before = allocatable()
    if before >= 2:
        yield
        return
    path = Path(os.environ["KUBECONFIG"]).parent / "kubelet.yaml"
    text = path.read_text(encoding="utf-8")
    without = re.sub(r"^reservedSystemCPUs:.*\n", "", text, flags=re.MULTILINE)
    configured(path, re.sub(r"(?<=cpuManagerPolicy: ).*", "none", without), wanted=2)
    try:
        yield
    finally:
        configured(path, text, before)
