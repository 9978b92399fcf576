# SPDX-License-Identifier: BSD-3-Clause
"""A placement held against recorded machines: what is refused, better, or to be known."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from python.layout_machines import Recorded, explained, record, server
from vcmts import cli
from vcmts.layout import machine, propose
from vcmts.paths import CHECKOUT, program
from vcmts.system.files import Files

Json = dict[str, Any]
Explain = Callable[..., tuple[int, Json]]

ONE_SOCKET = Recorded()


@pytest.fixture
def explain(tmp_path: Path) -> Explain:
    return partial(explained, tmp_path)


def test_what_is_good(explain: Explain) -> None:
    """Isolated cores, each group on a core of its own: nothing is to be said."""
    isolated = Recorded(isolated="2-7", tickless="2-7", affinity="0-1")
    threads = 'threads: {layout: 1us1t_1ds1t, cores: "2-5", main_core: 0}'
    status, found = explain(isolated, server(threads, [True, True]))
    assert status == 0
    kinds = [note["kind"] for note in found["notes"]]
    assert kinds == ["shared port", "shared port"]
    assert found["proposal"] is None
    assert found["placement"]["workers"][1] == {"core": 3, "runs": "upstream of group 1"}


@pytest.mark.parametrize("version", [1, 2])
def test_a_container(version: int, explain: Explain, tmp_path: Path) -> None:
    """A placement for more than the cpuset has is refused in one line, and another one proposed."""
    box = Recorded(cpuset="2-4", affinity="2-4", version=version, quota="300000 100000")
    text = server('threads: {layout: 1us1t_1ds2t, cores: "1-6", main_core: 0}', [True, True])
    status, found = explain(box, text)
    refused = [note for note in found["notes"] if note["level"] == "refused"]
    assert (status, len(refused)) == (2, 1)
    assert "found cores 0-1,5-6, allowed: 2-4" in refused[0]["text"]
    assert found["machine"]["cpuset"] == found["machine"]["usable"] == [2, 3, 4]
    assert found["machine"]["quota"] == 3
    file = "box/cpuset.cpus.effective" if version == 2 else "cpuset/cpuset.cpus"
    assert file in refused[0]["todo"]
    assert found["proposal"]["threads"] == 'threads: {layout: combined, cores: "3-4", main_core: 2}'


def test_the_table(explain: Explain, capfd: pytest.CaptureFixture[str]) -> None:
    """A row a core: of those that are asked for and not there as well."""
    text = server(
        'threads: {layout: 2us1t_1ds2t, cores: "2,10,3,16,17", main_core: 0}', [True, True]
    )
    recorded = Recorded(2, 4, 2, offline="15", isolated="2-3,10", affinity="0-1,8-14")
    assert explain(recorded, text)[0] == 2
    out = capfd.readouterr().out
    rows = [re.split(r" *│ *", line)[1:-1] for line in out.splitlines() if line.startswith("│")]
    assert rows[0] == ["0", "0", "0", "8", "", "management"]
    assert rows[2][:5] == ["2", "0", "0", "10", "isolated"]
    assert rows[2][5].startswith("upper MAC of group 1; receives for all")
    cores = {row[0]: row for row in rows if row[0]}
    assert list(cores) == [str(n) for n in range(18)]
    assert cores["4"][:5] == ["4", "1", "1", "12", "not allowed"]
    assert cores["15"][1:5] == ["", "", "", "offline"]
    assert cores["16"][1:] == ["", "", "", "not there", "upper MAC of group 2"]
    assert "asked: layout 2us1t_1ds2t and main_core (service groups 1-2)\n" in out
    assert "there: 15 cores online, 8 of them physical, 2 sockets, 2 NUMA nodes" in out


def test_nothing_asked(explain: Explain) -> None:
    """A proposal; where something is asked, by --propose only."""
    assert explain(ONE_SOCKET, server("", [True]))[1]["proposal"]["layout"] == "1us1t_1ds2t"
    asked = server("threads: {layout: combined, cores: 1}", [True])
    assert explain(ONE_SOCKET, asked)[1]["proposal"] is None
    assert explain(ONE_SOCKET, asked, "--propose")[1]["proposal"]["layout"] == "1us1t_1ds2t"


def test_a_profile(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As vcmts run places it on that machine."""
    root = record(tmp_path, Recorded(affinity="2-6"))
    words = ["--profile", "1ofdm-0sc-qam_2cms_none", "--groups", "2", "--machine", str(root)]
    result = tmp_path / "l.json"
    assert cli.main(["layout", *words, "--ports", "own", "--json", str(result)]) == 0
    found = json.loads(result.read_text())
    assert [w["core"] for w in found["placement"]["workers"]] == [3, 4, 5, 6]
    assert found["placement"]["shared_ports"] == []
    assert found["proposal"]["layout"] == "1us1t_1ds1t"
    assert capfd.readouterr().out.startswith("asked: nothing")
    assert cli.main(["layout", *words, "--json", str(result)]) == 0
    shared = json.loads(result.read_text())["placement"]["shared_ports"]
    assert [(port["port"], port["core"]) for port in shared] == [("network", 3), ("R-PHY", 4)]


