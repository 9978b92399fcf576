# SPDX-License-Identifier: BSD-3-Clause
"""needrestart, which Debian runs after upgrades of libraries, does not restart the data plane."""

from packages.booted import Root

# A service that needrestart restarts: without it the test would prove nothing.
OTHER = """[Service]
ExecStart=/bin/sleep infinity
Restart=no
"""


def test_library_upgrade_does_not_restart_vcmtsd(root: Root) -> None:
    root.install("needrestart")
    root.write("/etc/systemd/system/other.service", OTHER)
    root.run("systemctl", "daemon-reload")
    root.run("systemctl", "start", "other")
    data_plane, other = root.pid(), root.get("MainPID", "other")
    # An upgrade replaces the file: running processes map the deleted one.
    root.sh("file=$(echo /usr/lib/*/libc.so.6); cp $file $file.new; mv $file.new $file")
    report = root.run("needrestart", "-b", "-r", "l")
    assert "vcmtsd" in report
    root.call("needrestart", "-r", "a")
    assert root.get("MainPID", "other") != other
    assert root.pid() == data_plane
    assert root.serves()
