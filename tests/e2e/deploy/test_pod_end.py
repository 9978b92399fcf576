# SPDX-License-Identifier: BSD-3-Clause
"""How vcmts pod ends: within the grace period, whatever it or vcmtsd is doing."""

import signal
from pathlib import Path

from e2e.deploy.test_pod import SERVES, Pod, mount, started, text
from e2e.deploy.test_pod import folder as pod_folder
from patience import until

assert pod_folder is not None  # the fixture


def test_a_vcmtsd_that_does_not_answer_is_ended(pod_folder: Path) -> None:
    with started(pod_folder, fake=SERVES) as pod:
        until(lambda: "serving" in (pod_folder / "log").read_text(), "serving")
        pod.process.send_signal(signal.SIGTERM)
        assert pod.ended() == 0
        assert pod.said("not drained: ")


def test_one_that_is_stopped_early_ends_well(pod_folder: Path) -> None:
    """Before it has a handler for the signal."""
    with started(pod_folder, fake="print('starts', file=sys.stderr); time.sleep(1e6)") as pod:
        until(lambda: "starts" in (pod_folder / "log").read_text(), "its start")
        pod.process.send_signal(signal.SIGTERM)
        assert pod.ended() == 0
    assert pod.termination() == ""


def test_a_stop_during_the_start(pod_folder: Path) -> None:
    told = "os.kill(os.getppid(), signal.SIGTERM)"
    with started(pod_folder, fake="sys.exit(1)", check=told) as pod:
        assert pod.ended() == 0
    assert pod.said("stopped before vcmtsd was started")
    assert pod.termination() == ""


HANGS = "print('checks', file=sys.stderr, flush=True); time.sleep(1e6)"


def test_a_stop_during_a_check_that_hangs(pod_folder: Path) -> None:
    """What was made for it is gone."""
    with started(
        pod_folder, fake=SERVES, check="open(sys.argv[0] + '.checks', 'w')\n    " + HANGS
    ) as pod:
        until((pod_folder / "build" / "src" / "vcmtsd.checks").exists, "its check")
        pod.process.send_signal(signal.SIGTERM)
        assert pod.ended() == 0
    assert pod.said("stopped before vcmtsd was started")
    assert [path.name for path in (pod_folder / "run").glob("*vcmts.yaml")] == []


RELOADS = """
import socket
path = sys.argv[sys.argv.index("--control-socket") + 1]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
signal.signal(signal.SIGTERM, {on_stop})
print("serving", file=sys.stderr, flush=True)
made = listener.accept()[0]
open(path + ".asked", "wb").write(made.recv(65536))
while True:
    time.sleep(0.1)
"""


def stopped_in_a_reload(pod: Pod) -> None:
    """While vcmtsd builds the tables of many modems, and answers nobody."""
    until(lambda: "serving" in (pod.folder / "log").read_text(), "serving")
    mount(pod.folder / "config", 2, vcmts=text("800 Mbps"))
    until((pod.folder / "run" / "control.sock.asked").exists, "the reload")
    pod.process.send_signal(signal.SIGTERM)


def test_a_stop_during_a_reload(pod_folder: Path) -> None:
    """Its answer is not waited for: the grace period is shorter."""
    ends = RELOADS.format(on_stop="lambda *_: sys.exit(0)")
    with started(pod_folder, "--drain", "1s", fake=ends) as pod:
        stopped_in_a_reload(pod)
        assert pod.ended() == 0
    assert pod.said("stopping: all service groups drain") and pod.said("not drained: ")
    assert not pod.said("not taken over") and not pod.said("refused")


def test_one_that_does_not_end_is_killed(pod_folder: Path) -> None:
    """Before the kubelet does it to both, which could not be told."""
    ignores = RELOADS.format(on_stop="signal.SIG_IGN")
    with started(pod_folder, "--drain", "1s", fake=ignores) as pod:
        stopped_in_a_reload(pod)
        assert pod.ended() == 128 + signal.SIGKILL
    assert pod.termination() == "vcmtsd did not end within 10 s of SIGTERM: killed\n"
