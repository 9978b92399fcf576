# SPDX-License-Identifier: BSD-3-Clause
"""vcmts pod as a kubelet sees it: mounted files, signals, exit status, termination message."""

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
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from e2e.control.controlled import UNLIMITED, config_text, place
from e2e.running import stop
from patience import TIMEOUT, until
from vcmts.control.client import Client
from vcmts.paths import CHECKOUT, build_directory, program

VARIABLES = {"PCIDEVICE_LAB": "net_null0,net_null1"}
SUBREAPER = 36  # prctl: orphans below are its children, as those of a container's first process
FAKE = """#!{python}
import os, signal, sys, time
if sys.argv[1] == "check":
    {check}
    os.execv("{vcmtsd}", ["vcmtsd", *sys.argv[1:]])
{body}
"""


def mount(folder: Path, turn: int, **files: str) -> None:
    """As the kubelet does it: a folder of its own, and the link ..data exchanged for it."""
    own = folder / f"..{turn}"
    own.mkdir(parents=True)
    for name, text in files.items():
        (own / f"{name}.yaml").write_text(text)
        link = folder / f"{name}.yaml"
        if not link.is_symlink():
            link.symlink_to(f"..data/{name}.yaml")
    (folder / "..new").symlink_to(own.name)
    (folder / "..new").rename(folder / "..data")


def text(rate: str = "900 Mbps", more: str = "") -> str:
    """Two groups; the keys of the second are in a file of the Secret."""
    own = config_text(rate).splitlines(keepends=True)[2:]
    items = "".join(f"    {line}" for line in own)
    # the devices have commas in variables of device plugins between them, and none in their names
    devices = "{network: {device: '${PCIDEVICE_LAB[0]},no-rx=1', vlan: %d}, "
    devices += "rphy: {device: '${PCIDEVICE_LAB[1]},no-rx=1', vlan: %d}}"
    return (
        f"name: lab\npower: {{idle: sleep}}\n{more}service_groups:\n"
        f"  - service_group: 1\n    ports: {devices % (101, 101)}\n{items}"
        f"  - {{service_group: 2, file: ../secret/sg-2.yaml, ports: {devices % (102, 102)}}}\n"
    )


WRONG = (  # files, and what is told of them
    (
        text().replace("../secret/sg-2.yaml", '"a\\0b"'),
        ": embedded null byte; is the Secret or ConfigMap",
    ),
    (text() + "x: " + "[" * 200_000 + "\n", "found maps and lists in more than 64 levels"),
)


