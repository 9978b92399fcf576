# SPDX-License-Identifier: BSD-3-Clause
"""Makes both CPUs of a two-core node allocatable, as shared instead of exclusive CPUs."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from k8s.lab import run_command
from patience import until

# The CPU manager's state file names its policy; a kubelet with another policy refuses to start.
RESTART = """rm -f /var/lib/kubelet/cpu_manager_state
kill "$(pgrep -x kubelet)"
sleep 0.3
rm -f /var/lib/kubelet/cpu_manager_state"""


def allocatable() -> int:
    """The number of whole CPUs for pods."""
    return int(
        run_command("kubectl", "get", "node", "-o", "jsonpath={.items[0].status.allocatable.cpu}")
    )


def reconfigure(path: Path, text: str, wanted: int) -> None:
    """Kills the kubelet, which its supervisor starts with the new configuration."""
    path.write_text(text, encoding="utf-8")
    run_command(os.environ["K8S_LAB_COMMAND"], "exec", "sh", "-c", RESTART)
    until(lambda: allocatable() == wanted, f"{wanted} allocatable CPUs")
    run_command("kubectl", "wait", "--for=condition=Ready", "node", "--all", "--timeout=120s")


@contextmanager
def cpus_for_two_pods() -> Iterator[None]:
    """Changes nothing if the node has enough CPUs for pods. Restores the configuration at exit."""
    before = allocatable()
    if before >= 2:
        yield
        return
    path = Path(os.environ["KUBECONFIG"]).parent / "kubelet.yaml"
    text = path.read_text(encoding="utf-8")
    without = re.sub(r"^reservedSystemCPUs:.*\n", "", text, flags=re.MULTILINE)
    reconfigure(path, re.sub(r"(?<=cpuManagerPolicy: ).*", "none", without), wanted=2)
    try:
        yield
    finally:
        reconfigure(path, text, before)
