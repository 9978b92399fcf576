# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts pod` as a kubelet runs it: mounted files, signals, exit status, termination message."""

import ctypes
import json
import os
import signal
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.control.server import TOOL_WITHOUT_QUOTA, config_folder, config_text
from e2e.running import stop_process
from patience import TIMEOUT, until
from vcmts.control.client import Client
from vcmts.paths import CHECKOUT, build_directory, program

VARIABLES = {"PCIDEVICE_LAB": "net_null0,net_null1"}
SUBREAPER = 36  # prctl: orphans become its children, like those of a container's first process
FAKE_VCMTSD = """#!{python}
import os, signal, sys, time
if sys.argv[1] == "check":
    {check}
    os.execv("{vcmtsd}", ["vcmtsd", *sys.argv[1:]])
{body}
"""


def mount_files(folder: Path, version: int, **files: str) -> None:
    """Replaces files as the kubelet does: writes a new folder, and renames the link ..data to
    it."""
    version_folder = folder / f"..{version}"
    version_folder.mkdir(parents=True)
    for name, config_yaml in files.items():
        (version_folder / f"{name}.yaml").write_text(config_yaml)
        link = folder / f"{name}.yaml"
        if not link.is_symlink():
            link.symlink_to(f"..data/{name}.yaml")
    (folder / "..new").symlink_to(version_folder.name)
    (folder / "..new").rename(folder / "..data")


def config_yaml(rate: str = "900 Mbps", options: str = "") -> str:
    """A server of two groups. The configuration of the second is a file of the Secret."""
    lines = config_text(rate).splitlines(keepends=True)[2:]
    first_group = "".join(f"    {line}" for line in lines)
    # device plugins set a variable with a list of devices, separated by commas
    devices = "{network: {device: '${PCIDEVICE_LAB[0]},no-rx=1', vlan: %d}, "
    devices += "rphy: {device: '${PCIDEVICE_LAB[1]},no-rx=1', vlan: %d}}"
    return (
        f"name: lab\npower: {{idle: sleep}}\n{options}service_groups:\n"
        f"  - service_group: 1\n    ports: {devices % (101, 101)}\n{first_group}"
        f"  - {{service_group: 2, file: ../secret/sg-2.yaml, ports: {devices % (102, 102)}}}\n"
    )


INVALID_FILES = (  # and their messages
    (
        config_yaml().replace("../secret/sg-2.yaml", '"a\\0b"'),
        ": embedded null byte; is the Secret or ConfigMap",
    ),
    (config_yaml() + "x: " + "[" * 200_000 + "\n", ": maps and lists in more than 64 levels"),
)


@dataclass
class Pod:
    folder: Path
    process: "subprocess.Popen[str]"

    def log(self) -> list[dict[str, str]]:
        lines = (self.folder / "log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]

    def logged(self, part: str) -> bool:
        return any(part in line["message"] for line in self.log())

    def wait_for(self, part: str) -> None:
        until(lambda: self.logged(part) or self.process.poll() is not None, part)
        assert self.logged(part), (self.folder / "log").read_text()

    def url(self) -> str:
        return next(line["url"] for line in self.log() if "url" in line).removesuffix("/metrics")

    def ask(self, path: str) -> tuple[int, str]:
        """Gets a path of the HTTP server. Returns the status and the text."""
        try:
            with urllib.request.urlopen(self.url() + path, timeout=TIMEOUT) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def channel_rates(self) -> list[str]:
        with Client(self.folder / "run" / "control.sock", TIMEOUT) as client:
            groups = client.call("config.get")["config"]["service_groups"]
        return [group["channels"][0]["rate"] for group in groups]

    def refused_changes(self) -> int:
        page = self.ask("/metrics?names=vcmts_changes")[1]
        return int(page.split('vcmts_changes_total{result="refused"} ')[1].split()[0])

    def wait(self) -> int:
        return self.process.wait(TIMEOUT)

    def termination(self) -> str:
        path = self.folder / "termination"
        return path.read_text() if path.exists() else ""


def become_subreaper() -> None:
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


@pytest.fixture
def folder() -> Iterator[Path]:
    with config_folder() as path:
        (path / "secret").mkdir()
        (path / "secret" / "sg-2.yaml").write_text("".join(config_text().splitlines(True)[2:]))
        mount_files(path / "config", 1, vcmts=config_yaml())
        yield path


@contextmanager
def start_pod(
    folder: Path, *options: str, fake: str = "", check: str = "pass", **environment: str
) -> Iterator[Pod]:
    """Runs `vcmts pod`. `fake`: Python code that replaces vcmtsd, except for `vcmtsd check`, before
    which it runs the code `check`. `environment`: more variables."""
    build = build_directory().resolve()
    if fake:
        build = folder / "build"
        (build / "src").mkdir(parents=True)
        script = build / "src" / "vcmtsd"
        script.write_text(
            FAKE_VCMTSD.format(
                python=sys.executable, vcmtsd=program("vcmtsd").resolve(), body=fake, check=check
            )
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    settings = VARIABLES | {
        "PYTHONPATH": str(CHECKOUT / "tools"),
        "VCMTS_BUILD": str(build),
        "VCMTS_TERMINATION_LOG": str(folder / "termination"),
    }
    paths = ("--config", folder / "config" / "vcmts.yaml", "--secret", folder / "secret")
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [
                *(sys.executable, "-c", TOOL_WITHOUT_QUOTA, "pod", *paths, "--run", folder / "run"),
                *("--metrics", "127.0.0.1:0", *options),
            ],
            env=os.environ | settings | environment,
            stderr=log,
            text=True,
            preexec_fn=become_subreaper,
        ) as process,
    ):
        try:
            yield Pod(folder, process)
        finally:
            stop_process(process)


