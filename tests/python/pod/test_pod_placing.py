# SPDX-License-Identifier: BSD-3-Clause
"""Tests how `vcmts pod` places groups on a container's cores, and what it refuses."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from python.layout_machines import HostSpec, server_yaml, write, write_host
from vcmts.layout import machine as layout_machine
from vcmts.layout.machine import Machine
from vcmts.layout.propose import LAYOUTS
from vcmts.paths import program
from vcmts.pod import pages
from vcmts.pod.placing import (
    GroupCores,
    assign_groups,
    polling_machine,
    sharing_warning,
    with_new_groups,
)
from vcmts.pod.render import RefusedError, Source, rendered
from vcmts.pod.variables import PodError
from vcmts.system.files import Files

# A container with cores 1 to 3 and their hyper-thread siblings 9 to 11.
SMT = HostSpec(cores=8, threads=2, cpuset="1-3,9-11", affinity="1-3,9-11")


def machine(folder: Path, spec: HostSpec) -> Machine:
    return layout_machine.read(Files(write_host(folder, spec)))


def groups(count: int, layout: str | None = None) -> list[dict[str, Any]]:
    """Groups as `vcmtsd check --json` reports them. `layout`: of the configuration."""
    return [{"service_group": n, "layout": layout, "upstream": 1} for n in range(1, count + 1)]


def source(folder: Path, spec: HostSpec, text: str, **environment: str) -> Source:
    """A mounted configuration in a container on a machine. A folder can have only one."""
    (folder / "run").mkdir()
    (folder / "vcmts.yaml").write_text(text, encoding="utf-8")
    files = Files(write_host(folder / "machine", spec))
    return Source(
        config=folder / "vcmts.yaml",
        written=folder / "run" / "vcmts.yaml",
        machine=layout_machine.read(files),
        files=files,
        environment=environment,
    )


@pytest.mark.parametrize("layout", [layout.name for layout in LAYOUTS])
def test_groups_are_placed_as_by_vcmtsd(tmp_path: Path, layout: str) -> None:
    """vcmtsd places groups alike if its configuration has the layout and the same cores."""
    upstreams = [True, False, True, True]
    result = rendered(
        source(
            tmp_path, HostSpec(cores=16), server_yaml(f"threads: {{layout: {layout}}}", upstreams)
        )
    )
    assert result.placement is not None
    listed = sorted(result.placement.polling())
    assert 0 not in listed
    placed = list(result.facts["placement"]["groups"])
    cores: list[int] = []
    for group in placed:
        for part in ("upper_mac", "lower_mac", "upstream"):
            if group[part] is not None and group[part] not in cores:
                cores.append(group[part])
    text = server_yaml(
        f"threads: {{layout: {layout}, cores: [{','.join(map(str, cores))}]}}", upstreams
    )
    (tmp_path / "listed.yaml").write_text(text)
    command = [str(program("vcmtsd")), "check", "--json", "--cores", "0-15/0-15/0-15", "--config"]
    command.append(str(tmp_path / "listed.yaml"))
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    expected = json.loads(done.stdout)["placement"]["groups"]
    parts = ("service_group", "upper_mac", "lower_mac", "upstream")
    assert [[one[p] for p in parts] for one in placed] == [
        [one[p] for p in parts] for one in expected
    ]


@pytest.mark.parametrize(
    ("count", "layout"),
    [(1, "1us1t_1ds2t"), (2, "2us1t_1ds2t"), (4, "combined"), (5, "combined"), (10, "combined2")],
)
def test_first_layout_that_fits_is_chosen(tmp_path: Path, count: int, layout: str) -> None:
    """LAYOUTS are in order of throughput per group."""
    actual = assign_groups(machine(tmp_path, SMT), groups(count), None)
    assert actual.layout.name == layout
    assert actual.main_core == 1 and set(actual.polling()) <= {2, 3, 9, 10, 11}


def test_too_few_cores_are_refused(tmp_path: Path) -> None:
    host = machine(tmp_path, SMT)
    with pytest.raises(PodError, match=r"found 6 \(1-3,9-11\), of which 5 may poll, allowed: eno"):
        assign_groups(host, groups(11), None)
    with pytest.raises(
        PodError, match="for 3 service groups with 1us1t_1ds1t; these suffice for 2"
    ):
        assign_groups(host, groups(3, "1us1t_1ds1t"), None)


def test_different_layouts_are_refused(tmp_path: Path) -> None:
    host = machine(tmp_path, SMT)
    with pytest.raises(PodError, match="found combined, none, allowed: the same for all"):
        assign_groups(host, [*groups(1), *groups(1, "combined")], None)


def test_two_groups_share_one_core(tmp_path: Path) -> None:
    host = machine(tmp_path, HostSpec(cores=2, cpuset="1", affinity="1"))
    actual = assign_groups(host, groups(2), None)
    assert (actual.layout.name, actual.main_core, actual.polling()) == ("combined2", 1, [1])
    with pytest.raises(PodError, match="these suffice for 2"):
        assign_groups(host, groups(3), None)


def test_added_groups_do_not_move_others(tmp_path: Path) -> None:
    before = assign_groups(machine(tmp_path, SMT), groups(4), None)
    after = with_new_groups(before, [2, 3, 7, 8, 9])
    assert {group: after.groups[group] for group in (2, 3)} == {
        group: before.groups[group] for group in (2, 3)
    }
    assert set(after.polling()) <= set(before.polling())
    new = [after.groups[group] for group in (7, 8, 9)]
    freed = [before.groups[group].upper_mac for group in (1, 4)]
    assert sorted(one.upper_mac for one in new[:2]) == sorted(freed)
    assert all(one.lower_mac is None for one in new)


def test_lower_mac_may_use_core_0() -> None:
    """None is the core of the upper MAC."""
    assert GroupCores(3, 0, 2).cores() == {0, 2, 3}
    assert GroupCores(3, None, 2).cores() == {2, 3}


def test_split_siblings_are_refused(tmp_path: Path) -> None:
    split = machine(tmp_path, replace(SMT, cpuset="1-2,9", affinity="1-2,9"))
    with pytest.raises(
        PodError, match=r"found core 2 without the hyper-thread sibling \(10\), allow"
    ):
        polling_machine(split, split=False)
    assert polling_machine(split, split=True) == split


def test_shared_cores_and_cpu_limits_are_reported(tmp_path: Path) -> None:
    """Without cores of its own, a container with a limit of 2.5 CPUs polls on 2 cores. `quota`: as
    in cpu.max, us of CPU time per period in us."""
    host = machine(tmp_path, replace(SMT, cpuset="", affinity="", quota="250000 100000"))
    assert polling_machine(host, split=False).usable == {0, 1}
    assert sharing_warning(host).startswith(
        "cores 0-15 are shared with other containers, with a limit of 2.5"
    )
    alone = machine(tmp_path / "b", replace(SMT, quota="600000 100000"))
    assert polling_machine(alone, split=False) == alone and sharing_warning(alone) == ""
    half = machine(tmp_path / "c", replace(SMT, quota="50000 100000"))
    with pytest.raises(PodError, match=r"found a limit of 0\.5 CPU, allowed: 1 CPU or more"):
        polling_machine(half, split=False)


# Core 7 is outside of the container.
CONFIGURED = "threads: {main_core: 7, upper_mac_core: 7, upstream_core: 0}"


def test_configured_cores_are_replaced(tmp_path: Path) -> None:
    """The cores of a container are not known in advance."""
    result = rendered(source(tmp_path, SMT, server_yaml(CONFIGURED, [True, True])))
    assert result.facts["placement"]["main_core"] == 1
    assert {w["core"] for w in result.facts["placement"]["workers"]} <= {2, 3, 9, 10, 11}


def test_kept_cores_outside_the_container_are_refused(tmp_path: Path) -> None:
    fixed = replace(source(tmp_path, SMT, server_yaml(CONFIGURED, [True, True])), assign=False)
    with pytest.raises(RefusedError) as refused:
        rendered(fixed)
    assert "found" in refused.value.mistakes[0] and "allowed: 1-3,9-11" in refused.value.mistakes[0]


def errors_of(src: Source) -> list[str]:
    with pytest.raises(RefusedError) as refused:
        rendered(src)
    assert not list(src.written.parent.iterdir()), "the trial file is removed"
    return refused.value.mistakes


def test_errors_have_lines_of_mounted_file(tmp_path: Path) -> None:
    text = server_yaml("threads: {layout: combined}", [True]).replace(
        "rate: 1 Gbps", "rate: 1 Gbsp", 1
    )
    [error] = errors_of(source(tmp_path, SMT, text))
    assert error.startswith("vcmts.yaml:") and 'found "1 Gbsp", allowed: a rate' in error
    line = int(error.split(":")[1])
    assert "1 Gbsp" in text.splitlines()[line - 1]


def test_missing_files_are_refused(tmp_path: Path) -> None:
    items = "service_groups:\n  - {file: sg.yaml}\n  - {file: /etc/vcmts/gone/sg.yaml}\n"
    assert errors_of(source(tmp_path, SMT, items)) == [
        f"vcmts.yaml:2: file: {tmp_path}/sg.yaml: No such file or directory; is the Secret or "
        "ConfigMap that has it mounted?",
        "vcmts.yaml:3: file: /etc/vcmts/gone/sg.yaml: No such file or directory; is the Secret or "
        "ConfigMap that has it mounted?",
    ]


def test_missing_configuration_is_refused(tmp_path: Path) -> None:
    src = source(tmp_path, SMT, "")
    src.config.unlink()
    assert errors_of(src) == [
        f"{src.config}: No such file or directory; is the ConfigMap mounted there?"
    ]


@pytest.mark.parametrize("written", [b"\xff\xfe", b"a: [", b"", b"rphy: 1\n"])
def test_invalid_configuration_is_refused(tmp_path: Path, written: bytes) -> None:
    src = source(tmp_path, SMT, "")
    src.config.write_bytes(written)
    assert errors_of(src)[0].startswith(("vcmts.yaml:", f"{src.config}: invalid UTF-8"))


def test_profiles_are_written(tmp_path: Path) -> None:
    """A missing file profiles/NAME/sg-N.yaml of the run folder, the only writable folder, is
    generated: service group N of profile NAME."""
    name = "6ofdm-0sc-qam_2cms_none"
    ports = "ports: {network: {device: net_null0}, rphy: {device: net_null1}}"
    text = "service_groups:\n" + "".join(
        f"  - {{service_group: {n}, file: {tmp_path}/run/profiles/{name}/sg-{n}.yaml, {ports}}}\n"
        for n in (1, 2)
    )
    result = rendered(source(tmp_path, SMT, text))
    assert [group["modems"] for group in result.facts["groups"]] == [2, 2]


def test_unknown_profile_is_refused(tmp_path: Path) -> None:
    text = f"service_groups:\n  - {{file: {tmp_path}/run/profiles/x/sg-1.yaml}}\n"
    assert errors_of(source(tmp_path, SMT, text))[0].startswith("vcmts.yaml:2: file: sg-1.yaml: ")


def test_huge_pages_must_suffice(tmp_path: Path) -> None:
    """Free pages of one size, within the cgroup's limit (v2 and v1), must reach the MB (2^20)."""
    files = Files(tmp_path)
    with pytest.raises(PodError, match="found 0 MB in hugepages-2Mi and 0 MB in hugepages-1Gi, "):
        pages.check(files, 100)
    write(tmp_path / "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "64")
    pages.check(files, 128)
    with pytest.raises(PodError, match=r"found 128 MB in hugepages-2Mi .* 129 MB or more of one"):
        pages.check(files, 129)
    write(tmp_path / "sys/fs/cgroup/hugetlb.2MB.max", str(100 << 20))
    write(tmp_path / "sys/fs/cgroup/hugetlb.2MB.current", str(10 << 20))
    pages.check(files, 90)
    with pytest.raises(PodError, match="found 90 MB in hugepages-2Mi"):
        pages.check(files, 91)
    write(tmp_path / "sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "1")
    pages.check(files, 1000)
    write(tmp_path / "sys/fs/cgroup/hugetlb/hugetlb.1GB.limit_in_bytes", "0")
    with pytest.raises(PodError, match="0 MB in hugepages-1Gi"):
        pages.check(files, 1000)


@pytest.mark.parametrize("layout", [layout.name for layout in LAYOUTS])
def test_group_is_added_to_each_layout(tmp_path: Path, layout: str) -> None:
    """vcmtsd accepts the cores of a group that a reload adds, in each layout."""
    threads = f"threads: {{layout: {layout}}}"
    src = source(tmp_path, HostSpec(cores=16), server_yaml(threads, [True] * 2))
    before = rendered(src)
    src.config.write_text(server_yaml(threads, [True] * 4), encoding="utf-8")
    after = rendered(src, before.placement)
    assert before.placement is not None and after.placement is not None
    assert after.placement.polling() == before.placement.polling()
    placed = after.facts["placement"]["groups"]
    assert [group["layout"] for group in placed] == [layout] * 4
    for group in placed[2:]:
        assert (group["lower_mac"] in (None, group["upper_mac"])) == ("1ds2t" not in layout)


def test_added_group_gets_core_of_removed_group(tmp_path: Path) -> None:
    """Also if another reload removed that group: the core still has a worker."""
    first = assign_groups(machine(tmp_path, SMT), groups(4), None)
    removed = with_new_groups(first, [1, 2, 3])
    added = with_new_groups(removed, [1, 2, 3, 5])
    assert added.groups[5].upper_mac == first.groups[4].upper_mac


def test_group_count_is_that_of_groups_without_upstream(tmp_path: Path) -> None:
    """The message counts groups like those of the file."""
    downstream_only = [one | {"upstream": None} for one in groups(6, "1us1t_1ds1t")]
    with pytest.raises(PodError, match="these suffice for 5"):
        assign_groups(machine(tmp_path, SMT), downstream_only, None)
