# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts layout` on described machines: CPUs, status, notes, table and proposal."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from python.layout_machines import HostSpec, run_layout, server_yaml, write_host
from vcmts import cli
from vcmts.layout import machine, propose
from vcmts.paths import CHECKOUT, program
from vcmts.system.files import Files

Json = dict[str, Any]
Explain = Callable[..., tuple[int, Json]]

ONE_SOCKET = HostSpec()


@pytest.fixture
def explain(tmp_path: Path) -> Explain:
    return partial(run_layout, tmp_path)


def test_good_placement_has_no_complaints(explain: Explain) -> None:
    """Isolated cores and a core per worker: no note but those on shared ports."""
    isolated = HostSpec(isolated="2-7", tickless="2-7", affinity="0-1")
    threads = 'threads: {layout: 1us1t_1ds1t, cores: "2-5", main_core: 0}'
    status, answer = explain(isolated, server_yaml(threads, [True, True]))
    assert status == 0
    kinds = [note["kind"] for note in answer["notes"]]
    assert kinds == ["shared port", "shared port"]
    assert answer["proposal"] is None
    assert answer["placement"]["workers"][1] == {"core": 3, "runs": "upstream of group 1"}


@pytest.mark.parametrize("version", [1, 2])
def test_cores_outside_cpuset_are_refused(version: int, explain: Explain, tmp_path: Path) -> None:
    """Threads outside the cpuset are refused in one line. The proposal is inside of it."""
    container = HostSpec(
        cpuset="2-4", affinity="2-4", cgroup_version=version, quota="300000 100000"
    )
    text = server_yaml('threads: {layout: 1us1t_1ds2t, cores: "1-6", main_core: 0}', [True, True])
    status, answer = explain(container, text)
    refused = [note for note in answer["notes"] if note["level"] == "refused"]
    assert (status, len(refused)) == (2, 1)
    assert "found cores 0-1,5-6, allowed: 2-4" in refused[0]["text"]
    assert answer["machine"]["cpuset"] == answer["machine"]["usable"] == [2, 3, 4]
    assert answer["machine"]["quota"] == 3
    file = "box/cpuset.cpus.effective" if version == 2 else "cpuset/cpuset.cpus"
    assert file in refused[0]["todo"]
    assert (
        answer["proposal"]["threads"] == 'threads: {layout: combined, cores: "3-4", main_core: 2}'
    )


def test_table_has_a_line_per_core(explain: Explain, capfd: pytest.CaptureFixture[str]) -> None:
    """A line per core, also for configured cores that do not exist."""
    text = server_yaml(
        'threads: {layout: 2us1t_1ds2t, cores: "2,10,3,16,17", main_core: 0}', [True, True]
    )
    spec = HostSpec(2, 4, 2, offline="15", isolated="2-3,10", affinity="0-1,8-14")
    assert explain(spec, text)[0] == 2
    out = capfd.readouterr().out
    drawn = [line for line in out.splitlines() if line.startswith("| ")]
    rows = [re.split(r" *[|] *", line)[1:-1] for line in drawn[1:]]
    assert rows[0] == ["0", "0", "0", "8", "", "management"]
    assert rows[2][:5] == ["2", "0", "0", "10", "isolated"]
    assert rows[2][5].startswith("upper MAC of group 1; receives for all")
    cores = {row[0]: row for row in rows if row[0]}
    assert list(cores) == [str(n) for n in range(18)]
    assert cores["4"][:5] == ["4", "1", "1", "12", "not allowed"]
    assert cores["15"][1:5] == ["", "", "", "offline"]
    assert cores["16"][1:] == ["", "", "", "missing", "upper MAC of group 2"]
    assert "configured: layout 2us1t_1ds2t and main_core (service groups 1-2)\n" in out
    assert "machine: 15 cores online, 8 of them physical, 2 sockets, 2 NUMA nodes" in out


def test_proposal_without_threads_or_with_propose(explain: Explain) -> None:
    """A file without `threads` gets a proposal; other files get one with --propose."""
    assert explain(ONE_SOCKET, server_yaml("", [True]))[1]["proposal"]["layout"] == "1us1t_1ds2t"
    text = server_yaml("threads: {layout: combined, cores: 1}", [True])
    assert explain(ONE_SOCKET, text)[1]["proposal"] is None
    assert explain(ONE_SOCKET, text, "--propose")[1]["proposal"]["layout"] == "1us1t_1ds2t"


