# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of docs/install.md. Words after a block's language say how to run it."""

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

from e2e.run.test_run_kernel import NAMESPACE, PROBES, is_permitted
from e2e.running import Completed, check_completed, run, stop_process
from e2e.traffic import START_NS, generate
from patience import TIMEOUT
from vcmts.control.sockets import folders
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
    return [commands for language, word, commands in BLOCKS if (language, word) == ("sh", kind)]


def shell(commands: str, page_dir: Path, *before: str) -> Completed:
    """Runs commands of the page for a shorter duration. `before`: starts the shell."""
    commands = re.sub(r"--duration [1-9]s", "--duration 500ms", commands)
    environment = os.environ | {"VCMTS_BUILD": str(build_directory().resolve())}
    script = f"cd {shlex.quote(str(page_dir))}\n{commands}"
    return run([*before, "sh", "-euc", script], environment)


@pytest.fixture(scope="module")
def page_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder like the checkout, with the first configuration of the page and a capture."""
    if not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("the page's configuration runs on cores 0 and 1")
    folder = tmp_path_factory.mktemp("doc")
    (folder / "build").symlink_to(build_directory().resolve())
    (folder / "vcmts").symlink_to(CHECKOUT / "vcmts")
    done = shell(blocks("")[0], folder)
    assert done.status == 0 and "sg.yaml: good" in done.stdout, done.stderr
    frames = generate(load_config(folder / "sg.yaml"), 61, PACKETS)
    write_pcap(folder / "ip.pcap", records_of(frames, START_NS))
    return folder


@contextmanager
def run_terminal_1(page_dir: Path) -> Iterator["subprocess.Popen[str]"]:
    """Runs vcmtsd as in block `terminal 1`. The block begins when vcmtsd is in service."""
    [commands] = blocks("terminal 1")
    script = commands.replace("build/src/vcmtsd", "exec build/src/vcmtsd")
    pipe = subprocess.PIPE
    with subprocess.Popen(
        ["sh", "-euc", script], cwd=page_dir, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stderr is not None
        try:
            assert any("serving service group 1" in line for line in process.stderr)
            yield process
        finally:
            stop_process(process)


@pytest.mark.run
def test_two_terminals_prove_traffic(page_dir: Path) -> None:
    [commands] = blocks("terminal 2")
    assert " --upstream-rate 75Mbps" in commands
    with run_terminal_1(page_dir) as vcmtsd:
        for repeated in (False, True):
            if repeated:  # modems restart their sequence numbers after a pause
                time.sleep(1)
            traffic = shell(commands, page_dir)
            # on a busy machine packets may be lost or late; the output must say so
            faults = r"^(?:lost|duplicated|reordered|corrupted) +(\d+)"
            counts = re.findall(faults, traffic.stdout, re.MULTILINE)
            faultless = counts == ["0"] * 8
            assert traffic.status == (0 if faultless else 1), traffic.stdout
            proven = re.findall(r"^proven +[1-9]\d* +([\d.]+)", traffic.stdout, re.MULTILINE)
            assert len(proven) == 2 and (not faultless or {*map(float, proven)} == {100})
        vcmtsd.send_signal(signal.SIGINT)
        stdout, stderr = vcmtsd.communicate(timeout=TIMEOUT)
        done = check_completed(vcmtsd.returncode, stdout, stderr)
    assert done.status == 0, done.stderr
    assert re.match(r"downstream: received [1-9]", done.stdout)
    assert re.search(r"^upstream: transmitted [1-9]", done.stdout, re.MULTILINE)
    assert re.search(r"^  dropped no_control_port +[1-9]", done.stdout, re.MULTILINE)


def check_served(done: Completed) -> None:
    assert done.status == 0, done.stderr
    assert done.stdout.startswith("downstream: received ")
    warnings = [line for line in done.stderr.splitlines() if "fewer than" in line]
    assert all(line in TEXT for line in warnings), "the page has another message"


@pytest.mark.parametrize("commands", blocks("")[1:])
def test_commands_succeed(commands: str, page_dir: Path) -> None:
    done = shell(commands, page_dir)
    check_served(done)
    if "net_null0,no-rx=1" in commands:
        assert "received 0, " in done.stdout and "dropped 0, " in done.stdout, "null ports"
    if "ip.pcap" in commands:
        assert done.stdout.startswith(f"downstream: received {PACKETS}, ")
        assert (page_dir / "depi.pcap").stat().st_size > PACKETS


def test_upstream_capture_is_replayed(page_dir: Path) -> None:
    """The replay transmits every packet sent. docs/first-run.md has the same commands."""
    [commands] = blocks("capture")
    first_run = (CHECKOUT / "docs/first-run.md").read_text()
    assert "\n".join(commands.splitlines()[:2]) in first_run
    done = shell(commands, page_dir)
    assert done.status == 0, done.stderr
    [sent] = re.findall(r"^sent +(\d+)", done.stdout, re.MULTILINE)
    assert int(sent) > 0
    assert f"upstream: transmitted {sent}\n" in done.stdout
    assert len(read_pcap(page_dir / "ip-up.pcap").records) == int(sent)
    assert read_pcap(page_dir / "messages.pcap").records


@pytest.mark.parametrize("commands", blocks("root"))
def test_root_commands_succeed(commands: str, page_dir: Path) -> None:
    if not all(is_permitted(*probe) for probe in PROBES.values()):
        pytest.skip("this user may not make network namespaces and interfaces here")
    check_served(shell(INTERFACES + commands, page_dir, *NAMESPACE))


@pytest.mark.parametrize("commands", blocks("root hugepages"))
def test_huge_page_commands_succeed(commands: str, page_dir: Path) -> None:
    pages = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
    if not pages.exists() or int(pages.read_text()) < 200:
        pytest.skip("there are no 400 MB of free huge pages")
    test_root_commands_succeed(commands, page_dir)


@pytest.mark.run
def test_several_groups_are_proven(page_dir: Path) -> None:
    """Every packet is proven, or the output says why not (on a busy machine)."""
    [commands] = blocks("groups")
    done = shell(commands, page_dir)
    assert done.status in (0, 1), done.stderr
    [verdict] = re.findall(
        r"^(PASS|FAIL): .* packets of 4 service groups proven", done.stdout, re.MULTILINE
    )
    assert done.status == (0 if verdict == "PASS" else 1), done.stdout + done.stderr
    assert "core" in done.stdout


def test_placement_is_explained(page_dir: Path) -> None:
    [commands] = blocks("layout")
    done = shell(commands, page_dir)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.count("| management") == 2 and "\nconfigured: nothing" in done.stdout


def test_every_block_has_known_kind() -> None:
    """Blocks of unknown kinds would not run. `system` and `hardware` change the machine."""
    assert {language for language, _, _ in BLOCKS} == {"sh", "text"}
    kinds = {kind for language, kind, _ in BLOCKS if language == "sh"}
    run_kinds = {
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
    assert kinds == run_kinds | {"system", "hardware"}
    for kind in ("system", "hardware"):
        for commands in blocks(kind):
            assert run(["sh", "-nc", commands]).status == 0


def test_telemetry_commands_match_page(page_dir: Path) -> None:
    """Telemetry commands of the page in their order. The output of changes is as on the page."""
    telemetry, changes = blocks("serving")
    with run_terminal_1(page_dir) as vcmtsd:
        shown, changed = (
            shell(commands.replace("telemetry", f"telemetry --pid {vcmtsd.pid}"), page_dir)
            for commands in (telemetry, changes)
        )
        vcmtsd.send_signal(signal.SIGINT)
        vcmtsd.communicate(timeout=TIMEOUT)
    assert shown.status == changed.status == 0, shown.stderr + changed.stderr
    for title in ("no packet has left a queue", "channels", "bonding groups", "service flows"):
        assert title in shown.stdout
    assert '"modem": "02:01:00:00:00:01"' in shown.stdout
    assert f"```text\n{changed.stdout}```" in TEXT


def test_control_commands_succeed(page_dir: Path) -> None:
    commands = "".join(blocks("controlling"))
    with run_terminal_1(page_dir) as vcmtsd:
        [path] = [path for path in control_sockets(vcmtsd.pid) if path.exists()]
        done = shell(commands.replace("vcmts control", f"vcmts control --socket {path}"), page_dir)
        vcmtsd.send_signal(signal.SIGINT)
        vcmtsd.communicate(timeout=TIMEOUT)
    assert done.status == 0, done.stderr
    assert re.search(rf"^pid +{vcmtsd.pid}$", done.stdout, re.MULTILINE)
    for text in (
        "modem.get  ",
        "next   3\n",
        "nothing changed",
        "1 modem removed",
        "held     0",
    ):
        assert text in done.stdout, text
    assert '"mac": "02:01:00:00:00:01", "group": 1' in done.stdout


def control_sockets(pid: int) -> list[Path]:
    return [folder / f"{pid}-control.sock" for folder in folders()]


def test_relative_socket_folder_is_rejected(page_dir: Path) -> None:
    [commands] = blocks("terminal 1")
    for folder in ("sockets", "/no/such/folder"):
        done = shell(commands.replace("$PWD/sockets", folder), page_dir)
        assert done.status == 1 and "net_memif0" in done.stderr.splitlines()[-1]
