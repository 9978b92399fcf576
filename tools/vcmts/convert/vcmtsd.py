# SPDX-License-Identifier: BSD-3-Clause
"""Converts values of the reference's chart vcmtsd: one release per set of equal pods."""

from collections import Counter
from dataclasses import dataclass

from vcmts.convert.reading import SOCKET, UNUSED_KEYS, Map, Notes
from vcmts.jsons import Json
from vcmts.layout.propose import LAYOUTS
from vcmts.paths import MistakeError
from vcmts.profile.group import parse_name
from vcmts.profile.numbers import MOST_GROUPS

LAYOUT_NAMES = tuple(layout.name for layout in LAYOUTS)
CIPHERS = {("aes", 16): "aes", ("aes", 32): "aes256", ("des", 16): "des", ("none", 16): "none"}
PAGES = ("2Mi", "1Gi")
DEVICE_NOTE = "taken as a device: a pod sees it only where a device plugin gives it"
QAT = {"provider": "cryptodev", "resource": "qat.intel.com/generic", "variable": "QAT0"}


@dataclass
class Group:
    id: int
    socket: int
    values: Json  # of the group itself
    pod: Json  # common to all pods of a release


def profile_name(ofdm: int, modems: int, ending: str) -> str:
    """The profile's name. With up to three OFDM channels, it has 32 SC-QAM channels."""
    return f"{ofdm}ofdm-{32 if ofdm <= 3 else 0}sc-qam_{modems}cms_{ending}"


def parse_profile(found: Map) -> str:
    """The name of the profile of a group."""
    ofdm = found.number("num_ofdm", 1, 999)
    modems = found.number("num_subs", 1, 65535)
    cipher = found.choice("cm_crypto", ("aes", "des", "none")) or "aes"
    size = found.number("aes_key_size", 16, 32) or 16
    for key, value in (("num_ofdm", ofdm), ("num_subs", modems)):
        if value is None:
            raise found.needed(key)
    kind = (cipher, size if cipher == "aes" else 16)
    if kind not in CIPHERS:
        raise found.mistake("aes_key_size", repr(str(size)), "16 or 32")
    assert ofdm is not None and modems is not None
    name = profile_name(ofdm, modems, CIPHERS[kind])
    try:
        parse_name(name)
    except MistakeError as mistake:
        raise found.mistake("num_ofdm", str(ofdm), f"what makes a profile: {mistake}") from mistake
    return name


def pci(found: Map, key: str) -> str | None:
    """A PCI address, with the domain; None if the key is missing or empty."""
    text = found.text(key)
    if text is None:
        return None
    parts = text.replace(".", ":").split(":")
    domain = parts.pop(0) if len(parts) == 4 else "0000"
    digits = "0123456789abcdefABCDEF"
    widths = [4, 2, 2, 1]
    whole = [domain, *parts]
    if [len(part) for part in whole] != widths or any(
        c not in digits for part in whole for c in part
    ):
        raise found.mistake(key, repr(text), "a PCI address such as 18:02.0")
    return f"{domain}:{parts[0]}:{parts[1]}.{parts[2]}"


def parse_ports(found: Map, socket: int, notes: Notes) -> Json:
    """The ports: given PCI addresses, or resources of the reference's device plugin."""
    index = found.number("pf_index", 0, 255)
    ports: Json = {}
    for role, key, way in (("network", "net_ds", "ds"), ("rphy", "net_us", "us")):
        device = pci(found, key)
        if device:
            notes.add(found, key, DEVICE_NOTE)
            ports[role] = {"device": device}
        elif index is not None:
            ports[role] = {"resource": f"openshift.io/vcmts_nw_vf_{way}_{index}"}
        else:
            ports[role] = {"resource": f"intel.com/vcmts_nw_vf_socket_{socket}_{way}"}
    return ports


def parse_crypto(found: Map, notes: Notes) -> Json:
    crypto: Json = {"generate_crc": found.switch("crc") is not False}
    device = pci(found, "qat_pci")
    if not found.switch("qat", on="qat_on", off="qat_off"):
        if device:
            notes.add(found, "qat_pci", "left out: qat requests no accelerator")
    elif device:
        notes.add(found, "qat_pci", DEVICE_NOTE)
        crypto |= {"provider": "cryptodev", "device": device}
    else:
        crypto |= QAT
    return crypto


def parse_power(found: Map, notes: Notes) -> Json:
    """Values of the pod for power management."""
    text = found.choice("power_mgmt", ("pm_off", "pm_on", "time_of_day"))
    if text in (None, "pm_off"):
        return {}
    if text == "time_of_day":
        notes.add(
            found, "power_mgmt", "taken as policy balanced: server.power.busy_hours sets the hours"
        )
    return {"server": {"power": {"policy": "balanced"}}}


def parse_memory(found: Map, mode: str) -> Json:
    """Values of the pod for huge pages."""
    size = found.choice("hpg_sz", PAGES) or "1Gi"
    amount = found.text("hpg_alloc_sz")
    if amount is None:
        return {"hugePages": {"size": size}}
    number = amount.removesuffix("Mi").removesuffix("Gi")
    if not number.isascii() or not number.isdigit() or number.startswith("0") or number == amount:
        raise found.mistake("hpg_alloc_sz", repr(amount), "a number of Mi or Gi such as 1024Mi")
    key = "amount" if mode == "separate" else "perGroup"
    mebibytes = int(number) * (1024 if amount.endswith("Gi") else 1)
    if key == "amount" and mebibytes % (1024 if size == "1Gi" else 2):
        raise found.mistake("hpg_alloc_sz", repr(amount), f"a multiple of hpg_sz, which is {size}")
    return {"hugePages": {"size": size, key: amount}}


