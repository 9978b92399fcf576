# SPDX-License-Identifier: BSD-3-Clause
"""A purge removes the packages' files, and nothing that others refer to or own."""

from packages.booted import Root, configure, install, upgrade

# Besides those that systemd keeps about a unit.
RUNTIME_FILES = r"""
find /run -path /run/systemd -prune -o \( -name "*vcmts*" -o -name dpdk \) -print
"""
PURGE = ("apt-get", "purge", "--yes", "vcmts")
# All files except those that dpkg, apt and systemd write; with type, owner and permissions.
FILES = r"""
find / -xdev \( -path /tmp -o -path /var/tmp -o -path /proc -o -path /sys -o -path /dev -o \
    -path /run -o -path /packages -o -path /root -o -path /var/log -o -path /var/cache -o \
    -path /var/lib/apt -o -path /var/lib/systemd \) -prune -o -printf '%p %y %u:%g %m\n' |
    grep -Ev '^/(etc/(passwd|group|shadow|gshadow|subuid|subgid)-?|etc/\.pwd\.lock) ' |
    grep -Ev '^/var/lib/dpkg/(.*-old|triggers.*|lock.*) ' | sort
"""


def mode(root: Root, path: str = "/etc/vcmts") -> str:
    return root.run("stat", "--format", "%U:%G %a", path)


def test_purge_after_service_leaves_no_file(empty: Root) -> None:
    before = empty.sh(FILES)
    install(empty)
    configure(empty)
    empty.run("systemctl", "start", "vcmtsd")
    empty.wait_until_served()
    empty.run(*PURGE)
    assert set(empty.sh(FILES).splitlines()) == set(before.splitlines())
    assert empty.sh(RUNTIME_FILES) == ""
    assert empty.sh("pgrep vcmtsd || true") == ""
    assert empty.sh("systemctl --no-legend --all list-units '*vcmts*'") == ""


def test_folder_of_configuration_is_private(root: Root) -> None:
    assert mode(root) == "root:vcmts 750"
    root.run("chmod", "0755", "/etc/vcmts")
    install(root)
    assert mode(root) == "root:vcmts 750"


def test_statoverride_survives_boot_upgrade_and_purge(root: Root) -> None:
    root.run("dpkg-statoverride", "--update", "--add", "root", "vcmts", "0770", "/etc/vcmts")
    assert mode(root) == "root:vcmts 770"
    root.reboot()
    assert mode(root) == "root:vcmts 770"
    upgrade(root)
    assert mode(root) == "root:vcmts 770"
    root.run(*PURGE)
    # dpkg refuses all packages while an override has an unknown group.
    install(root)
    assert mode(root) == "root:vcmts 770"


def test_purge_keeps_account_with_statoverride_of_another_file(root: Root) -> None:
    """An operator's folder for captures belongs to the group, and dpkg knows it."""
    root.run("mkdir", "/srv/captures")
    root.run("dpkg-statoverride", "--update", "--add", "root", "vcmts", "2770", "/srv/captures")
    root.run(*PURGE)
    install(root)
    assert mode(root, "/srv/captures") == "root:vcmts 2770"


def test_purge_keeps_account_from_before(empty: Root) -> None:
    empty.run("groupadd", "--system", "vcmts")
    empty.run(
        *("useradd", "--system", "--gid", "vcmts", "--home-dir", "/nonexistent", "vcmts"),
        *("--shell", "/usr/sbin/nologin", "--comment", "made by the operator"),
    )
    before = empty.sh("getent passwd vcmts; getent group vcmts")
    install(empty)
    assert empty.sh("getent passwd vcmts; getent group vcmts") == before
    empty.run(*PURGE)
    assert empty.sh("getent passwd vcmts; getent group vcmts") == before


def test_purge_keeps_group_with_members(root: Root) -> None:
    root.run("useradd", "--create-home", "--groups", "vcmts", "engineer")
    before = root.run("getent", "group", "vcmts")
    assert before.endswith(":engineer")
    root.run(*PURGE)
    assert root.run("getent", "group", "vcmts") == before


def test_install_after_purge_serves(root: Root) -> None:
    root.run(*PURGE)
    assert root.call("ls", "/etc/vcmts").returncode != 0
    install(root)
    configure(root)
    root.run("systemctl", "start", "vcmtsd")
    root.wait_until_served()