def test_profile_is_placed_as_by_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The placement is that of `vcmts run`."""
    root = write_host(tmp_path, HostSpec(affinity="2-6"))
    arguments = ["--profile", "1ofdm-0sc-qam_2cms_none", "--groups", "2", "--machine", str(root)]
    result = tmp_path / "l.json"
    assert cli.main(["layout", *arguments, "--ports", "own", "--json", str(result)]) == 0
    answer = json.loads(result.read_text())
    assert [w["core"] for w in answer["placement"]["workers"]] == [3, 4, 5, 6]
    assert answer["placement"]["shared_ports"] == []
    assert answer["proposal"]["layout"] == "1us1t_1ds1t"
    assert capfd.readouterr().out.startswith("configured: nothing")
    assert cli.main(["layout", *arguments, "--json", str(result)]) == 0
    shared = json.loads(result.read_text())["placement"]["shared_ports"]
    assert [(port["port"], port["core"]) for port in shared] == [("network", 3), ("R-PHY", 4)]


def test_install_page_shows_the_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """docs/install.md shows the output for this machine."""
    isolated = "1-15,17-31,33-47,49-63"
    affinity = "0,16,32,48"
    spec = HostSpec(2, 16, 2, isolated=isolated, tickless=isolated, affinity=affinity)
    root = write_host(tmp_path, spec)
    assert cli.main(["layout", "--groups", "4", "--machine", str(root)]) == 0
    out = capfd.readouterr().out
    out = out[out.index("service groups that fit") :]
    assert f"```text\n{out}```" in (CHECKOUT / "docs" / "install.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--config", "{sg}", "--ports", "own"), "--ports: not allowed with --config"),
        (("--config", "{sg}", "--groups", "2"), "--groups: not allowed with --config"),
        (("--machine", "{nowhere}"), "found no core in its"),
        (("--config", "{bad}"), "invalid configuration"),
        (("--json", "{nowhere}/x.json"), "No such file"),
    ],
)
def test_wrong_options_are_refused(
    arguments: tuple[str, ...], error: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "sg.yaml", tmp_path / "bad.yaml"
    good.write_text(server_yaml("", [True]))
    bad.write_text("threads: 3\n")
    names = {"sg": good, "bad": bad, "nowhere": tmp_path / "nowhere"}
    assert cli.main(["layout", *(word.format(**names) for word in arguments)]) == 2
    err = capfd.readouterr().err
    assert error in err and "Traceback" not in err


def test_tool_and_vcmtsd_find_the_same_cpus(tmp_path: Path) -> None:
    """The CPUs include isolated ones, whatever the affinity."""
    host = machine.read(Files())
    path = tmp_path / "sg.yaml"
    path.write_text(server_yaml("", [True]))
    command = [str(program("vcmtsd")), "check", "--json", "--cores", "here", "--config", str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    cpus = json.loads(done.stdout)["placement"]["machine"]
    assert cpus == {key: sorted(getattr(host, key)) for key in ("present", "online", "usable")}
    assert os.sched_getaffinity(0) <= host.usable
    assert host.core(min(host.usable)).number == min(host.usable)


@pytest.mark.parametrize(
    "cores", ["", "0-3", "0-3/0-3", "0-3/0-3/0-3/0-3", "x/0/0", "0-3/3-0/0", "There"]
)
def test_invalid_cores_option_is_refused(cores: str, tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    path.write_text(server_yaml("", [True]))
    command = [str(program("vcmtsd")), "check", "--cores", cores, "--config", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f'--cores: found "{cores}", allowed: here, or PRESENT/ONLINE/USABLE'
    )


def test_core_lists_are_written_as_ranges() -> None:
    assert machine.cpu_list((0, 1, 2, 8, 3, 4)) == "0-2,8,3-4"
    assert machine.cpu_list(()) == "none"


def test_layouts_are_those_of_the_schema() -> None:
    schema = subprocess.run(
        [str(program("vcmtsd")), "schema"], stdout=subprocess.PIPE, text=True, check=True
    )
    [names] = {
        tuple(names)
        for layouts in re.findall(r'"layout": \{[^}]*?"enum": \[([^\]]*)\]', schema.stdout)
        for names in [re.findall(r'"(\w+)"', layouts)]
    }
    assert set(names) == {layout.name for layout in propose.LAYOUTS}
