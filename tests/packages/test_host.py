# SPDX-License-Identifier: BSD-3-Clause
"""A host plan whose huge pages cannot be reserved: the root's /sys is read-only. vcmtsd serves."""

from collections.abc import Iterator

import pytest

from packages.booted import Root, configure, install


@pytest.fixture
def planned(root: Root) -> Iterator[Root]:
    """A root with the files of an applied plan."""
    root.run("vcmts", "host", "plan", "--groups", "1", "-o", "/tmp/plan")
    root.run("cp", "-r", "/tmp/plan/files/.", "/")
    root.sh(
        """
        chmod 755 /var/lib/vcmts-host/prepare
        touch /var/lib/vcmts-host/journal
        systemctl daemon-reload
        systemctl enable vcmts-host
        """
    )
    root.reboot()
    yield root


def test_serves_although_the_host_service_failed(planned: Root) -> None:
    assert planned.get("ActiveState", "vcmts-host") == "failed"
    planned.wait_until_served()
    before = planned.pid()
    # It fails again, and the data plane runs on.
    assert planned.call("systemctl", "restart", "vcmts-host").returncode != 0
    assert planned.pid() == before
    assert planned.serves()


def test_purge_with_a_plan_and_installation_serve(planned: Root) -> None:
    planned.wait_until_served()
    done = planned.call("apt-get", "purge", "--yes", "vcmts")
    assert done.returncode == 0
    assert "vcmts host undo" in done.stdout + done.stderr
    planned.run("test", "-e", "/var/lib/vcmts-host/prepare")
    install(planned)
    configure(planned)
    planned.run("systemctl", "start", "vcmtsd")
    planned.wait_until_served()
