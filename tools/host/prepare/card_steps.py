# SPDX-License-Identifier: BSD-3-Clause
"""Steps of network cards: create virtual functions, set MAC addresses and VLANs, bind drivers."""

import json
from contextlib import suppress
from typing import Any

from host.prepare.cards import (
    ADDRESS,
    DEVICES,
    NETS,
    driver_override,
    function_address,
    interface_names,
)
from host.prepare.login import busy_reason, check_not_in_use, is_up
from host.prepare.plan import NO_IOMMU
from host.prepare.steps import (
    GoneError,
    Kind,
    LeftError,
    Step,
    equal,
    parts_unchanged,
    unchanged,
)
from host.prepare.system import StepError, System
from vcmts.jsons import Json
from vcmts.system.files import number

DRIVERS = "sys/bus/pci/drivers"


def interface_of(system: System, card: str) -> str:
    found = interface_names(system.files, card)
    if not found:
        raise GoneError(f"card {card} has no kernel interface")
    return found[0]


# ---- the number of virtual functions of a card


def functions_state(system: System, step: Step) -> int:
    text = system.files.text(f"{DEVICES}/{step.target}/sriov_numvfs")
    found = number(text)
    if not isinstance(found, int):
        raise GoneError(f"card {step.target} does not exist or does not support SR-IOV")
    return found


def functions_change(system: System, step: Step, now: int) -> None:
    if now:
        raise StepError(
            f"card {step.target} has {now} functions of another program, planned {step.wanted}: "
            "remove them first, or exclude the card (--cards)"
        )
    try:
        system.set(f"{DEVICES}/{step.target}/sriov_numvfs", str(step.wanted))
    except OSError as error:
        raise StepError(
            f"card {step.target}: its driver refuses {step.wanted} functions ({error.strerror}): "
            "is SR-IOV enabled in the firmware?"
        ) from error
    if functions_state(system, step) != step.wanted:
        raise StepError(f"card {step.target}: the kernel did not create {step.wanted} functions")


def functions_restore(system: System, step: Step, before: int) -> None:
    for index in range(int(step.wanted)):
        address = function_address(system.files, step.target, index)
        if address:
            check_not_in_use(system.files, address)
    system.set(f"{DEVICES}/{step.target}/sriov_numvfs", str(before))


# ---- the kernel interface of a card


def interface_state(system: System, step: Step) -> Json:
    name = interface_of(system, step.target)
    mtu = number(system.files.text(f"{NETS}/{name}/mtu"))
    return {
        "mtu": mtu if isinstance(mtu, int) else 0,
        "up": is_up(system.files, name),
        "ipv6": system.files.text(no_ipv6(name)) == "0",
    }


def no_ipv6(name: str) -> str:
    return f"proc/sys/net/ipv6/conf/{name}/disable_ipv6"


def set_interface(system: System, step: Step, wanted: Json, now: Json) -> None:
    """Turns IPv6 off before the interface is up: with an address that a router announces, it would
    look like an interface of the operator."""
    name = interface_of(system, step.target)
    ipv6 = wanted["ipv6"] != now["ipv6"]
    if ipv6 and not wanted["ipv6"]:
        system.set(no_ipv6(name), "1")
    if wanted["mtu"] != now["mtu"]:
        system.call("ip", "link", "set", "dev", name, "mtu", str(wanted["mtu"]))
    if wanted["up"] != now["up"]:
        system.call("ip", "link", "set", "dev", name, "up" if wanted["up"] else "down")
    if ipv6 and wanted["ipv6"]:
        system.set(no_ipv6(name), "0")


def interface_change(system: System, step: Step, now: Any) -> None:
    set_interface(system, step, step.wanted, now)


def interface_restore(system: System, step: Step, before: Any) -> None:
    set_interface(system, step, before, interface_state(system, step))


# ---- settings of a virtual function


def split_target(step: Step) -> tuple[str, int]:
    """Splits CARD/INDEX."""
    card, _, index = step.target.partition("/")
    return card, int(index)


def vlan_in(function: Json) -> Any:
    """The VLAN of an entry of `ip -j link show`; 0: none."""
    listed = function.get("vlan_list")
    return listed[0].get("vlan", 0) if listed else function.get("vlan", 0)


def function_state(system: System, step: Step) -> Json:
    card, index = split_target(step)
    if not function_address(system.files, card, index):
        raise GoneError(f"card {card} has no function {index}")
    name = interface_of(system, card)
    done = system.start(("ip", "-j", "link", "show", "dev", name))
    try:
        listed = json.loads(done.output)[0].get("vfinfo_list", [])
        function = next(one for one in listed if one.get("vf") == index)
        return {
            "mac": function.get("address", function.get("mac", "")),
            "vlan": vlan_in(function),
            "check": function.get("spoofchk", False),
            "trust": function.get("trust", False),
        }
    except (ValueError, LookupError, AttributeError, StopIteration, TypeError) as error:
        raise StepError(f"`ip -j link show dev {name}` does not list function {index}") from error


def set_function(system: System, step: Step, wanted: Json, now: Json) -> None:
    card, index = split_target(step)
    name = interface_of(system, card)
    words = {
        "mac": ("mac", str(wanted["mac"])),
        "vlan": ("vlan", str(wanted["vlan"])),
        "check": ("spoofchk", "on" if wanted["check"] else "off"),
        "trust": ("trust", "on" if wanted["trust"] else "off"),
    }
    for key, setting in words.items():
        if wanted[key] != now[key]:
            system.call("ip", "link", "set", "dev", name, "vf", str(index), *setting)


