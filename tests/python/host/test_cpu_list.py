# SPDX-License-Identifier: BSD-3-Clause
"""Tests CPU lists of the kernel, as lib/bitmap-str.c and kernel/sched/isolation.c parse them."""

from pathlib import Path

import pytest

from host.prepare import arguments
from python.host.host_machines import MACHINES
from python.layout_machines import write
from vcmts.layout import machine as host_machine
from vcmts.system import cpu_list
from vcmts.system.cpu_list import ListError
from vcmts.system.files import Files

LAST = 15  # the last possible CPU, which N means
# From lib/test_bitmap.c and kernel-parameters.rst. CPUs are in the order of the list. A-B:U/G are
# the first U CPUs of each G.
VALID = {
    "": [],
    "\n": [],
    "0": [0],
    "0-3,8,10-11": [0, 1, 2, 3, 8, 10, 11],
    "3,1": [3, 1],
    "1,": [1],
    ",1": [1],
    "1,,2": [1, 2],
    " 1 2\t3,\n": [1, 2, 3],
    "1-1": [1],
    "015": [15],
    "N": [15],
    "0-N": list(range(16)),
    "N-N": [15],
    "14-N": [14, 15],
    "all": list(range(16)),
    "ALL": list(range(16)),
    "0-15:1/2": list(range(0, 16, 2)),
    "1-N:14/15": list(range(1, 15)),
    "0-15:2/5": [0, 1, 5, 6, 10, 11, 15],
    "all:1/4": [0, 4, 8, 12],
    "1-15:3/3": list(range(1, 16)),
    "0-3:0/2": [],
    "0-3:1/N": [0],
    "1,2,10-14:2/4": [1, 2, 10, 11, 14],
}
# The kernel ignores the case of "all", but not of "N".
INVALID = [
    "-1", "--1", "1-", "0--1", "3-2", "N-0", "a", "0x1", "1-2-3", "1;2", "(null)", "allx", "all-3",
    "16", "0-16", "99999999999", "0-3:", "0-3:1", "0-3:1/", "0-3:/1", "0-3:1/0", "0-3:0/0",
    "0-3:2/1", "0-3:1/2/3", "5:1/2", "N:1/1", "n", "1 -2",
]  # fmt: skip


@pytest.mark.parametrize("text", VALID)
def test_valid_list_is_parsed(text: str) -> None:
    assert list(cpu_list.cpus(text, LAST)) == VALID[text]


@pytest.mark.parametrize("text", INVALID)
def test_invalid_list_is_refused(text: str) -> None:
    for whole in (text, f"1,{text}", f"{text},1"):
        with pytest.raises(ListError):
            cpu_list.cpus(whole, LAST)
        assert cpu_list.cpus_or_none(whole, LAST) == ()


def test_n_and_all_are_refused_if_the_last_cpu_is_unknown() -> None:
    assert cpu_list.cpus("0-3,1000") == (0, 1, 2, 3, 1000)
    for text in ("N", "0-N", "all", "0-99999999"):
        with pytest.raises(ListError):
            cpu_list.cpus(text)


@pytest.mark.parametrize(
    ("value", "flags", "cpus"),
    [
        ("1-3", "domain", [1, 2, 3]),
        ("managed_irq,domain,1-N", "managed_irq domain", list(range(1, 16))),
        ("managed_irq,1-2", "managed_irq", [1, 2]),
        ("nohz,domain,1-7:1/2", "nohz domain", [1, 3, 5, 7]),
        ("strange,2", "domain", [2]),  # an unknown flag of letters is skipped
        ("str4nge,2", "", []),  # an invalid flag: the kernel ignores the argument
        ("all", "domain", []),  # a flag, as it begins with a letter, and no list
        ("domain,all", "domain", []),
        ("domain", "domain", []),
        ("nohz", "domain", []),
        ("domain,0-N:1/2", "domain", list(range(0, 16, 2))),
        ("domain,3-1", "domain", []),
    ],
)
def test_isolcpus_is_parsed(value: str, flags: str, cpus: list[int]) -> None:
    """`cpus` are the listed CPUs. The flag domain isolates them, and is the default."""
    result = cpu_list.isolcpus(value, LAST)
    assert (set(result[0]), list(result[1])) == (set(flags.split()), cpus)


@pytest.mark.parametrize(
    ("cmdline", "isolated", "tickless"),
    [
        ("isolcpus=managed_irq,domain,1-N nohz_full=1-N", range(1, 16), range(1, 16)),
        ("isolcpus=1-N:14/15 nohz_full=all", range(1, 15), range(16)),
        ("isolcpus=0-15:1/2", range(0, 16, 2), ()),
        ("isolcpus=managed_irq,1-5", (), ()),
        ("isolcpus=nohz,domain,3", [3], [3]),
        ("isolcpus=nohz,3 nohz_full=N", (), [3]),
        ("isolcpus=3 isolcpus=4 nohz_full=16 nohz_full=4-5", [3], [4, 5]),
        ("isolcpus=all nohz_full=N", (), [15]),
    ],
)
def test_kernel_arguments_isolate_cores(
    cmdline: str, isolated: list[int], tickless: list[int], tmp_path: Path
) -> None:
    """Of several arguments with one effect the kernel applies the first valid one."""
    files = Files(tmp_path, MACHINES["server"](tmp_path).ask)
    for name, cores in (("isolcpus", isolated), ("nohz_full", tickless)):
        assert arguments.cores_named(files, cmdline.split(), name) == set(cores)


def test_last_cpu_is_the_last_possible_one(tmp_path: Path) -> None:
    """N is the last possible CPU, even if it is not present or online."""
    MACHINES["server"](tmp_path)
    files = Files(tmp_path)
    assert host_machine.last_possible(files) == 15
    write(tmp_path / "sys/devices/system/cpu/possible", "0-31")
    assert host_machine.last_possible(files) == 31