@dataclass
class Pod:
    folder: Path
    process: "subprocess.Popen[str]"
    seen: list[str] = field(default_factory=list)

    def log(self) -> list[dict[str, str]]:
        lines = (self.folder / "log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]

    def said(self, part: str) -> bool:
        return any(part in line["message"] for line in self.log())

    def until_said(self, part: str) -> None:
        until(lambda: self.said(part) or self.process.poll() is not None, part)
        assert self.said(part), (self.folder / "log").read_text()

    def url(self) -> str:
        return next(line["url"] for line in self.log() if "url" in line).removesuffix("/metrics")

    def ask(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(self.url() + path, timeout=TIMEOUT) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def rate(self) -> list[str]:
        with Client(self.folder / "run" / "control.sock", TIMEOUT) as client:
            groups = client.call("config.get")["config"]["service_groups"]
        return [group["channels"][0]["rate"] for group in groups]

    def refused(self) -> int:
        page = self.ask("/metrics?names=vcmts_changes")[1]
        return int(page.split('vcmts_changes_total{result="refused"} ')[1].split()[0])

    def ended(self) -> int:
        return self.process.wait(TIMEOUT)

    def termination(self) -> str:
        path = self.folder / "termination"
        return path.read_text() if path.exists() else ""


def prepared() -> None:
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


@pytest.fixture
def folder() -> Iterator[Path]:
    with place() as made:
        (made / "secret").mkdir()
        (made / "secret" / "sg-2.yaml").write_text("".join(config_text().splitlines(True)[2:]))
        mount(made / "config", 1, vcmts=text())
        yield made


@contextmanager
def started(
    folder: Path, *more: str, fake: str = "", check: str = "pass", **environment: str
) -> Iterator[Pod]:
    """`fake`: a vcmtsd that does this; `check`: what is done first when it is to check only."""
    build = build_directory().resolve()
    if fake:
        build = folder / "build"
        (build / "src").mkdir(parents=True)
        script = build / "src" / "vcmtsd"
        script.write_text(
            FAKE.format(
                python=sys.executable, vcmtsd=program("vcmtsd").resolve(), body=fake, check=check
            )
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    settings = VARIABLES | {
        "PYTHONPATH": str(CHECKOUT / "tools"),
        "VCMTS_BUILD": str(build),
        "VCMTS_TERMINATION_LOG": str(folder / "termination"),
    }
    places = ("--config", folder / "config" / "vcmts.yaml", "--secret", folder / "secret")
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [
                *(sys.executable, "-c", UNLIMITED, "pod", *places, "--run", folder / "run"),
                *("--metrics", "127.0.0.1:0", *more),
            ],
            env=os.environ | settings | environment,
            stderr=log,
            text=True,
            preexec_fn=prepared,
        ) as process,
    ):
        try:
            yield Pod(folder, process)
        finally:
            stop(process)


def changes_nothing(pod: Pod) -> None:
    """What would have ended it, and files of other pods."""
    before = pod.refused()
    for number, (wrong, why) in enumerate(WRONG, start=1):
        mount(pod.folder / "config", 10 + number, vcmts=wrong)
        pod.until_said(why)
    until(lambda: pod.refused() == before + len(WRONG), "both refused")
    mount(pod.folder / "config", 20, vcmts=text("700 Mbps"), other=text())
    assert pod.rate() == ["700 Mbps", "600 Mbps"]


def test_the_life_of_a_pod(folder: Path) -> None:
    """One run: served, changed, refused, mended, drained."""
    with started(folder, "--drain", "60s", "--", "--log-level", "debug") as pod:
        pod.until_said("serving service groups: 2, with 8 modems")
        until(lambda: pod.ask("/ready") == (200, "ready\n"), "ready")
        until(lambda: pod.ask("/live") == (200, "live\n"), "live")
        assert pod.rate() == ["900 Mbps", "900 Mbps"]
        child = next((folder / "run").glob("*-capture.sock")).name

        mount(folder / "config", 2, vcmts=text("800 Mbps"))
        until(lambda: pod.rate() == ["800 Mbps", "900 Mbps"], "the change")
        mount(folder / "config", 3, vcmts=text("700 Mbps").replace("LAB[1]", "LAB[2]"))
        pod.until_said("allowed: 0 to 1, as PCIDEVICE_LAB has 2 items")
        until(lambda: pod.refused() == 1, "a change refused")
        mount(folder / "config", 4, vcmts=text("700 Mbsp"))
        pod.until_said('found "700 Mbsp", allowed: a rate')
        until(lambda: pod.refused() == 2, "a second one")
        new_start = text("700 Mbps", "max_queued: 4096\n")
        mount(folder / "config", 5, vcmts=new_start)
        pod.until_said("vcmts.yaml: refused: all stays as it was")
        assert pod.rate() == ["800 Mbps", "900 Mbps"]
        assert "max_queued" not in (folder / "run" / "vcmts.yaml").read_text()

        (folder / "secret" / "sg-2.yaml").write_text(
            "".join(config_text("600 Mbps").splitlines(True)[2:])
        )
        mount(folder / "config", 6, vcmts=text("700 Mbps"))
        until(lambda: pod.rate() == ["700 Mbps", "600 Mbps"], "both changes")
        changes_nothing(pod)
        pod.process.send_signal(signal.SIGHUP)
        pod.until_said("nothing changed")
        assert next((folder / "run").glob("*-capture.sock")).name == child
        until(lambda: pod.ask("/ready")[0] == 200, "ready")

        pod.process.send_signal(signal.SIGTERM)
        assert pod.ended() == 0
        pod.until_said("service group 2 downstream: received 0, transmitted 0, dropped 0, held 0")
    said = [line["message"] for line in pod.log()]
    drained = [n for n, line in enumerate(said) if line.endswith("receives nothing more")]
    assert len(drained) == 2
    assert said.index("drained: nothing is held") > said.index(
        "stopping: all service groups drain, for at most 60 s"
    )
    assert pod.termination() == ""


def test_not_ready_once_it_is_drained(folder: Path) -> None:
    with started(folder) as pod:
        pod.until_said("serving service groups")
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


def error(message: str) -> str:
    line = json.dumps({"level": "error", "message": message})
    return f"print({line!r}, file=sys.stderr)\n"


SERVES = """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("serving", file=sys.stderr, flush=True)
while True:
    time.sleep(0.1)
"""


def test_a_change_during_the_start(folder: Path) -> None:
    """The file was read by then; the link is exchanged while it is checked."""
    mount(folder / "config", 2, vcmts=text("800 Mbps"))
    data = folder / "config" / "..data"
    data.unlink()
    data.symlink_to("..1")
    exchange = f"if os.readlink('{data}') == '..1': os.symlink('..2', '{folder}/new'); "
    exchange += f"os.rename('{folder}/new', '{data}')"
    run = f"os.execv('{program('vcmtsd').resolve()}', ['vcmtsd', *sys.argv[1:]])"
    with started(folder, fake=run, check=exchange) as pod:
        pod.until_said("serving service groups: 2")
        until(lambda: pod.rate() == ["800 Mbps", "900 Mbps"], "the change")


def test_orphans_are_reaped(folder: Path) -> None:
    """As by the first process of a container."""
    orphan = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(0.2)
    os._exit(0)
os.wait()
"""
    with started(folder, fake=orphan + SERVES) as pod:
        until(lambda: "serving" in (folder / "log").read_text(), "serving")

        def children() -> list[str]:
            path = Path(f"/proc/{pod.process.pid}/task/{pod.process.pid}/children")
            return path.read_text().split()

        until(lambda: len(children()) == 1, "one child, the others reaped")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (
            error("EAL: of a library") + error("port x: no driver") + "sys.exit(2)",
            2,
            "port x: no driver",
        ),
        ("sys.exit(1)", 1, "vcmtsd ended with status 1"),
        (
            "os.kill(os.getpid(), signal.SIGILL)",
            128 + signal.SIGILL,
            "vcmtsd ended by SIGILL: this node's CPU lacks instructions that it was built for",
        ),
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            128 + signal.SIGKILL,
            "vcmtsd was killed: more memory than the pod's limit?",
        ),
    ],
    ids=["mistake", "trouble", "instruction", "memory"],
)
def test_its_end_is_passed_on(folder: Path, body: str, status: int, message: str) -> None:
    with started(folder, fake=body) as pod:
        assert pod.ended() == status
    assert pod.termination() == message + "\n"


def refused(folder: Path, *more: str, **environment: str) -> str:
    with started(folder, *more, **environment) as pod:
        assert pod.ended() == 2
    errors = [line["message"] for line in pod.log() if line["level"] == "error"]
    assert pod.termination().splitlines()[0].startswith(errors[0])
    assert len(pod.termination().splitlines()) == 1
    return errors[0]


def test_what_is_missing_is_told_in_a_line(folder: Path) -> None:
    told = refused(folder, PCIDEVICE_LAB="")
    assert told.endswith("but the variable PCIDEVICE_LAB is empty")
    assert refused(folder, PCIDEVICE_LAB="net_null0").endswith(
        "allowed: 0 to 0, as PCIDEVICE_LAB has 1 item"
    )
    devices = text().split("service_group: 2, ")[1]
    items = (f"{n}, {devices.replace('102', str(100 + n))}" for n in range(3, 13))
    more = "".join(f"  - {{service_group: {item}" for item in items)
    layout = text(more="threads: {layout: 1us1t_1ds2t}\n")
    mount(folder / "config", 2, vcmts=layout + more)
    told = refused(folder)
    if len(os.sched_getaffinity(0)) < 25:
        assert told.startswith("cores: found ") and "12 service groups of 1us1t_1ds2t" in told
    for number, (wrong, why) in enumerate(WRONG, start=3):
        mount(folder / "config", number, vcmts=wrong)
        assert why in refused(folder)
    mount(folder / "config", 9, vcmts=text())
    (folder / "secret" / "sg-2.yaml").unlink()
    told = refused(folder)
    assert "secret/sg-2.yaml: No such file or directory; is the Secret" in told


@pytest.mark.skipif(os.getuid() != 0, reason="a full disk is mounted, which takes root")
def test_a_full_folder(folder: Path) -> None:
    (folder / "run").mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=4", "full", str(folder / "run")]
    if subprocess.run(mounted, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        with suppress(OSError):
            (folder / "run" / "x").write_bytes(b"x" * 8192)
        assert "No space left on device; " in refused(folder)
    finally:
        subprocess.run(["umount", str(folder / "run")], check=True)
