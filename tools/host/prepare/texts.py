# SPDX-License-Identifier: BSD-3-Clause
"""The text of each file that a plan installs. The files prepare the host at each boot."""

from collections.abc import Iterator

from host.prepare.cards import VFIO
from host.prepare.plan import GRUB, Plan, PlannedCard

HEAD = "# Written by `vcmts host plan`; `vcmts host undo` removes it."
# Not in /etc/vcmts, which a purge of the package deletes while the plan stays applied.
SCRIPT = "var/lib/vcmts-host/prepare"
OLD_SCRIPT = "etc/vcmts/host-prepare"  # of plans of version 0.1.0, for undo and a new plan
UNIT = "etc/systemd/system/vcmts-host.service"
WANTED = "etc/systemd/system/multi-user.target.wants/vcmts-host.service"
DROP_IN = "etc/systemd/system/vcmtsd.service.d/host.conf"
RULES = "etc/udev/rules.d/70-vcmts-host.rules"
MODULES = "etc/modules-load.d/vcmts-host.conf"
OPTIONS = "etc/modprobe.d/vcmts-host.conf"
NAMES = (SCRIPT, OLD_SCRIPT, UNIT, WANTED, DROP_IN, RULES, MODULES, OPTIONS, GRUB)  # all possible

SHELL = """#!/bin/sh
{head}
# Sets at each boot what does not persist: huge pages, functions of cards, drivers.
# It can run at any time, as it changes only what differs. It prints failures and continues.
set -u
devices=/sys/bus/pci/devices
no_iommu={no_iommu}
failed=0
fail() {{
	echo "vcmts-host: $*" >&2
	failed=1
}}
# pages FILE COUNT
pages() {{
	[ "$(cat "/$1")" -ge "$2" ] || echo "$2" >"/$1" || :
	[ "$(cat "/$1")" -ge "$2" ] || fail "/$1: $2 huge pages requested, $(cat "/$1") allocated"
}}
# same CARD VENDOR DEVICE MAC: whether the address has that card; MAC - if unknown
same() {{
	[ "$(cat "$devices/$1/vendor" 2>/dev/null)" = "0x$2" ] || return 1
	[ "$(cat "$devices/$1/device" 2>/dev/null)" = "0x$3" ] || return 1
	for file in "$devices/$1"/net/*/address "$devices/$1"/virtio*/net/*/address; do
		[ ! -e "$file" ] || [ "$4" = - ] || [ "$(cat "$file")" = "$4" ] || return 1
	done
}}
# functions CARD COUNT AUTOPROBE MTU
functions() {{
	[ "$3" = 1 ] || echo 0 >"$devices/$1/sriov_drivers_autoprobe" ||
		fail "$1: the kernel binds its new functions itself"
	[ "$(cat "$devices/$1/sriov_numvfs")" = "$2" ] || echo "$2" >"$devices/$1/sriov_numvfs" ||
		fail "$1: its driver refuses $2 functions"
	for net in "$devices/$1"/net/*; do
		[ -e "$net" ] || continue
		ipv6=/proc/sys/net/ipv6/conf/${{net##*/}}/disable_ipv6
		[ ! -e "$ipv6" ] || echo 1 >"$ipv6" || fail "$1: IPv6 stays on"
		[ "$(cat "$net/mtu")" = "$4" ] || ip link set dev "${{net##*/}}" mtu "$4" ||
			fail "$1: its driver refuses MTU $4"
		ip link set dev "${{net##*/}}" up || fail "$1: its interface cannot be set up"
	done
}}
# function_settings CARD INDEX SETTING...
function_settings() {{
	card=$1 index=$2
	shift 2
	for net in "$devices/$card"/net/*; do
		[ -e "$net" ] || {{
			fail "$card: no interface to set function $index"
			continue
		}}
		ip link set dev "${{net##*/}}" vf "$index" "$@" || fail "$card: function $index refuses $*"
	done
}}
# driver PATH: prints the driver of a device
driver() {{
	[ ! -e "$1/driver" ] || basename "$(readlink -f "$1/driver")"
}}
# bind DEVICE
bind() {{
	[ -e "$1" ] || {{
		fail "$1: no such device"
		return 0
	}}
	[ "$(driver "$1")" != {vfio} ] || return 0
	if [ "$no_iommu" = 0 ] && [ ! -e "$1/iommu_group" ]; then
		fail "$1: it has no IOMMU, so {vfio} is not bound"
		return 0
	fi
	echo {vfio} >"$1/driver_override" || fail "$1: driver_override cannot be set"
	[ ! -e "$1/driver" ] || basename "$(readlink -f "$1")" >"$1/driver/unbind" || :
	basename "$(readlink -f "$1")" >/sys/bus/pci/drivers_probe || :
	[ "$(driver "$1")" = {vfio} ] || fail "$1: {vfio} does not bind it"
}}
"""

SERVICE = """{head}
[Unit]
Description=Huge pages, functions of network cards and their drivers for OpenVCMTS
DefaultDependencies=no
After=systemd-modules-load.service systemd-udev-settle.service local-fs.target
Wants=systemd-udev-settle.service
Before=network-pre.target vcmtsd.service shutdown.target
Wants=network-pre.target
Conflicts=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh /{script}

[Install]
WantedBy=multi-user.target
"""


