# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts pod` ends within the grace period after SIGTERM, in every state."""

import signal
from pathlib import Path

from e2e.deploy.test_pod import SERVER_BODY, Pod, config_yaml, mount_files, start_pod
from e2e.deploy.test_pod import folder as pod_folder
from patience import until

assert pod_folder is not None  # the fixture


def test_vcmtsd_without_control_socket_is_terminated(pod_folder: Path) -> None:
    with start_pod(pod_folder, fake=SERVER_BODY) as pod:
        until(lambda: "serving" in (pod_folder / "log").read_text(), "serving")
        pod.process.send_signal(signal.SIGTERM)
        assert pod.wait() == 0
        assert pod.logged("not drained: ")


def test_stop_before_signal_handler_ends_with_0(pod_folder: Path) -> None:
    """SIGTERM arrives before vcmtsd has a handler for it."""
    with start_pod(pod_folder, fake="print('starts', file=sys.stderr); time.sleep(1e6)") as pod:
        until(lambda: "starts" in (pod_folder / "log").read_text(), "start")
        pod.process.send_signal(signal.SIGTERM)
        assert pod.wait() == 0
    assert pod.termination() == ""


def test_stop_during_first_check_ends_with_0(pod_folder: Path) -> None:
    stop = "os.kill(os.getppid(), signal.SIGTERM)"
    with start_pod(pod_folder, fake="sys.exit(1)", check=stop) as pod:
        assert pod.wait() == 0
    assert pod.logged("stopped before vcmtsd was started")
    assert pod.termination() == ""


HANG = "print('checks', file=sys.stderr, flush=True); time.sleep(1e6)"


def test_stop_during_hanging_check_ends_with_0(pod_folder: Path) -> None:
    """Temporary files of the check are removed."""
    with start_pod(
        pod_folder, fake=SERVER_BODY, check="open(sys.argv[0] + '.checks', 'w')\n    " + HANG
    ) as pod:
        until((pod_folder / "build" / "src" / "vcmtsd.checks").exists, "check")
        pod.process.send_signal(signal.SIGTERM)
        assert pod.wait() == 0
    assert pod.logged("stopped before vcmtsd was started")
    assert [path.name for path in (pod_folder / "run").glob("*vcmts.yaml")] == []


HANGING_RELOAD = """
import socket
path = sys.argv[sys.argv.index("--control-socket") + 1]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
signal.signal(signal.SIGTERM, {on_stop})
print("serving", file=sys.stderr, flush=True)
client = listener.accept()[0]
open(path + ".request", "wb").write(client.recv(65536))
while True:
    time.sleep(0.1)
"""


def stop_during_reload(pod: Pod) -> None:
    """Sends SIGTERM during a reload that vcmtsd does not answer."""
    until(lambda: "serving" in (pod.folder / "log").read_text(), "serving")
    mount_files(pod.folder / "config", 2, vcmts=config_yaml("800 Mbps"))
    until((pod.folder / "run" / "control.sock.request").exists, "the reload")
    pod.process.send_signal(signal.SIGTERM)


def test_stop_during_reload_ends_with_0(pod_folder: Path) -> None:
    """It does not wait for the answer of the reload."""
    body = HANGING_RELOAD.format(on_stop="lambda *_: sys.exit(0)")
    with start_pod(pod_folder, "--drain", "1s", fake=body) as pod:
        stop_during_reload(pod)
        assert pod.wait() == 0
    assert pod.logged("stopping: draining all service groups") and pod.logged("not drained: ")
    assert not pod.logged("reload failed") and not pod.logged("refused")


def test_vcmtsd_that_ignores_sigterm_is_killed(pod_folder: Path) -> None:
    """It is killed before the kubelet kills both, so that the reason is reported."""
    body = HANGING_RELOAD.format(on_stop="signal.SIG_IGN")
    with start_pod(pod_folder, "--drain", "1s", fake=body) as pod:
        stop_during_reload(pod)
        assert pod.wait() == 128 + signal.SIGKILL
    assert pod.termination() == "vcmtsd did not end within 10 s of SIGTERM: killed\n"
