# SPDX-License-Identifier: BSD-3-Clause
"""A container that is killed at a moment of a reload starts with the new files.

The kubelet restarts it in the same pod, so that it finds the files of the killed one."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from e2e.deploy.test_pod import Pod, config_yaml, mount_files, start_pod
from e2e.deploy.test_pod import folder as folder
from patience import TIMEOUT

SERVING = "serving service groups: 2"
Condition = Callable[[], bool]


def at_once(pod: Pod) -> Condition:
    return lambda: True


def when_validated(pod: Pod) -> Condition:
    return (pod.folder / "run" / "trial-vcmts.yaml").exists


def when_written(pod: Pod) -> Condition:
    path = pod.folder / "run" / "vcmts.yaml"
    before = path.stat().st_ino
    return lambda: path.stat().st_ino != before


def when_reloaded(pod: Pod) -> Condition:
    return lambda: pod.logged("reloaded: service group 1")


def kill_when(condition: Condition, process: int) -> None:
    """Polls without a pause: some moments last for milliseconds."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, "the moment did not come"
    os.kill(process, signal.SIGKILL)


def vcmtsd_of(pod: Pod) -> int:
    number = pod.process.pid
    (child,) = Path(f"/proc/{number}/task/{number}/children").read_text().split()
    return int(child)


def check_started(pod: Pod, rate: int) -> None:
    """The pod serves that rate, and nothing of an unfinished change is left."""
    pod.wait_for(SERVING)
    assert pod.channel_rates()[0] == f"{rate} Mbps"
    names = [path.name for path in (pod.folder / "run").iterdir()]
    assert not [one for one in names if one.startswith(("new-", "trial-"))], names


def test_killed_pod_starts_with_the_new_values(folder: Path) -> None:
    moments = (at_once, when_validated, when_written, when_reloaded)
    rate = 900
    for version, moment in enumerate([one for one in moments for _ in range(2)], start=2):
        with start_pod(folder) as pod:
            check_started(pod, rate)
            victim = vcmtsd_of(pod) if version % 2 else pod.process.pid
            condition = moment(pod)
            rate = 800 + version
            mount_files(folder / "config", version, vcmts=config_yaml(f"{rate} Mbps"))
            kill_when(condition, victim)
            assert pod.wait() == (137 if victim != pod.process.pid else -signal.SIGKILL)
    with start_pod(folder) as pod:
        check_started(pod, rate)