def settings(card: PlannedCard) -> Iterator[str]:
    for one in card.functions:
        if one.index is not None:
            yield (
                f"\tfunction_settings {card.address} {one.index} mac {one.mac} vlan {one.vlan} "
                f"spoofchk {'on' if one.check else 'off'} trust {'on' if one.trust else 'off'}"
            )


def card_lines(card: PlannedCard) -> Iterator[str]:
    yield f"if same {card.address} {card.vendor} {card.device} {card.mac or '-'}; then"
    if card.made and not card.others:
        yield f"\tfunctions {card.address} {card.made} {int(not card.bind)} {card.mtu}"
    yield from settings(card)
    if card.bind:
        for one in card.functions:
            end = "" if one.index is None else f"/virtfn{one.index}"
            yield f'\tbind "$devices/{card.address}{end}"'
    yield "else"
    yield f'\tfail "{card.address} is not the card of the plan"'
    yield "fi"


def script(plan: Plan) -> str:
    lines = [f"pages {one.file} {one.count}" for one in plan.pages if one.size_kb == 2048]
    if plan.uses_vfio:
        lines.append(f'modprobe {VFIO} || fail "{VFIO}: the kernel has no such driver"')
    for card in plan.cards:
        lines += card_lines(card)
    body = "".join(f"{line}\n" for line in [*lines, "exit $failed"])
    return SHELL.format(head=HEAD, vfio=VFIO, no_iommu=int(plan.no_iommu)) + "\n" + body


def vfio_rules(address: str) -> list[str]:
    """udev rules that give user vcmts access to the VFIO group of a device. The group's name is its
    number; without an IOMMU noiommu- and its number."""
    return [
        f'ACTION!="remove", SUBSYSTEM=="vfio", KERNEL=="{names}", '
        f'TEST=="/sys/kernel/iommu_groups/{of_group}/devices/{address}", '
        'GROUP="vcmts", MODE="0660"'
        for names, of_group in (("[0-9]*", "%k"), ("noiommu-*", "%n"))
    ]


def rules(plan: Plan) -> str:
    """udev rules: network managers leave the cards alone, and a function that is created again is
    bound to its driver."""
    lines = [HEAD]
    for card in plan.cards:
        # A whole card has an interface only while it is not bound. A function is no child of its
        # card in sysfs, and has an interface if it keeps its kernel driver. The interface of a
        # card whose functions another program creates belongs to that program.
        own = [] if card.others else [card.address]
        functions = [card.addresses[f.index] for f in card.functions if f.index is not None]
        lines += [
            f'ACTION!="remove", SUBSYSTEM=="net", KERNELS=="{address}", '
            'ENV{NM_UNMANAGED}="1", ENV{ID_NET_MANAGED_BY}="vcmts-host"'
            for address in (*own, *functions)
        ]
        for one in card.functions if card.bind else ():
            lines += vfio_rules(card.port_of(one))
        if not (card.made and card.bind):
            continue
        lines += [
            f'ACTION=="add", SUBSYSTEM=="pci", KERNEL=="{card.addresses[one.index]}", '
            f'ATTR{{driver_override}}="{VFIO}"'
            for one in card.functions
            if one.index is not None
        ]
    return "".join(f"{line}\n" for line in lines)


def drop_in(plan: Plan) -> str:
    """The drop-in of vcmtsd.service: the capabilities that its cards need. Wants=, as vcmtsd serves
    with what the host service could set up, and a restart of that must not interrupt traffic."""
    lines = [HEAD, "[Unit]", "Wants=vcmts-host.service", "After=vcmts-host.service"]
    needed = []
    if plan.no_iommu and plan.uses_vfio:
        needed += ["CAP_SYS_ADMIN", "CAP_SYS_RAWIO"]
    if any(not card.bind for card in plan.cards):  # DPDK uses the kernel driver
        needed += ["CAP_NET_ADMIN", "CAP_NET_RAW"]
    if needed:
        words = " ".join(needed)
        lines += ["", "[Service]", f"CapabilityBoundingSet={words}", f"AmbientCapabilities={words}"]
    return "".join(f"{line}\n" for line in lines)


def plan_files(plan: Plan) -> dict[str, str]:
    """Returns file contents by path below the root."""
    found = {
        SCRIPT: script(plan),
        UNIT: SERVICE.format(head=HEAD, script=SCRIPT),
        DROP_IN: drop_in(plan),
    }
    if plan.cards:
        found[RULES] = rules(plan)
    if plan.uses_vfio:
        found[MODULES] = f"{HEAD}\n{VFIO}\n"
    if plan.no_iommu and plan.uses_vfio:
        found[OPTIONS] = f"{HEAD}\noptions vfio enable_unsafe_noiommu_mode=1\n"
    if plan.arguments and plan.facts.loader == "grub":
        words = " ".join(plan.arguments)
        found[GRUB] = f'{HEAD}\nGRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {words}"\n'
    return found
