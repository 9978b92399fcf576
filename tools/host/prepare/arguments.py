# SPDX-License-Identifier: BSD-3-Clause
"""Computes the kernel arguments of a plan: always the whole set that the plan needs.

Arguments of the running kernel do not shorten the set: an undone plan may have added those.
Arguments in the boot loader's configuration do, as arguments of one name do not add up.
"""

import json
import re
from collections.abc import Sequence

from host.prepare import cards as host_cards
from host.prepare.plan import CMDLINE, GRUB, KERNELSTUB, Pages
from vcmts.layout.machine import cpu_list, last_possible
from vcmts.system.cpu_list import cpus_or_none, isolcpus
from vcmts.system.files import Files, number

GIB_KB = 1 << 20
# Argument name to the flag of isolcpus= with the same effect. nohz_full includes rcu_nocbs.
ISOLATING = {"isolcpus": "domain", "nohz_full": "nohz"}
IOMMU = ("intel_iommu=on", "iommu=pt")
GRUB_LINE = re.compile(r"^\s*(?:export\s+)?GRUB_CMDLINE_LINUX(?:_DEFAULT)?\+?=(.*)$", re.MULTILINE)


def isolation_words(isolated: Sequence[int]) -> list[str]:
    if not isolated:
        return []
    listed = cpu_list(isolated)
    return [
        f"isolcpus=managed_irq,domain,{listed}",
        f"nohz_full={listed}",
        f"rcu_nocbs={listed}",
    ]


def pages_text(pages: Sequence[Pages]) -> str:
    """The value of hugepages=: a total, or NODE:COUNT per node."""
    if any(one.node is None for one in pages):
        return str(sum(one.count for one in pages))
    return ",".join(f"{one.node}:{one.count}" for one in pages)


def page_words(pages: Sequence[Pages]) -> list[str]:
    """The arguments for 1 GB pages, which the kernel can reserve reliably only at boot."""
    if not pages or pages[0].size_kb != GIB_KB:
        return []
    return ["default_hugepagesz=1G", "hugepagesz=1G", f"hugepages={pages_text(pages)}"]


def possible(isolated: Sequence[int], pages: Sequence[Pages]) -> list[str]:
    """Returns every argument that a plan with these cores and pages may have, in order."""
    return [*isolation_words(isolated), *IOMMU, *page_words(pages)]


def running(files: Files) -> list[str]:
    return files.text("proc/cmdline").split()


def kernelstub_words(files: Files) -> list[str]:
    try:
        found = json.loads(files.text(KERNELSTUB) or "{}")
        listed = found.get("user", {}).get("kernel_options", [])
        return [word for word in listed if isinstance(word, str)]
    except (ValueError, AttributeError, TypeError):
        return []


def configured_arguments(files: Files, loader: str) -> list[str]:
    """Arguments in the boot loader's configuration, except the file of the plan. With an unknown
    boot loader, those of the running kernel."""
    if loader == "kernelstub":
        return kernelstub_words(files)
    if loader == "cmdline":
        return files.text(CMDLINE).split()
    if loader != "grub":
        return running(files)
    folder = GRUB.rpartition("/")[0]
    names = [f"{folder}/{name}" for name in files.names(folder, r".*\.cfg")]
    words: list[str] = []
    for name in ["etc/default/grub", *(name for name in names if name != GRUB)]:
        for line in GRUB_LINE.findall(files.text(name)):
            words += re.sub(r"[\"'\\]", " ", line).split()
    return words


def name_of(word: str) -> str:
    return word.partition("=")[0]


def conflicts(words: Sequence[str], ours: Sequence[str]) -> list[str]:
    """Returns arguments with the same names as `ours` and other values."""
    names = {name_of(word) for word in ours}
    return [word for word in words if name_of(word) in names and word not in ours]


def cores_named(files: Files, words: Sequence[str], name: str) -> set[int]:
    """Cores that isolcpus= isolates from the scheduler, or that nohz_full= runs without ticks. The
    kernel applies the first valid list of several arguments with one name."""
    last = last_possible(files)
    for word in words:
        value = word.partition("=")[2]
        if name_of(word) == "isolcpus":
            flags, found = isolcpus(value, last)
            found = found if ISOLATING[name] in flags else ()
        else:
            found = cpus_or_none(value, last) if name_of(word) == name else ()
        if found:
            return set(found)
    return set()


def isolation(
    files: Files, configured: Sequence[str], isolated: Sequence[int]
) -> tuple[list[str], list[str]]:
    """Returns the arguments that isolate cores, and notes on conflicting arguments.

    `configured`: arguments in the boot loader's configuration.
    """
    ours = isolation_words(isolated)
    conflicting = conflicts(configured, ours)
    if not conflicting:
        once = conflicts(running(files), ours)
        note = (
            f"the kernel command line sets {' '.join(once)}, which is not in the boot loader's "
            "configuration: it conflicts with the plan if the next boot has it too"
        )
        return ours, [note] if once else []
    if all(set(isolated) <= cores_named(files, configured, name) for name in ISOLATING):
        return [], []
    return [], [
        f"the boot loader sets {' '.join(conflicting)}, which does not cover cores "
        f"{cpu_list(isolated)}, and arguments of one name do not add up: remove them, and plan "
        "again"
    ]


def for_pages(
    files: Files, configured: Sequence[str], pages: Sequence[Pages]
) -> tuple[list[str], list[str]]:
    """Returns the arguments that reserve huge pages, and notes on conflicting arguments."""
    ours = page_words(pages)
    clash = [
        word
        for word in configured
        if re.fullmatch(r"hugepagesz=1GB?", word, re.IGNORECASE)
        or (name_of(word) == "default_hugepagesz" and word not in ours)
    ]
    if not ours or not clash or all(word in configured for word in ours):
        return ours, []
    counts = [number(files.text(one.file)) for one in pages]
    if all(isinstance(n, int) and n >= p.count for n, p in zip(counts, pages, strict=True)):
        return [], []
    return [], [
        f"the boot loader sets {' '.join(clash)}, but {' '.join(ours)} are needed: remove the "
        "former, and plan again"
    ]


def for_iommu(files: Files, *, no_iommu: bool) -> list[str]:
    """Arguments that turn the IOMMU on. If it works, those of them that the kernel runs with."""
    intel = files.fields("proc/cpuinfo").get("vendor_id", "") == "GenuineIntel"
    wanted = list(IOMMU) if intel else ["iommu=pt"]
    if host_cards.iommu(files):
        return [word for word in wanted if word in running(files)]
    return [] if no_iommu else wanted
