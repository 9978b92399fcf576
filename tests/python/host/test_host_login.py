# SPDX-License-Identifier: BSD-3-Clause
"""Tests which interfaces are protected because a user is logged in over them, also under sudo."""

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
    """eth0 has a global address; eth1 and eth2 have only link-local addresses."""
    base(tmp_path, HostSpec(cores=2))
    nics = [
        Nic("0000:02:00.0", "eth0", up=True, addresses=("10.1.1.1",)),
        Nic("0000:02:00.1", "eth1", up=True, addresses=("fe80::1",)),
        Nic("0000:02:00.2", "eth2", up=True, addresses=(LINK,)),
    ]
    return Files(tmp_path, Kernel(tmp_path, nics).ask)


def processes(files: Files, *environments: str) -> None:
    """Makes a chain of processes with these environments, from the first process to this one."""
    write(files.path("proc/1/status"), "Name:\tinit\nPPid:\t0")
    parent = 1
    for number, environment in enumerate(environments, 100):
        write(files.path(f"proc/{number}/status"), f"Name:\tx\nPPid:\t{parent}")
        write(files.path(f"proc/{number}/environ"), environment)
        parent = number
    write(files.path("proc/self/status"), f"Name:\tvcmts\nPPid:\t{parent}")


def test_session_is_found_under_sudo(files: Files) -> None:
    """Of sshd, its shell and sudo, only the shell has the variable."""
    assert set(guarded(files, {})) == {"eth0"}
    processes(files, "A=b", f"A=b\0SSH_CONNECTION={SESSION}\0C=d\0", "SUDO_USER=x\0")
    assert guarded(files, {})["eth2"] == "your SSH session uses it"
    assert set(guarded(files, {})) == {"eth0", "eth2"}


def test_scope_of_address_is_an_interface(files: Files) -> None:
    session = "fe80::9%eth1 5000 fe80::77%eth1 22"  # an address that no longer exists
    assert set(guarded(files, {"SSH_CONNECTION": session})) == {"eth0", "eth1"}


def test_invalid_ancestors_are_ignored(files: Files) -> None:
    processes(files, "A=b", "\xff\0SSH_CONNECTION=what\0=\0")
    write(files.path("proc/100/status"), "Name:\tx\nPPid:\t101")  # a cycle
    assert set(guarded(files, {})) == {"eth0"}
    write(files.path("proc/self/status"), "PPid:\t../../etc")
    assert set(guarded(files, {})) == {"eth0"}


def tcp6_address(address: str) -> str:
    """Returns an address as in /proc/net/tcp6."""
    data = bytes.fromhex(address)
    words = [data[n : n + 4] for n in range(0, 16, 4)]
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)


def test_established_connection_protects_interface(files: Files) -> None:
    """A terminal that outlives its session has no variable of it."""
    local, remote = (
        tcp6_address("fe80000000000000505400fffe000002"),
        tcp6_address("fe80" + "0" * 27 + "9"),
    )
    line = "   0: {}:0016 {}:C350 {} 00000000:00000000 00:00000000 00000000     0        0 1"
    file = files.path("proc/net/tcp6")
    write(file, "  sl  local\n" + line.format(local, remote, "0A"))  # listening
    assert set(guarded(files, {})) == {"eth0"}
    write(file, "  sl  local\nx\n" + line.format(local, remote, "01"))
    assert guarded(files, {})["eth2"] == "a TCP connection uses it"
    assert set(guarded(files, {})) == {"eth0", "eth2"}


@pytest.mark.parametrize("address", ["169.254.7.7", "192.168.1.1", "2001:db8::1"])
def test_addresses_that_protect_interfaces(address: str, tmp_path: Path) -> None:
    """All IPv4 addresses, also link-local ones."""
    base(tmp_path, HostSpec(cores=2))
    nics = [Nic("0000:02:00.0", "eth0", up=True, addresses=("fe80::1", address))]
    assert set(guarded(Files(tmp_path, Kernel(tmp_path, nics).ask), {})) == {"eth0"}