def check_invalid_files_are_refused(pod: Pod) -> None:
    """Mounts invalid files, and then a valid one beside a file of another pod."""
    before = pod.refused_changes()
    for number, (invalid, message) in enumerate(INVALID_FILES, start=1):
        mount_files(pod.folder / "config", 10 + number, vcmts=invalid)
        pod.wait_for(message)
    until(lambda: pod.refused_changes() == before + len(INVALID_FILES), "both refused")
    mount_files(pod.folder / "config", 20, vcmts=config_yaml("700 Mbps"), other=config_yaml())
    assert pod.channel_rates() == ["700 Mbps", "600 Mbps"]


def test_pod_applies_changes_and_drains(folder: Path) -> None:
    """Start, changes applied and refused, reload by SIGHUP, drain and end by SIGTERM."""
    with start_pod(folder, "--drain", "60s", "--", "--log-level", "debug") as pod:
        pod.wait_for("serving service groups: 2, with 8 modems")
        until(lambda: pod.ask("/ready") == (200, "ready\n"), "ready")
        until(lambda: pod.ask("/live") == (200, "live\n"), "live")
        assert pod.channel_rates() == ["900 Mbps", "900 Mbps"]
        capture_socket = next((folder / "run").glob("*-capture.sock")).name

        mount_files(folder / "config", 2, vcmts=config_yaml("800 Mbps"))
        until(lambda: pod.channel_rates() == ["800 Mbps", "900 Mbps"], "the change")
        mount_files(folder / "config", 3, vcmts=config_yaml("700 Mbps").replace("LAB[1]", "LAB[2]"))
        pod.wait_for("allowed: 0 to 1, as PCIDEVICE_LAB has 2 items")
        until(lambda: pod.refused_changes() == 1, "a change refused")
        mount_files(folder / "config", 4, vcmts=config_yaml("700 Mbsp"))
        pod.wait_for('found "700 Mbsp", allowed: a rate')
        until(lambda: pod.refused_changes() == 2, "a second change refused")
        new_start = config_yaml("700 Mbps", "max_queued: 4096\n")
        mount_files(folder / "config", 5, vcmts=new_start)
        pod.wait_for("vcmts.yaml: refused: nothing was changed")
        assert pod.channel_rates() == ["800 Mbps", "900 Mbps"]
        assert "max_queued" not in (folder / "run" / "vcmts.yaml").read_text()

        (folder / "secret" / "sg-2.yaml").write_text(
            "".join(config_text("600 Mbps").splitlines(True)[2:])
        )
        mount_files(folder / "config", 6, vcmts=config_yaml("700 Mbps"))
        until(lambda: pod.channel_rates() == ["700 Mbps", "600 Mbps"], "both changes")
        check_invalid_files_are_refused(pod)
        pod.process.send_signal(signal.SIGHUP)
        pod.wait_for("nothing changed")
        assert next((folder / "run").glob("*-capture.sock")).name == capture_socket
        until(lambda: pod.ask("/ready")[0] == 200, "ready")

        pod.process.send_signal(signal.SIGTERM)
        assert pod.wait() == 0
        pod.wait_for("service group 2 downstream: received 0, transmitted 0, dropped 0, held 0")
    messages = [line["message"] for line in pod.log()]
    drained = [n for n, line in enumerate(messages) if line.endswith("reception stopped")]
    assert len(drained) == 2
    assert messages.index("drained: nothing is pending") > messages.index(
        "stopping: draining all service groups for up to 60 s"
    )
    assert pod.termination() == ""


def test_drained_pod_is_not_ready(folder: Path) -> None:
    with start_pod(folder) as pod:
        pod.wait_for("serving service groups")
        until(lambda: pod.ask("/ready")[0] == 200, "ready")
        with Client(folder / "run" / "control.sock", TIMEOUT) as client:
            client.call("group.drain", group=1)
            until(lambda: pod.ask("/ready")[0] == 200, "ready")
            client.call("group.drain", group=2)
            drained = (503, "all service groups are drained\n")
            until(lambda: pod.ask("/ready") == drained, "drained")
            until(lambda: pod.ask("/live")[0] == 200, "live")
            client.call("group.resume", group=2)
            until(lambda: pod.ask("/ready")[0] == 200, "ready")


