# SPDX-License-Identifier: BSD-3-Clause
"""Keys that are gone are in no memory of vcmtsd's, and no core dump is made of it."""

import os
import re
import resource
import signal
import sys
from array import array
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest

from e2e.control.controlled import NOWHERE, SLEEP, config_text, controlled, place
from patience import PATIENCE, TIMEOUT, until, within
from vcmts.control.client import Client
from vcmts.paths import program

IV = "00" * 16
# One for each way in which a key comes and goes.
IN_FILE = "4f1d6a93c8e27b05f1a4936bd0e85c27"
INSTALLED = "93c5b1e86d2f470ab7e94c0d5a1f8362"
SECOND = "e7092c4bd85f1a63902d7e4fb6c8135a"
OF_MODEM = "2b8d5f0e74a9c361d8f2b704e6a95c1d"
SET = "c41f9a6e0b7d3852f60e9b2d7a4c8f13"
IN_RELOAD = "7e3a0d94b5c2f86119d7e60f4b8a2c53"
REFUSED = "b60f8e2d9c471a35e0d94f7b2a6c8d51"
KEPT = "d90a7c3e5f81b246f7e0c9d3a5b81264"
WHOLE = 1 << 22  # bytes that are read at a time
GONE_S = 5 * PATIENCE
PAGE = resource.getpagesize()
EMPTY = re.compile(rb"\0{64,}")  # most of what is touched, and no key has it
UPSTREAM = """upstream_channels:
  - {id: 1, type: ofdma, rate: 400 Mbps, session: 257}
"""
FLOW = """    upstream_service_flows:
      - {id: %d, sid_clusters: [{id: 1, sids: [{channel: 1, sid: %d}]}]}
"""

root = pytest.mark.skipif(os.getuid() != 0, reason="memory of such a process is root's to read")


def text(crypto: str = "", key: str = IN_FILE) -> str:
    """With an upstream, so that there are keys of both directions."""
    made = config_text().replace("00010203040506070809101112131411", key)
    made = made.replace("modems:\n", f"{crypto}{UPSTREAM}modems:\n")
    for n in range(1, 5):
        flows = f"    service_flows: [{{id: {n}, dsid: {n}, max_sustained_rate: 100 Mbps}}]\n"
        assert flows in made
        made = made.replace(flows, flows + FLOW % (100 + n, 16 + n))
    return made


def parts(key: str) -> list[bytes]:
    """Its bytes and its text, the half of either being enough."""
    raw, shown = bytes.fromhex(key), key.encode()
    return [raw[:8], raw[8:], shown[:16], shown[16:]]


