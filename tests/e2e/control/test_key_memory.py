# SPDX-License-Identifier: BSD-3-Clause
"""Searches the memory of vcmtsd for removed keys, which must be erased. Checks core dumps."""

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

from e2e.control.server import IDLE_SLEEP, NULL_PORTS, config_folder, config_text, start_server
from patience import PATIENCE, TIMEOUT, until, within
from vcmts.control.client import Client
from vcmts.paths import program

IV = "00" * 16
# A key for each way in which a key is added and removed.
IN_FILE = "4f1d6a93c8e27b05f1a4936bd0e85c27"
INSTALLED = "93c5b1e86d2f470ab7e94c0d5a1f8362"
SECOND = "e7092c4bd85f1a63902d7e4fb6c8135a"
OF_MODEM = "2b8d5f0e74a9c361d8f2b704e6a95c1d"
SET = "c41f9a6e0b7d3852f60e9b2d7a4c8f13"
IN_RELOAD = "7e3a0d94b5c2f86119d7e60f4b8a2c53"
REFUSED = "b60f8e2d9c471a35e0d94f7b2a6c8d51"
KEPT = "d90a7c3e5f81b246f7e0c9d3a5b81264"
READ_SIZE = 1 << 22  # bytes per read
ERASE_S = 5 * PATIENCE
PAGE = resource.getpagesize()
ZEROS = re.compile(rb"\0{64,}")  # no key contains it
UPSTREAM = """upstream_channels:
  - {id: 1, type: ofdma, rate: 400 Mbps, session: 257}
"""
FLOW = """    upstream_service_flows:
      - {id: %d, sid_clusters: [{id: 1, sids: [{channel: 1, sid: %d}]}]}
"""

requires_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can read its memory")


def config_with_upstream(crypto: str = "", key: str = IN_FILE) -> str:
    """The configuration with an upstream, for keys of both directions."""
    text = config_text().replace("00010203040506070809101112131411", key)
    text = text.replace("modems:\n", f"{crypto}{UPSTREAM}modems:\n")
    for n in range(1, 5):
        flows = f"    service_flows: [{{id: {n}, dsid: {n}, max_sustained_rate: 100 Mbps}}]\n"
        assert flows in text
        text = text.replace(flows, flows + FLOW % (100 + n, 16 + n))
    return text


def key_parts(key: str) -> list[bytes]:
    """Both halves of the key's bytes, and of its text."""
    raw, text = bytes.fromhex(key), key.encode()
    return [raw[:8], raw[8:], text[:16], text[16:]]