def error_line(message: str) -> str:
    line = json.dumps({"level": "error", "message": message})
    return f"print({line!r}, file=sys.stderr)\n"


SERVER_BODY = """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("serving", file=sys.stderr, flush=True)
while True:
    time.sleep(0.1)
"""


def test_change_during_start_is_applied(folder: Path) -> None:
    """The files are replaced while vcmtsd checks the first ones. The change is applied later."""
    mount_files(folder / "config", 2, vcmts=config_yaml("800 Mbps"))
    data = folder / "config" / "..data"
    data.unlink()
    data.symlink_to("..1")
    exchange = f"if os.readlink('{data}') == '..1': os.symlink('..2', '{folder}/new'); "
    exchange += f"os.rename('{folder}/new', '{data}')"
    run = f"os.execv('{program('vcmtsd').resolve()}', ['vcmtsd', *sys.argv[1:]])"
    with start_pod(folder, fake=run, check=exchange) as pod:
        pod.wait_for("serving service groups: 2")
        until(lambda: pod.channel_rates() == ["800 Mbps", "900 Mbps"], "the change")


def test_orphans_are_reaped(folder: Path) -> None:
    """`vcmts pod` reaps orphans, as it is the first process of a container."""
    orphan = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(0.2)
    os._exit(0)
os.wait()
"""
    with start_pod(folder, fake=orphan + SERVER_BODY) as pod:
        until(lambda: "serving" in (folder / "log").read_text(), "serving")

        def children() -> list[str]:
            path = Path(f"/proc/{pod.process.pid}/task/{pod.process.pid}/children")
            return path.read_text().split()

        until(lambda: len(children()) == 1, "one child, the others reaped")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (
            error_line("EAL: of a library") + error_line("port x: no driver") + "sys.exit(2)",
            2,
            "port x: no driver",
        ),
        ("sys.exit(1)", 1, "vcmtsd ended with status 1"),
        (
            "os.kill(os.getpid(), signal.SIGILL)",
            128 + signal.SIGILL,
            "vcmtsd ended by SIGILL: it was built for instructions that this node's CPU lacks",
        ),
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            128 + signal.SIGKILL,
            "vcmtsd was killed: did it exceed the pod's memory limit?",
        ),
    ],
    ids=["mistake", "trouble", "instruction", "memory"],
)
def test_vcmtsd_exit_status_is_returned(folder: Path, body: str, status: int, message: str) -> None:
    with start_pod(folder, fake=body) as pod:
        assert pod.wait() == status
    assert pod.termination() == message + "\n"


def fail_to_start(folder: Path, *options: str, **environment: str) -> str:
    with start_pod(folder, *options, **environment) as pod:
        assert pod.wait() == 2
    errors = [line["message"] for line in pod.log() if line["level"] == "error"]
    assert pod.termination().splitlines()[0].startswith(errors[0])
    assert len(pod.termination().splitlines()) == 1
    return errors[0]


def test_missing_resources_are_reported(folder: Path) -> None:
    message = fail_to_start(folder, PCIDEVICE_LAB="")
    assert message.endswith("but the variable PCIDEVICE_LAB is empty")
    assert fail_to_start(folder, PCIDEVICE_LAB="net_null0").endswith(
        "allowed: 0 to 0, as PCIDEVICE_LAB has 1 item"
    )
    devices = config_yaml().split("service_group: 2, ")[1]
    items = (f"{n}, {devices.replace('102', str(100 + n))}" for n in range(3, 13))
    groups = "".join(f"  - {{service_group: {item}" for item in items)
    layout = config_yaml(options="threads: {layout: 1us1t_1ds2t}\n")
    mount_files(folder / "config", 2, vcmts=layout + groups)
    message = fail_to_start(folder)
    if len(os.sched_getaffinity(0)) < 25:
        assert (
            message.startswith("cores: found ") and "12 service groups with 1us1t_1ds2t" in message
        )
    for number, (invalid, reason) in enumerate(INVALID_FILES, start=3):
        mount_files(folder / "config", number, vcmts=invalid)
        assert reason in fail_to_start(folder)
    mount_files(folder / "config", 9, vcmts=config_yaml())
    (folder / "secret" / "sg-2.yaml").unlink()
    message = fail_to_start(folder)
    assert "secret/sg-2.yaml: No such file or directory; is the Secret" in message


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a full disk")
def test_full_run_folder_is_reported(folder: Path) -> None:
    (folder / "run").mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=4", "full", str(folder / "run")]
    if subprocess.run(mounted, check=False).returncode != 0:
        pytest.skip("mounts are not permitted")
    try:
        with suppress(OSError):
            (folder / "run" / "x").write_bytes(b"x" * 8192)
        assert "No space left on device; " in fail_to_start(folder)
    finally:
        subprocess.run(["umount", str(folder / "run")], check=True)