def used(pid: int) -> Iterator[tuple[int, int]]:
    """Where its memory begins and ends, page by page those that it has touched."""
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pages:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            where, mode = line.split(maxsplit=2)[:2]
            if not mode.startswith("rw"):
                continue
            first, last = (int(part, 16) // PAGE for part in where.split("-"))
            told = array("Q", os.pread(pages.fileno(), 8 * (last - first), 8 * first))
            for there, group in groupby(enumerate(told, first), lambda page: page[1] >> 62 != 0):
                if there:
                    numbers = [number for number, _ in group]
                    yield numbers[0] * PAGE, (numbers[-1] + 1) * PAGE


def found(pid: int, *keys: str) -> list[str]:
    """Which of the keys are in its memory, and where."""
    wanted = {part: key for key in keys for part in parts(key)}
    places = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for begin, end in used(pid):
            for at in range(begin, end, WHOLE):
                try:
                    piece = os.pread(memory.fileno(), min(WHOLE + 64, end - at), at)
                except OSError:
                    continue  # of a device
                filled = EMPTY.sub(b"\0", piece)
                places += [
                    f"{key} at {at + piece.index(part):#x}"
                    for part, key in wanted.items()
                    if part in filled
                ]
    return places


def are_gone(pid: int, *keys: str) -> bool:
    return not found(pid, *keys)


def roll(client: Client, key: str) -> None:
    client.call("key.install", said=1, key=key, iv=IV)
    client.call("key.use", said=1)
    client.call("key.remove", said=1)


def modem(number: int, key: str) -> dict[str, object]:
    return {
        "mac": f"02:01:00:00:01:{number:02x}",
        "addresses": [f"10.0.1.{number}"],
        "bonding_group": 1,
        "security": {"said": 77, "key": key, "iv": IV},
        "service_flows": [{"id": 77, "dsid": 77}],
        "upstream_service_flows": [
            {"id": 177, "sid_clusters": [{"id": 1, "sids": [{"channel": 1, "sid": 77}]}]}
        ],
    }


def change(client: Client, folder: Path) -> None:
    """All of the keys come, by their ways, and go; but the last."""
    roll(client, INSTALLED)
    roll(client, SECOND)
    client.call("modem.add", modem=modem(1, OF_MODEM))
    security = {"said": 77, "key": SET, "iv": IV}
    client.call("modem.set", modem={"mac": "02:01:00:00:01:01", "security": security})
    client.call("config.get", keys=True)
    client.calls([("config.get", {"keys": True}), ("modem.get", {"mac": "02:01:00:00:01:01"})])
    client.call("modem.remove", modem={"mac": "02:01:00:00:01:01"})
    crypto = re.search("^crypto:.*\n", (folder / "sg.yaml").read_text(), re.MULTILINE)
    for key in (IN_RELOAD, KEPT):
        (folder / "sg.yaml").write_text(text(crypto[0] if crypto else "", key))
        client.call("config.reload")
    wrong = {"said": 1, "key": REFUSED, "iv": "0"}
    for method, params in (("key.install", wrong), ("key.install", {"key": REFUSED, "said": -1})):
        client.calls([(method, params)])


@root
@pytest.mark.parametrize(
    "crypto",
    [
        "",
        "crypto: {provider: cryptodev, device: crypto_aesni_mb0}\n",
        "crypto: {provider: cryptodev, device: crypto_openssl0}\n",
    ],
    ids=["library", "aesni_mb", "openssl"],
)
def test_keys_that_are_gone(crypto: str) -> None:
    with place() as folder:
        (folder / "sg.yaml").write_text(text(crypto))
        with controlled(folder) as (served, path):
            pid = served.process.pid
            assert found(pid, IN_FILE), "the key in use is seen where it is"
            with Client(path, TIMEOUT) as client:
                with Client(path, TIMEOUT) as watcher:
                    watcher.call("events.subscribe", keys=True)
                    change(client, folder)
                assert found(pid, KEPT)
                gone = (IN_FILE, INSTALLED, SECOND, OF_MODEM, SET, IN_RELOAD, REFUSED)
                # what a change took leaves a few rounds after the answer
                assert within(partial(are_gone, pid, *gone), GONE_S), found(pid, *gone)
            assert served.stop().status == 0


def dumped(folder: Path, *command: str | Path, **environment: str) -> bool:
    """Whether a core is made of the program, which ends by a signal when it has made `ready`. Its
    limit allows it."""
    pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
            os.chdir(folder)
            os.environ.update(environment)
            with (folder / "said").open("w") as said:
                os.dup2(said.fileno(), 2)
            os.execv(command[0], [str(word) for word in command])
        finally:
            os._exit(99)
    until((folder / "ready").exists, "ready")
    os.kill(pid, signal.SIGABRT)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status), (folder / "said").read_text()
    (folder / "ready").unlink()
    return os.WCOREDUMP(status)


def test_no_core_is_made(tmp_path: Path) -> None:
    """But for developers, who ask for it."""
    if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        pytest.skip("this system allows no cores")
    (tmp_path / "sg.yaml").write_text(config_text())
    words = ("--config", "sg.yaml", "--control-socket", "none", "--ready", "ready")
    command = (program("vcmtsd").resolve(), "run", *words, *NOWHERE, *SLEEP)
    assert not dumped(tmp_path, *command, VCMTS_CORE_DUMPS="no")
    assert not list(tmp_path.glob("*core*"))
    other = (sys.executable, "-c", "import time; open('ready', 'w'); time.sleep(600)")
    if not dumped(tmp_path, *other):
        pytest.skip("this system makes no cores of anything")
    assert dumped(tmp_path, *command, VCMTS_CORE_DUMPS="yes")