def touched_ranges(pid: int) -> Iterator[tuple[int, int]]:
    """Address ranges (begin, end) of writable memory that the process has touched."""
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pages:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            addresses, mode = line.split(maxsplit=2)[:2]
            if not mode.startswith("rw"):
                continue
            first, last = (int(part, 16) // PAGE for part in addresses.split("-"))
            bits = array("Q", os.pread(pages.fileno(), 8 * (last - first), 8 * first))
            for touched, group in groupby(enumerate(bits, first), lambda page: page[1] >> 62 != 0):
                if touched:
                    numbers = [number for number, _ in group]
                    yield numbers[0] * PAGE, (numbers[-1] + 1) * PAGE


def find_keys(pid: int, *keys: str) -> list[str]:
    """Keys that are in the memory of the process, with the address."""
    keys_by_part = {part: key for key in keys for part in key_parts(key)}
    locations = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for begin, end in touched_ranges(pid):
            for at in range(begin, end, READ_SIZE):
                try:
                    chunk = os.pread(memory.fileno(), min(READ_SIZE + 64, end - at), at)
                except OSError:
                    continue  # memory of a device
                data = ZEROS.sub(b"\0", chunk)
                locations += [
                    f"{key} at {at + chunk.index(part):#x}"
                    for part, key in keys_by_part.items()
                    if part in data
                ]
    return locations


def are_erased(pid: int, *keys: str) -> bool:
    return not find_keys(pid, *keys)


def roll_key(client: Client, key: str) -> None:
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


def add_and_remove_keys(client: Client, folder: Path) -> None:
    """Adds and removes keys in every way. Only KEPT is in use afterwards."""
    roll_key(client, INSTALLED)
    roll_key(client, SECOND)
    client.call("modem.add", modem=modem(1, OF_MODEM))
    security = {"said": 77, "key": SET, "iv": IV}
    client.call("modem.set", modem={"mac": "02:01:00:00:01:01", "security": security})
    client.call("config.get", keys=True)
    client.calls([("config.get", {"keys": True}), ("modem.get", {"mac": "02:01:00:00:01:01"})])
    client.call("modem.remove", mac="02:01:00:00:01:01")
    crypto = re.search("^crypto:.*\n", (folder / "sg.yaml").read_text(), re.MULTILINE)
    for key in (IN_RELOAD, KEPT):
        (folder / "sg.yaml").write_text(config_with_upstream(crypto[0] if crypto else "", key))
        client.call("config.reload", force=True)
    invalid = {"said": 1, "key": REFUSED, "iv": "0"}
    for method, params in (("key.install", invalid), ("key.install", {"key": REFUSED, "said": -1})):
        client.calls([(method, params)])


@requires_root
@pytest.mark.parametrize(
    "crypto",
    [
        "",
        "crypto: {provider: cryptodev, device: crypto_aesni_mb0}\n",
        "crypto: {provider: cryptodev, device: crypto_openssl0}\n",
    ],
    ids=["library", "aesni_mb", "openssl"],
)
def test_removed_keys_are_erased(crypto: str) -> None:
    with config_folder() as folder:
        (folder / "sg.yaml").write_text(config_with_upstream(crypto))
        with start_server(folder) as (server, path):
            pid = server.process.pid
            assert find_keys(pid, IN_FILE), "the search does not find the key in use"
            with Client(path, TIMEOUT) as client:
                with Client(path, TIMEOUT) as watcher:
                    watcher.call("events.subscribe", keys=True)
                    add_and_remove_keys(client, folder)
                assert find_keys(pid, KEPT)
                removed = (IN_FILE, INSTALLED, SECOND, OF_MODEM, SET, IN_RELOAD, REFUSED)
                # a change retires some rounds after its answer
                assert within(partial(are_erased, pid, *removed), ERASE_S), find_keys(pid, *removed)
            assert server.stop().status == 0


def dumps_core(folder: Path, *command: str | Path, **environment: str) -> bool:
    """Whether the program dumps core when SIGABRT ends it, with an unlimited core size. The signal
    is sent when the program has created file `ready`."""
    pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
            os.chdir(folder)
            os.environ.update(environment)
            with (folder / "said").open("w") as messages:
                os.dup2(messages.fileno(), 2)
            os.execv(command[0], [str(word) for word in command])
        finally:
            os._exit(99)
    until((folder / "ready").exists, "ready")
    os.kill(pid, signal.SIGABRT)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status), (folder / "said").read_text()
    (folder / "ready").unlink()
    return os.WCOREDUMP(status)


def test_vcmtsd_makes_no_core_dump(tmp_path: Path) -> None:
    """No core dump, except with VCMTS_CORE_DUMPS=yes."""
    if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        pytest.skip("this system allows no core dumps")
    (tmp_path / "sg.yaml").write_text(config_text())
    options = ("--config", "sg.yaml", "--control-socket", "none", "--ready", "ready")
    command = (program("vcmtsd").resolve(), "run", *options, *NULL_PORTS, *IDLE_SLEEP)
    assert not dumps_core(tmp_path, *command, VCMTS_CORE_DUMPS="no")
    assert not list(tmp_path.glob("*core*"))
    other = (sys.executable, "-c", "import time; open('ready', 'w'); time.sleep(600)")
    if not dumps_core(tmp_path, *other):
        pytest.skip("this system makes no core dumps")
    assert dumps_core(tmp_path, *command, VCMTS_CORE_DUMPS="yes")
