# SPDX-License-Identifier: BSD-3-Clause
"""An upgrade of the packages does not decide on traffic: a running data plane runs on, and one that
the operator has stopped, such as a standby with the same addresses, stays stopped."""

import pytest

from packages.booted import SERVICE, Root, install, upgrade

VERSION = ("dpkg-query", "--show", "--showformat", "${Version}", "vcmts")


def test_running_process_survives_upgrade(root: Root) -> None:
    before = root.pid()
    upgrade(root)
    assert root.run(*VERSION).endswith("+next")
    assert root.pid() == before
    assert root.serves()
    # The operator starts the new version.
    root.run("systemctl", "restart", SERVICE)
    root.wait_until_served()
    assert root.pid() != before


@pytest.mark.parametrize("script", ["preinst", "postinst"])
def test_running_process_survives_killed_dpkg(root: Root, script: str) -> None:
    before = root.pid()
    root.sh(
        f"""
        package=$(echo /packages/next/vcmts_*.deb)
        dpkg-deb --raw-extract $package /packages/tree
        file=/packages/tree/DEBIAN/{script}
        [ -e $file ] || printf '#!/bin/sh\\nset -e\\n' >$file
        sed -i '1a [ -e /killed ] || {{ touch /killed; pkill -KILL -x dpkg; sleep 1; }}' $file
        chmod 755 $file
        dpkg-deb --build -z1 --root-owner-group /packages/tree $package >/dev/null
        """
    )
    assert root.call("sh", "-c", "dpkg --install /packages/next/vcmts_*.deb").returncode != 0
    assert root.run("ls", "/killed")
    assert root.pid() == before
    assert root.serves()
    root.run("dpkg", "--configure", "--pending")
    root.sh("dpkg --install /packages/next/vcmts_*.deb")
    assert root.pid() == before
    assert root.serves()


def test_stopped_service_stays_stopped(root: Root) -> None:
    root.run("systemctl", "stop", SERVICE)
    upgrade(root)
    assert root.get("ActiveState") == "inactive"
    assert root.get("UnitFileState") == "enabled"
    assert root.get("NeedDaemonReload") == "no"
    root.run("systemctl", "start", SERVICE)
    root.wait_until_served()


def test_disabled_service_stays_disabled(root: Root) -> None:
    root.run("systemctl", "disable", "--now", SERVICE)
    upgrade(root)
    assert root.get("ActiveState") == "inactive"
    assert root.get("UnitFileState") == "disabled"
    root.reboot()
    assert root.get("ActiveState") == "inactive"


def test_masked_service_stays_masked(root: Root) -> None:
    root.run("systemctl", "stop", SERVICE)
    root.run("systemctl", "mask", SERVICE)
    upgrade(root)
    assert root.get("ActiveState") == "inactive"
    assert root.get("UnitFileState") == "masked"


def test_removed_and_installed_service_serves(root: Root) -> None:
    """apt remove keeps the configuration: a new installation serves with it. A later upgrade of a
    stopped service starts nothing."""
    root.run("apt-get", "remove", "--yes", "vcmts")
    assert root.get("ActiveState") == "inactive"
    install(root)
    root.wait_until_served()
    root.run("systemctl", "stop", SERVICE)
    upgrade(root)
    assert root.get("ActiveState") == "inactive"


def test_downgrade_keeps_the_process(root: Root) -> None:
    upgrade(root)
    before = root.pid()
    root.sh("apt-get install --yes --allow-downgrades /packages/vcmts_*.deb")
    assert not root.run(*VERSION).endswith("+next")
    assert root.pid() == before
