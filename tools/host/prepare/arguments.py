# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's arguments of a preparation: always the whole set that it needs.

What the running kernel was started with does not shorten it: that may come from a preparation that
is undone, and then be gone after the restart. What others have put into the boot loader's
configuration counts: arguments of one name do not add up.
"""

import json
import re
from collections.abc import Sequence

from host.prepare import cards as host_cards
from host.prepare.plan import CMDLINE, GRUB, KERNELSTUB, Pages
from vcmts.layout.machine import last_possible, written
from vcmts.system.cpu_list import cpus_or_none, isolcpus
from vcmts.system.files import Files, number

GIB_KB = 1 << 20
# With the flag of isolcpus= that does the same; rcu_nocbs comes with the second.
ISOLATING = {"isolcpus": "domain", "nohz_full": "nohz"}
IOMMU = ("intel_iommu=on", "iommu=pt")
GRUB_LINE = re.compile(r"^\s*(?:export\s+)?GRUB_CMDLINE_LINUX(?:_DEFAULT)?\+?=(.*)$", re.MULTILINE)


def isolation_words(isolated: Sequence[int]) -> list[str]:
    if not isolated:
        return []
    listed = written(isolated)
    return [
        f"isolcpus=managed_irq,domain,{listed}",
        f"nohz_full={listed}",
        f"rcu_nocbs={listed}",
    ]


def pages_text(pages: Sequence[Pages]) -> str:
    """As hugepages= takes them: of each node."""
    if any(one.node is None for one in pages):
        return str(sum(one.count for one in pages))
    return ",".join(f"{one.node}:{one.count}" for one in pages)


def page_words(pages: Sequence[Pages]) -> list[str]:
    """Of pages of 1 GB, which the kernel finds at its start only."""
    if not pages or pages[0].size_kb != GIB_KB:
        return []
    return ["default_hugepagesz=1G", "hugepagesz=1G", f"hugepages={pages_text(pages)}"]


def possible(isolated: Sequence[int], pages: Sequence[Pages]) -> list[str]:
    """Every argument that a plan with these cores and pages may have, in their order."""
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


def standing(files: Files, loader: str) -> list[str]:
    """Arguments that the boot loader's configuration has beside our file; where no loader is
    known, those of the running kernel."""
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


def others(words: Sequence[str], ours: Sequence[str]) -> list[str]:
    """Of the same names with other values."""
    names = {name_of(word) for word in ours}
    return [word for word in words if name_of(word) in names and word not in ours]


def cores_named(files: Files, words: Sequence[str], name: str) -> set[int]:
    """Those that isolcpus= takes from the scheduler, or nohz_full= has without ticks. Of several
    arguments of one name the kernel takes the first that is a list."""
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
    files: Files, stands: Sequence[str], isolated: Sequence[int]
) -> tuple[list[str], list[str]]:
    """Arguments for the cores that poll, and what is in their way."""
    ours = isolation_words(isolated)
    in_the_way = others(stands, ours)
    if not in_the_way:
        passing = others(running(files), ours)
        note = (
            f"the kernel was started with {' '.join(passing)}, which the boot loader's "
            "configuration does not have: if it comes again at the restart, it is in the way"
        )
        return ours, [note] if passing else []
    if all(set(isolated) <= cores_named(files, stands, name) for name in ISOLATING):
        return [], []
    return [], [
        f"the machine is started with {' '.join(in_the_way)}, which is not enough for cores "
        f"{written(isolated)}, and arguments of one name do not add up: take them away, and plan "
        "again"
    ]


def for_pages(
    files: Files, stands: Sequence[str], pages: Sequence[Pages]
) -> tuple[list[str], list[str]]:
    """The same for huge pages."""
    ours = page_words(pages)
    clash = [
        word
        for word in stands
        if re.fullmatch(r"hugepagesz=1GB?", word, re.IGNORECASE)
        or (name_of(word) == "default_hugepagesz" and word not in ours)
    ]
    if not ours or not clash or all(word in stands for word in ours):
        return ours, []
    counts = [number(files.text(one.file)) for one in pages]
    if all(isinstance(n, int) and n >= p.count for n, p in zip(counts, pages, strict=True)):
        return [], []
    return [], [
        f"the machine is started with {' '.join(clash)}, and {' '.join(ours)} are needed: take "
        "them away, and plan again"
    ]


def for_iommu(files: Files, *, no_iommu: bool) -> list[str]:
    """Where an IOMMU works: those that it may owe that to."""
    intel = files.fields("proc/cpuinfo").get("vendor_id", "") == "GenuineIntel"
    wanted = list(IOMMU) if intel else ["iommu=pt"]
    if host_cards.iommu(files):
        return [word for word in wanted if word in running(files)]
    return [] if no_iommu else wanted