def test_the_page_shows_an_answer(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """docs/install.md, of the machine that it tells of."""
    isolated = "1-15,17-31,33-47,49-63"
    others = "0,16,32,48"
    recorded = Recorded(2, 16, 2, isolated=isolated, tickless=isolated, affinity=others)
    root = record(tmp_path, recorded)
    assert cli.main(["layout", "--groups", "4", "--machine", str(root)]) == 0
    told = capfd.readouterr().out
    told = told[told.index("service groups that fit") :]
    assert f"```text\n{told}```" in (CHECKOUT / "docs" / "install.md").read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--config", "{sg}", "--ports", "own"), "--ports: found beside --config"),
        (("--config", "{sg}", "--groups", "2"), "--groups: found 2 beside --config"),
        (("--machine", "{nowhere}"), "no core is told of"),
        (("--config", "{bad}"), "cannot be used"),
        (("--json", "{nowhere}/x.json"), "No such file"),
    ],
)
def test_mistakes(
    words: tuple[str, ...], says: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "sg.yaml", tmp_path / "bad.yaml"
    good.write_text(server("", [True]))
    bad.write_text("threads: 3\n")
    names = {"sg": good, "bad": bad, "nowhere": tmp_path / "nowhere"}
    assert cli.main(["layout", *(word.format(**names) for word in words)]) == 2
    said = capfd.readouterr().err
    assert says in said and "Traceback" not in said


def test_this_machine(tmp_path: Path) -> None:
    """What the tool reads of it is what vcmtsd finds, whatever the affinity; isolated ones too."""
    found = machine.read(Files())
    path = tmp_path / "sg.yaml"
    path.write_text(server("", [True]))
    command = [str(program("vcmtsd")), "check", "--json", "--cores", "here", "--config", str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    told = json.loads(done.stdout)["placement"]["machine"]
    assert told == {key: sorted(getattr(found, key)) for key in ("present", "online", "usable")}
    assert os.sched_getaffinity(0) <= found.usable
    assert found.core(min(found.usable)).number == min(found.usable)


@pytest.mark.parametrize(
    "cores", ["", "0-3", "0-3/0-3", "0-3/0-3/0-3/0-3", "x/0/0", "0-3/3-0/0", "There"]
)
def test_cores_that_are_none(cores: str, tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    path.write_text(server("", [True]))
    command = [str(program("vcmtsd")), "check", "--cores", cores, "--config", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f'--cores: found "{cores}", allowed: here, or PRESENT/ONLINE/USABLE'
    )


def test_lists_of_cores() -> None:
    assert machine.written((0, 1, 2, 8, 3, 4)) == "0-2,8,3-4"
    assert machine.written(()) == "none"


def test_layouts_are_those_of_the_loader() -> None:
    schema = subprocess.run(
        [str(program("vcmtsd")), "schema"], stdout=subprocess.PIPE, text=True, check=True
    )
    [names] = {
        tuple(found)
        for found in re.findall(r'"layout": \{[^}]*?"enum": \[([^\]]*)\]', schema.stdout)
        for found in [re.findall(r'"(\w+)"', found)]
    }
    assert set(names) == {layout.name for layout in propose.LAYOUTS}
