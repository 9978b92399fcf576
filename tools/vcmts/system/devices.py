# SPDX-License-Identifier: BSD-3-Clause
"""The network and crypto devices of a host, by what they are and not by their names, which may
hold MAC addresses."""

from collections import Counter

from vcmts.jsons import Json
from vcmts.system.files import NOT_KNOWN, Files, number

NETWORK, CRYPTO = ("02",), ("0b40", "10")  # PCI classes, and the sub-class of co-processors


def interfaces(files: Files) -> list[Json]:
    """Those with a device behind them, equal ones together."""
    found: Counter[tuple[str, int | str, int | str]] = Counter()
    for name in files.names("sys/class/net", r".*"):
        base = f"sys/class/net/{name}"
        driver = files.link(f"{base}/device/driver")
        if driver:
            speed = number(files.text(f"{base}/speed"))
            numa = number(files.text(f"{base}/device/numa_node"))
            known = isinstance(speed, int) and speed > 0
            found[driver, speed if known else NOT_KNOWN, numa] += 1
    return [
        {"driver": driver, "speed_mbps": speed, "numa_node": numa, "count": count}
        for (driver, speed, numa), count in found.items()
    ]


def pci(files: Files, classes: tuple[str, ...]) -> list[Json]:
    found: Counter[tuple[str, str, str]] = Counter()
    base = "sys/bus/pci/devices"
    for name in files.names(base, r"[\da-f]+:[\da-f]+:[\da-f]+\.\d"):
        if files.text(f"{base}/{name}/class").removeprefix("0x").startswith(classes):
            vendor = files.text(f"{base}/{name}/vendor").removeprefix("0x")
            device = files.text(f"{base}/{name}/device").removeprefix("0x")
            driver = files.link(f"{base}/{name}/driver") or "none"
            found[vendor or NOT_KNOWN, device or NOT_KNOWN, driver] += 1
    return [
        {"vendor": vendor, "device": device, "driver": driver, "count": count}
        for (vendor, device, driver), count in found.items()
    ]


def facts(files: Files) -> Json:
    return {
        "interfaces": interfaces(files),
        "pci_network": pci(files, NETWORK),
        "pci_crypto": pci(files, CRYPTO),
    }
