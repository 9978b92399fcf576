# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of docs/install.md: what a block needs stands behind its language."""

import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.run.test_run_kernel import NAMESPACE, PROBES, may
from e2e.running import Ended, ended, run, stop
from e2e.traffic import START_NS, generate
from patience import TIMEOUT
from vcmts.control.place import folders
from vcmts.paths import CHECKOUT, build_directory
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import read_pcap, records_of, write_pcap

TEXT = (CHECKOUT / "docs" / "install.md").read_text()
BLOCKS = re.findall(r"^```(\w+) ?(.*)\n((?s:.*?))^```", TEXT, re.MULTILINE)
PACKETS = 200
INTERFACES = """
for name in enp1s0 enp2s0; do
	ip link add "$name" type veth peer name "peer-$name"
	ip link set "$name" up
	ip link set "peer-$name" up
done
"""


def blocks(kind: str) -> list[str]:
    return [commands for language, found, commands in BLOCKS if (language, found) == ("sh", kind)]


def shell(commands: str, place: Path, *before: str) -> Ended:
    """What the page shows, for a shorter time."""
    commands = re.sub(r"--duration [1-9]s", "--duration 500ms", commands)
    environment = os.environ | {"VCMTS_BUILD": str(build_directory().resolve())}
    inside = f"cd {shlex.quote(str(place))}\n{commands}"
    return run([*before, "sh", "-euc", inside], environment)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the top of the checkout has, with the configuration that the page begins with."""
    if not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("the page's configuration runs on cores 0 and 1")
    folder = tmp_path_factory.mktemp("doc")
    (folder / "build").symlink_to(build_directory().resolve())
    (folder / "vcmts").symlink_to(CHECKOUT / "vcmts")
    begun = shell(blocks("")[0], folder)
    assert begun.status == 0 and "sg.yaml: good" in begun.stdout, begun.stderr
    frames = generate(load_config(folder / "sg.yaml"), 61, PACKETS)
    write_pcap(folder / "ip.pcap", records_of(frames, START_NS))
    return folder


@contextmanager
def first_terminal(place: Path) -> Iterator["subprocess.Popen[str]"]:
    """vcmtsd, from the moment that it says what the page waits for."""
    [commands] = blocks("terminal 1")
    program = commands.replace("build/src/vcmtsd", "exec build/src/vcmtsd")
    pipe = subprocess.PIPE
    with subprocess.Popen(
        ["sh", "-euc", program], cwd=place, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stderr is not None
        try:
            assert any("serving service group 1" in line for line in process.stderr)
            yield process
        finally:
            stop(process)


@pytest.mark.run
def test_two_terminals(place: Path) -> None:
    [commands] = blocks("terminal 2")
    assert " --upstream-rate 75Mbps" in commands
    with first_terminal(place) as vcmtsd:
        for again in (False, True):
            if again:  # its modems, that count anew, were silent for long enough
                time.sleep(1)
            traffic = shell(commands, place)
            # on a machine with other work packets may be lost or late, which it says
            wrong = r"^(?:lost|duplicated|reordered|corrupted) +(\d+)"
            found = re.findall(wrong, traffic.stdout, re.MULTILINE)
            whole = found == ["0"] * 8
            assert traffic.status == (0 if whole else 1), traffic.stdout
            proven = re.findall(r"^proven +[1-9]\d* +([\d.]+)", traffic.stdout, re.MULTILINE)
            assert len(proven) == 2 and (not whole or {*map(float, proven)} == {100})
        vcmtsd.send_signal(signal.SIGINT)
        stdout, stderr = vcmtsd.communicate(timeout=TIMEOUT)
        done = ended(vcmtsd.returncode, stdout, stderr)
    assert done.status == 0, done.stderr
    assert re.match(r"downstream: received [1-9]", done.stdout)
    assert re.search(r"^upstream: transmitted [1-9]", done.stdout, re.MULTILINE)
    assert re.search(r"^  dropped no_control_port +[1-9]", done.stdout, re.MULTILINE)


def served(done: Ended) -> None:
    assert done.status == 0, done.stderr
    assert done.stdout.startswith("downstream: received ")
    said = [line for line in done.stderr.splitlines() if "fewer than" in line]
    assert all(line in TEXT for line in said), "the page tells another figure"


@pytest.mark.parametrize("commands", blocks("")[1:])
def test_commands(commands: str, place: Path) -> None:
    done = shell(commands, place)
    served(done)
    if "net_null0,no-rx=1" in commands:
        assert "received 0, " in done.stdout and "dropped 0, " in done.stdout, "to nowhere"
    if "ip.pcap" in commands:
        assert done.stdout.startswith(f"downstream: received {PACKETS}, ")
        assert (place / "depi.pcap").stat().st_size > PACKETS


def test_capture_of_the_upstream(place: Path) -> None:
    """Every packet that is said to be sent comes out of the replay. The first run has the same."""
    [commands] = blocks("capture")
    first_run = (CHECKOUT / "docs/first-run.md").read_text()
    assert "\n".join(commands.splitlines()[:2]) in first_run
    done = shell(commands, place)
    assert done.status == 0, done.stderr
    [sent] = re.findall(r"^sent +(\d+)", done.stdout, re.MULTILINE)
    assert int(sent) > 0
    assert f"upstream: transmitted {sent}\n" in done.stdout
    assert len(read_pcap(place / "ip-up.pcap").records) == int(sent)
    assert read_pcap(place / "messages.pcap").records


@pytest.mark.parametrize("commands", blocks("root"))
def test_commands_as_root(commands: str, place: Path) -> None:
    if not all(may(*probe) for probe in PROBES.values()):
        pytest.skip("this user may not make network namespaces and interfaces here")
    served(shell(INTERFACES + commands, place, *NAMESPACE))


@pytest.mark.parametrize("commands", blocks("root hugepages"))
def test_commands_on_huge_pages(commands: str, place: Path) -> None:
    pages = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
    if not pages.exists() or int(pages.read_text()) < 200:
        pytest.skip("there are no 400 MB of free huge pages")
    test_commands_as_root(commands, place)


@pytest.mark.run
def test_several_groups(place: Path) -> None:
    """Proven, or on a machine with other work said not to be, for each of them."""
    [commands] = blocks("groups")
    done = shell(commands, place)
    assert done.status in (0, 1), done.stderr
    [verdict] = re.findall(
        r"^(every|NOT every) packet of 4 service groups proven", done.stdout, re.M
    )
    proven = verdict == "every"
    silent = "no packet was sent" in done.stderr
    excused = "vcmts: passed: " in done.stderr
    good = (proven or excused) and not silent
    assert done.status == (0 if good else 1), done.stdout + done.stderr
    assert "core" in done.stdout


def test_placement_explained(place: Path) -> None:
    [commands] = blocks("layout")
    done = shell(commands, place)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.count("│ management") == 2 and "\nasked: nothing" in done.stdout


def test_every_block_is_known() -> None:
    """A kind that nobody runs would go unseen. `system` and `hardware` change the machine."""
    assert {language for language, _, _ in BLOCKS} == {"sh", "text"}
    kinds = {kind for language, kind, _ in BLOCKS if language == "sh"}
    tried = {
        "",
        "capture",
        "groups",
        "layout",
        "terminal 1",
        "terminal 2",
        "serving",
        "controlling",
        "root",
        "root hugepages",
    }
    assert kinds == tried | {"system", "hardware"}
    for kind in ("system", "hardware"):
        for commands in blocks(kind):
            assert run(["sh", "-nc", commands]).status == 0


def test_while_it_serves(place: Path) -> None:
    """What is asked of it in the page's order, and told as the page tells it."""
    asking, changing = blocks("serving")
    with first_terminal(place) as vcmtsd:
        told, changed = (
            shell(commands.replace("telemetry", f"telemetry --pid {vcmtsd.pid}"), place)
            for commands in (asking, changing)
        )
        vcmtsd.send_signal(signal.SIGINT)
        vcmtsd.communicate(timeout=TIMEOUT)
    assert told.status == changed.status == 0, told.stderr + changed.stderr
    for title in ("delay in the queues", "channels", "bonding groups", "service flows"):
        assert title in told.stdout
    assert '"modem": "02:01:00:00:00:01"' in told.stdout
    assert f"```text\n{changed.stdout}```" in TEXT