def parse_cores(found: Map, mode: str, notes: Notes) -> Json:
    """Values of the pod for layout and cores."""
    layout = found.choice("core_config", LAYOUT_NAMES)
    count = found.number("num_lcores_required", 1, 1024)
    cores: Json = {"layout": layout} if layout else {}
    if count and mode == "shared":
        notes.add(found, "num_lcores_required", "left out: calculated for the groups of a pod")
    elif count:
        needed = next((item.threads for item in LAYOUTS if item.name == layout), 0)
        if count < needed + 1:
            notes.add(
                found,
                "num_lcores_required",
                f"left out: {layout} takes {needed:g} and management one",
            )
        else:
            cores["count"] = count
            if count % 2:
                cores["siblings"] = 1
    return {"cores": cores} if cores else {}


def parse_group(found: Map, shift: int, mode: str, notes: Notes) -> Group:
    number = found.number("sg_id", 0, 65534)
    if number is None:
        raise found.needed("sg_id")
    socket = found.number("cpu_socket_id", 0, 63) or 0
    if mode == "separate" and "cpu_socket_id" in found.keys:
        notes.add(found, "cpu_socket_id", f"left out: {SOCKET}")
    pod = parse_power(found, notes) | parse_memory(found, mode) | parse_cores(found, mode, notes)
    for key in ("latency", "cycles"):
        value = found.switch(key)
        if value is not None:
            pod[key] = value
    values = {
        "profile": parse_profile(found),
        "ports": parse_ports(found, socket, notes),
        "crypto": parse_crypto(found, notes),
    }
    notes.add_unused(found, UNUSED_KEYS)
    return Group(number + shift, socket, {"name": f"sg-{number}", **values}, pod)


def selected_pods(topology: Map, notes: Notes) -> list[Map]:
    pods = list(topology.maps("vcmts_pods"))
    replicas = topology.number("vcmts_replicas", 1, len(pods))
    if replicas is not None and replicas < len(pods):
        notes.add(topology, "vcmts_replicas", f"taken: the first {replicas} of {len(pods)} groups")
    return pods[: replicas or len(pods)]


def parse_groups(topology: Map, mode: str, notes: Notes) -> list[Group]:
    pods = selected_pods(topology, notes)
    if len(pods) > MOST_GROUPS:
        raise topology.mistake("vcmts_pods", f"{len(pods)} groups", f"1 to {MOST_GROUPS}")
    ids = [found.number("sg_id", 0, 65534) for found in pods]
    shift = 1 if 0 in ids else 0
    if shift:
        notes.add(
            pods[ids.index(0)],
            "sg_id",
            "each is one more, as ids begin with 1; names keep the old ones",
        )
    groups = [parse_group(found, shift, mode, notes) for found in pods]
    for index, number in enumerate(ids):
        if number in ids[:index]:
            first = pods[ids.index(number)].lines["sg_id"]
            raise pods[index].complaint("sg_id", f"duplicate id {number}, first on line {first}")
        if number is not None and number + shift > MOST_GROUPS:
            allowed = f"at most {MOST_GROUPS - shift} for a group that is made from a profile"
            raise pods[index].mistake("sg_id", str(number), allowed)
    return groups


def release_key(group: Group, mode: str) -> str:
    """A key that is equal for groups of one release. Separate pods need equal resources; groups of
    a shared pod need equal ports and one NUMA node."""
    ports = {role: port.get("resource") for role, port in group.values["ports"].items()}
    other = group.socket if mode == "shared" else group.values["crypto"].get("resource")
    return repr((ports, other, sorted(group.pod.items())))


def common_values(groups: list[Group]) -> Json:
    """The most common values, as defaults of the release. An accelerator's address is a default
    only if all groups have it, as a group cannot remove it."""
    defaults: Json = {}
    for key in ("profile", "ports", "crypto"):
        texts = Counter(repr(group.values[key]) for group in groups)
        most = texts.most_common(1)[0][0]
        named = key == "crypto" and any("device" in group.values[key] for group in groups)
        if not named or len(texts) == 1:
            defaults[key] = next(g.values[key] for g in groups if repr(g.values[key]) == most)
    return defaults


def release(groups: list[Group], mode: str) -> Json:
    defaults = common_values(groups)
    by_accelerator = "provider" in defaults.get("crypto", {})
    items = []
    for group in groups:
        own = {key: value for key, value in group.values.items() if defaults.get(key) != value}
        if by_accelerator and "provider" not in own.get("crypto", {"provider": ""}):
            own["crypto"] = {**own["crypto"], "provider": "ipsec-mb"}
        items.append({"id": group.id, **own})
    return {"mode": mode, "defaults": defaults, "serviceGroups": items, **groups[0].pod}


def releases(topology: Map, mode: str, notes: Notes) -> list[Json]:
    """The values of the own chart, per release. Raises MistakeError."""
    by_pod: dict[str, list[Group]] = {}
    for group in parse_groups(topology, mode, notes):
        by_pod.setdefault(release_key(group, mode), []).append(group)
    return [release(groups, mode) for groups in by_pod.values()]