def check_unused(system: System, step: Step, address: str) -> None:
    """Raises StepError if a process uses the device, or if the plan did not create it and its
    interface is up."""
    check_not_in_use(system.files, address)
    why = "" if step.made or not step.target.count("/") else busy_reason(system.files, address)
    if why:
        raise StepError(f"{address}: {why}: exclude its card (--cards), or stop using it")


def function_change(system: System, step: Step, now: Any) -> None:
    check_unused(system, step, function_address(system.files, *split_target(step)))
    set_function(system, step, step.wanted, now)
    got = function_state(system, step)
    if got != step.wanted:
        names = [key for key in step.wanted if got[key] != step.wanted[key]]
        raise StepError(f"function {step.target}: its driver did not apply {', '.join(names)}")


def function_restore(system: System, step: Step, before: Any) -> None:
    if not step.made:
        check_not_in_use(system.files, function_address(system.files, *split_target(step)))
        set_function(system, step, before, function_state(system, step))


def function_unchanged(step: Step, now: Any, before: Any) -> bool:
    return step.made or parts_unchanged(step, now, before)


# ---- the driver of a function


def address_of(system: System, step: Step) -> str:
    card, slash, _ = step.target.partition("/")
    address = function_address(system.files, *split_target(step)) if slash else card
    if not address or not system.path(f"{DEVICES}/{address}").is_dir():
        raise GoneError(f"{step.target} does not exist")
    return address


def binding_state(system: System, step: Step) -> dict[str, str]:
    address = address_of(system, step)
    driver = system.files.link(f"{DEVICES}/{address}/driver")
    return {"override": driver_override(system.files, address), "driver": driver}


def unbind(system: System, address: str) -> None:
    driver = system.files.link(f"{DEVICES}/{address}/driver")
    if driver:
        system.set(f"{DRIVERS}/{driver}/unbind", address)


def no_iommu_mode(system: System) -> bool:
    return system.files.text(NO_IOMMU) == "Y"


def binding_change(system: System, step: Step, now: Any) -> None:
    address, driver = address_of(system, step), step.wanted["driver"]
    check_unused(system, step, address)
    if not system.path(f"{DEVICES}/{address}/iommu_group").exists() and not no_iommu_mode(system):
        raise StepError(f"{address}: it has no IOMMU, so {driver} cannot bind it")
    refused = ""
    system.set(f"{DEVICES}/{address}/driver_override", step.wanted["override"])
    if now["driver"] != driver:
        unbind(system, address)
        try:
            system.set("sys/bus/pci/drivers_probe", address)
        except OSError as error:
            refused = f" ({error.strerror})"
    got = binding_state(system, step)["driver"]
    if got != driver:
        raise StepError(f"{address}: {driver} does not bind it{refused}: is the IOMMU enabled?")


def binding_restore(system: System, step: Step, before: Any) -> None:
    address = address_of(system, step)
    now = binding_state(system, step)
    if now["driver"] != before["driver"]:
        check_not_in_use(system.files, address)
        unbind(system, address)
    if now["override"] != before["override"]:
        system.set(f"{DEVICES}/{address}/driver_override", before["override"] or "\n")
    if before["driver"] and now["driver"] != before["driver"]:
        try:
            system.set(f"{DRIVERS}/{before['driver']}/bind", address)
        except OSError as error:
            raise StepError(
                f"{address}: {before['driver']} does not bind it again ({error.strerror})"
            ) from error


def check_undo(system: System, step: Step) -> None:
    """Raises StepError if a process uses the device that the step changed."""
    with suppress(GoneError):
        if step.kind in ("binding", "function"):
            check_not_in_use(system.files, address_of(system, step))


def binding_unchanged(step: Step, now: Any, before: Any) -> bool:
    """Accepts no driver as well: a crash may have left the device unbound."""
    drivers = (before["driver"], step.wanted["driver"], "")
    overrides = (before["override"], step.wanted["override"])
    return now["driver"] in drivers and now["override"] in overrides


# ---- kernel modules


def module_state(system: System, step: Step) -> bool:
    return system.path(f"{DRIVERS}/{step.target}").is_dir()


def module_change(system: System, step: Step, now: Any) -> None:
    system.call("modprobe", step.target)
    if not module_state(system, step):
        raise StepError(f"{step.target}: the kernel has no such driver")


def module_restore(system: System, step: Step, before: Any) -> None:
    if module_state(system, step) and not before:
        others = system.files.names(f"{DRIVERS}/{step.target}", ADDRESS)
        if others:
            raise LeftError(f"{step.target} still drives {', '.join(others)}")
        system.call("modprobe", "--remove", step.target)


KINDS = {
    "functions": Kind(functions_state, functions_change, functions_restore, equal, unchanged),
    "interface": Kind(interface_state, interface_change, interface_restore, equal, parts_unchanged),
    "function": Kind(function_state, function_change, function_restore, equal, function_unchanged),
    "binding": Kind(binding_state, binding_change, binding_restore, equal, binding_unchanged),
    "module": Kind(module_state, module_change, module_restore, equal, unchanged),
}


def changed_card(step: Step) -> str:
    """The address of the card that a step changes; "" if it changes none."""
    return step.target.partition("/")[0] if step.kind in KINDS and step.kind != "module" else ""