def test_requests_while_it_serves(place: Path) -> None:
    """Each line of the page, as it stands there."""
    commands = "".join(blocks("controlling"))
    with first_terminal(place) as vcmtsd:
        [path] = [path for path in control_sockets(vcmtsd.pid) if path.exists()]
        told = shell(commands.replace("vcmts control", f"vcmts control --socket {path}"), place)
        vcmtsd.send_signal(signal.SIGINT)
        vcmtsd.communicate(timeout=TIMEOUT)
    assert told.status == 0, told.stderr
    assert re.search(rf"^pid +{vcmtsd.pid}$", told.stdout, re.MULTILINE)
    for words in (
        "modem.get  ",
        "next   3\n",
        "nothing changed",
        "1 modem removed",
        "held     0",
    ):
        assert words in told.stdout, words
    assert '"mac": "02:01:00:00:00:01", "group": 1' in told.stdout


def control_sockets(pid: int) -> list[Path]:
    return [folder / f"{pid}-control.sock" for folder in folders()]


def test_socket_folder_must_be_absolute(place: Path) -> None:
    """As the page says it; a folder that is missing is no better."""
    [commands] = blocks("terminal 1")
    for folder in ("sockets", "/no/such/folder"):
        wrong = shell(commands.replace("$PWD/sockets", folder), place)
        assert wrong.status == 2 and "net_memif0" in wrong.stderr.splitlines()[-1]
