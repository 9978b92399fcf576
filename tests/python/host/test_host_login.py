# SPDX-License-Identifier: BSD-3-Clause
"""Over which interfaces somebody is logged in, also where sudo has forgotten it."""

import sys
from pathlib import Path

import pytest

from host.prepare.login import guarded
from python.host.host_kernel import Kernel, Nic
from python.host.host_machines import base
from python.layout_machines import HostSpec, write
from vcmts.system.files import Files

LINK = "fe80::5054:ff:fe00:2"
SESSION = f"fe80::9%eth2 5000 {LINK}%eth2 22"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """eth0 has an address; eth1 and eth2 have those of their links alone."""
    base(tmp_path, HostSpec(cores=2))
    nics = [
        Nic("0000:02:00.0", "eth0", up=True, addresses=("10.1.1.1",)),
        Nic("0000:02:00.1", "eth1", up=True, addresses=("fe80::1",)),
        Nic("0000:02:00.2", "eth2", up=True, addresses=(LINK,)),
    ]
    return Files(tmp_path, Kernel(tmp_path, nics).ask)


def processes(files: Files, *environments: str) -> None:
    """Ours is the last one of a line that begins with the first process."""
    write(files.path("proc/1/status"), "Name:\tinit\nPPid:\t0")
    parent = 1
    for number, environment in enumerate(environments, 100):
        write(files.path(f"proc/{number}/status"), f"Name:\tx\nPPid:\t{parent}")
        write(files.path(f"proc/{number}/environ"), environment)
        parent = number
    write(files.path("proc/self/status"), f"Name:\tvcmts\nPPid:\t{parent}")


def test_under_sudo(files: Files) -> None:
    """sshd, its shell, sudo: the shell alone has it."""
    assert set(guarded(files, {})) == {"eth0"}
    processes(files, "A=b", f"A=b\0SSH_CONNECTION={SESSION}\0C=d\0", "SUDO_USER=x\0")
    assert guarded(files, {})["eth2"] == "you are logged in over it"
    assert set(guarded(files, {})) == {"eth0", "eth2"}


def test_the_scope_of_an_address_names_an_interface(files: Files) -> None:
    session = "fe80::9%eth1 5000 fe80::77%eth1 22"  # an address that is gone by now
    assert set(guarded(files, {"SSH_CONNECTION": session})) == {"eth0", "eth1"}


def test_ancestors_that_are_no_line(files: Files) -> None:
    processes(files, "A=b", "\xff\0SSH_CONNECTION=what\0=\0")
    write(files.path("proc/100/status"), "Name:\tx\nPPid:\t101")  # a circle
    assert set(guarded(files, {})) == {"eth0"}
    write(files.path("proc/self/status"), "PPid:\t../../etc")
    assert set(guarded(files, {})) == {"eth0"}


def words_of(address: str) -> str:
    """As /proc/net/tcp6 has an address."""
    data = bytes.fromhex(address)
    words = [data[at : at + 4] for at in range(0, 16, 4)]
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)


def test_a_connection_of_a_link(files: Files) -> None:
    """A login in a terminal that outlives its session is in nobody's environment."""
    ours, theirs = words_of("fe80000000000000505400fffe000002"), words_of("fe80" + "0" * 27 + "9")
    line = "   0: {}:0016 {}:C350 {} 00000000:00000000 00:00000000 00000000     0        0 1"
    place = files.path("proc/net/tcp6")
    write(place, "  sl  local\n" + line.format(ours, theirs, "0A"))  # it listens
    assert set(guarded(files, {})) == {"eth0"}
    write(place, "  sl  local\nx\n" + line.format(ours, theirs, "01"))
    assert guarded(files, {})["eth2"] == "a connection is established over it"
    assert set(guarded(files, {})) == {"eth0", "eth2"}


@pytest.mark.parametrize("address", ["169.254.7.7", "192.168.1.1", "2001:db8::1"])
def test_addresses_that_count(address: str, tmp_path: Path) -> None:
    """Each of IPv4, also one that has the scope of a link."""
    base(tmp_path, HostSpec(cores=2))
    nics = [Nic("0000:02:00.0", "eth0", up=True, addresses=("fe80::1", address))]
    assert set(guarded(Files(tmp_path, Kernel(tmp_path, nics).ask), {})) == {"eth0"}
