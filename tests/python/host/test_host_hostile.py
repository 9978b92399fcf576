# SPDX-License-Identifier: BSD-3-Clause
"""Tests that manipulated plans, folders and journals are refused in one line, before any change."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from host.prepare import folder as host_folder
from host.prepare import journal as host_journal
from host.prepare import markdown, stored, texts
from host.prepare.arguments import isolation_words
from host.prepare.plan import Plan
from host.prepare.system import StepError
from python.host.host_kernel import relink, tree
from python.host.host_machines import MACHINES
from python.host.host_steps import apply, make_machine, set_up, undo
from python.layout_machines import write
from vcmts import cli, version
from vcmts.paths import MistakeError

CARD = "0000:3b:00.0"
LOGIN = "0000:01:00.0"


@pytest.fixture(scope="module")
def stored_plan(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The stored plan of a server, to manipulate."""
    return set_up(tmp_path_factory.mktemp("machine"))[1].as_text()


def write_plan(plan: Plan, folder: Path) -> Path:
    for name, text in texts.plan_files(plan).items():
        path = folder / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    parts = (markdown.page_lines, markdown.argument_lines, markdown.card_lines, markdown.file_lines)
    lines = [line for part in parts for line in ("", *part(plan))]
    (folder / "plan.md").write_text("\n".join(lines) + "\n")
    (folder / "plan.json").write_text(plan.as_text())
    return folder


def test_written_plan_is_read(tmp_path: Path) -> None:
    for name in MACHINES:
        _, plan = set_up(tmp_path / name, name)
        folder = write_plan(plan, tmp_path / f"plan-{name}")
        assert stored.read(folder) == plan
        host_folder.check_files(folder, plan)


def test_changed_files_are_refused(tmp_path: Path) -> None:
    _, plan = set_up(tmp_path / "machine")
    folder = write_plan(plan, tmp_path / "plan")
    script = folder / "files" / texts.SCRIPT
    script.write_text(script.read_text() + "touch /x\n")
    with pytest.raises(MistakeError, match=r"it differs from plan\.json"):
        host_folder.check_files(folder, plan)
    script.unlink()
    script.symlink_to("/etc/passwd")
    with pytest.raises(MistakeError, match="no such file, or a link"):
        host_folder.check_files(folder, plan)
    script.unlink()
    script.write_text(texts.plan_files(plan)[texts.SCRIPT])
    (folder / "files/etc/passwd").write_text("x")
    with pytest.raises(MistakeError, match="not a file of this plan"):
        host_folder.check_files(folder, plan)


def test_changed_text_is_refused(tmp_path: Path) -> None:
    """The text that people read must be that of the plan."""
    root, out = tmp_path / "machine", tmp_path / "plan"
    for name in MACHINES:
        make_machine(name, root / name)
        shutil.rmtree(out, ignore_errors=True)
        assert cli.main(["host", "plan", "--machine", str(root / name), "-o", str(out)]) == 0
        host_folder.check_files(out, stored.read(out))
    make_machine("server", root / "second")
    assert cli.main(["host", "plan", "--machine", str(root / "second"), "-o", str(out)]) == 0
    text, plan = (out / "plan.md").read_text(), stored.read(out)
    for old, new in (
        ("isolcpus=", "isolcpus=1,"),
        (CARD, LOGIN),
        (f"- /{texts.RULES}", f"- /{texts.RULES}.mine"),
        (f"{plan.pages[0].count} pages", "7 pages"),
    ):
        assert old in text
        (out / "plan.md").write_text(text.replace(old, new))
        with pytest.raises(MistakeError, match=r"plan\.md: it differs from plan\.json"):
            host_folder.check_files(out, plan)
    (out / "plan.md").unlink()
    with pytest.raises(MistakeError, match=r"plan\.md: no such file"):
        host_folder.check_files(out, plan)


def changed(result: object, path: tuple[object, ...], value: object) -> object:
    """Returns a copy with another value at the path."""
    if not path:
        return value
    copy = dict(result) if isinstance(result, dict) else list(result)  # type: ignore[call-overload]
    copy[path[0]] = changed(copy[path[0]] if path[1:] else None, path[1:], value)
    return copy


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), 3),
        (("arguments", 0), "quiet; reboot=1"),
        (("arguments", 0), 'x="$(reboot)"'),
        (("arguments", 0), "a=b\nc=d"),
        (("arguments", 0), "isolcpus=0-15"),
        (("arguments", 0), "init=/tmp/x"),
        (("arguments", 1), "nohz_full=0"),
        (("arguments", 1), "mitigations=off"),
        (("arguments",), ["iommu=pt", "intel_iommu=on"]),
        (("arguments",), ["iommu=pt", "iommu=pt"]),
        (("isolated",), list(range(16))),
        (("isolated",), [0, 1]),
        (("isolated",), [1, 1]),
        (("isolated",), [4711]),
        (("polling",), [4711]),
        (("main_core",), 16),
        (("main_core",), 1.0),
        (("main_core",), True),
        (("no_iommu",), "yes"),
        (("cards", 0, "address"), "0000:\u0663b:00.0"),
        (("cards", 0, "mtu"), 68),
        (("cards", 0, "mtu"), 2000.0),
        (("cards", 0, "functions", 0, "mac"), ""),
        (("cards", 0, "functions", 0, "mac"), "00:00:00:00:00:00"),
        (("cards", 0, "functions", 0, "mac"), "01:00:5e:00:00:01"),
        (("cards", 0, "functions", 0, "groups"), [99]),
        (("cards", 0, "functions", 0, "index"), None),
        (("cards", 0, "functions", 0, "further"), 1),
        (("pages", 0, "count"), 512.0),
        (("further",), 1),
        (("cards", 0, "address"), "../../../../etc"),
        (("cards", 0, "address"), "0000:3b:00.0\n"),
        (("cards", 0, "vendor"), "8086;"),
        (("cards", 0, "mac"), "52:54:00:00:00:01 x"),
        (("cards", 0, "made"), 0),
        (("cards", 0, "made"), -1),
        (("cards", 0, "made"), 4096),
        (("cards", 0, "others"), 0),
        (("cards", 0, "functions"), []),
        (("cards", 0, "functions", 0, "index"), 5),
        (("cards", 0, "functions", 0, "mac"), "$(reboot)"),
        (("cards", 0, "functions", 0, "vlan"), 4095),
        (("cards", 0, "functions", 0, "vlan"), True),
        (("cards", 0, "addresses"), []),
        (("cards", 1, "address"), CARD),
        (("pages", 0, "node"), "0/../../../../tmp"),
        (("pages", 0, "size_kb"), 4),
        (("pages", 0, "count"), 0),
        (("facts", "loader"), "lilo"),
        (("facts", "cores"), [[1]]),
        (("groups",), []),
        ((), []),
        ((), None),
    ],
)
def test_invalid_plan_is_refused(
    path: tuple[object, ...], value: object, stored_plan: str, tmp_path: Path
) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(changed(json.loads(stored_plan), path, value)))
    with pytest.raises(MistakeError, match=r"plan\.json: ") as raised:
        stored.read(tmp_path)
    assert "\n" not in str(raised.value)


def test_isolated_cores_are_of_polling_cores(stored_plan: str, tmp_path: Path) -> None:
    """Refused even if the kernel arguments agree. None may be isolated."""
    plan = json.loads(stored_plan)
    listed = [core[0] for core in plan["facts"]["cores"] if core[0] != plan["main_core"]]
    assert plan["isolated"] not in ([], listed)
    others = [word for word in plan["arguments"] if word not in isolation_words(plan["isolated"])]
    for isolated, valid in ((listed, False), (plan["isolated"], True), ([], True)):
        plan |= {"isolated": isolated, "arguments": [*isolation_words(isolated), *others]}
        (tmp_path / "plan.json").write_text(json.dumps(plan))
        if valid:
            assert list(stored.read(tmp_path).isolated) == isolated
            continue
        with pytest.raises(MistakeError, match="isolated: allowed: none, or the polling cores"):
            stored.read(tmp_path)


def test_working_iommu_without_iommu_is_refused(stored_plan: str, tmp_path: Path) -> None:
    plan = json.loads(stored_plan) | {"iommu": True, "no_iommu": True}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(MistakeError, match="no_iommu: it is set, but an IOMMU works"):
        stored.read(tmp_path)


def test_duplicate_key_is_refused(tmp_path: Path) -> None:
    _, plan = set_up(tmp_path / "machine")
    text = plan.as_text().replace('"no_iommu": false', '"no_iommu": false, "no_iommu": true')
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(MistakeError, match=r"plan\.json: an object has key 'no_iommu' twice"):
        stored.read(tmp_path)


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        # the card of the login: a udev rule would bind it to vfio-pci
        (("cards", 0, "addresses"), [LOGIN], "addresses of its functions differ"),
        (("cards", 0, "bind"), False, "its driver differs from the plan"),
        (("cards", 0, "others"), True, "has 0 virtual functions"),
        (("cards", 0, "node"), None, "on NUMA node 0, planned None"),
        (("cards", 0, "vendor"), "8087", "another model"),
        (("cards", 0, "made"), 0, "has 1 virtual functions, planned 0"),
        (("pages", 0, "count"), 1 << 24, "64.0 GiB, allowed: 48.0 GiB"),
        (("pages", 0, "node"), 7, "node7/.* does not exist"),
        (("facts", "loader"), "cmdline", "boot loader grub, planned for cmdline"),
    ],
)
def test_plan_for_another_machine_is_refused(
    path: tuple[object, ...], value: object, error: str, tmp_path: Path
) -> None:
    """The fields are valid, but not for this machine."""
    kernel, plan = set_up(tmp_path / "machine")
    result: Any = changed(json.loads(plan.as_text()), path, value)
    if path[-1] == "made":
        kernel.make_functions(CARD, 1)
        result["cards"][0] |= {"addresses": []}
        result["cards"][0]["functions"][0] |= {"index": None, "mac": "", "vlan": 0}
    (tmp_path / "plan.json").write_text(json.dumps(result))
    plan = stored.read(tmp_path)
    before = tree(kernel.root)
    with pytest.raises(MistakeError, match=error):
        apply(kernel, plan)
    assert tree(kernel.root) == before


def test_card_in_iommu_group_of_login_is_refused(tmp_path: Path) -> None:
    """The card shares its IOMMU group with the card of the login."""
    kernel, plan = set_up(tmp_path, "cloud")
    kernel.iommu = True
    for address in ("0000:00:05.0", "0000:00:06.0"):
        kernel.set_iommu_group(address, "1")
    with pytest.raises(MistakeError, match=r"its IOMMU group also has 0000:00:05\.0"):
        apply(kernel, replace(plan, no_iommu=False))
    with pytest.raises(MistakeError, match="an IOMMU works, planned without one"):
        apply(kernel, plan)


def test_whole_card_in_iommu_group_of_login_is_refused(tmp_path: Path) -> None:
    """Its functions have their own groups, but the whole card must not be bound."""
    kernel, plan = set_up(tmp_path, "single")
    kernel.set_iommu_group("0000:02:00.0", "9")
    kernel.set_iommu_group("0000:05:00.0", "9")
    (card,) = plan.cards
    port = replace(card.functions[0], index=None, mac="", vlan=0)
    whole_card = replace(card, made=0, addresses=(), functions=(port,))
    before = tree(tmp_path)
    with pytest.raises(MistakeError, match=r"its IOMMU group also has 0000:02:00\.0"):
        apply(kernel, replace(plan, cards=(whole_card,)))
    assert tree(tmp_path) == before
    assert apply(kernel, plan) > 0


@pytest.mark.parametrize("name", ["files", "plan.md", "plan.json", "files/etc", "files/etc/x"])
def test_folder_with_symlinks_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing behind a symlink is read, written or removed."""
    root, out, elsewhere = (tmp_path / part for part in ("machine", "plan", "elsewhere"))
    make_machine("server", root)
    words = ["host", "plan", "--machine", str(root), "-o", str(out)]
    assert cli.main(words) == 0
    link = out / name
    if link.exists():
        link.rename(tmp_path / "old")
    write(elsewhere / "plan.json", "mine")
    write(elsewhere / "etc/systemd/system/vcmts-host.service", "mine")
    write(elsewhere / "systemd/system/vcmts-host.service", "mine")
    relink(link, str(elsewhere / "plan.json" if "." in name else elsewhere))
    before = tree(elsewhere)
    assert cli.main(words) == 2 and tree(elsewhere) == before
    assert f"{link}: it is a link" in capsys.readouterr().err


def test_unexpected_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, out = tmp_path / "machine", tmp_path / "plan"
    make_machine("server", root)
    words = ["host", "plan", "--machine", str(root), "-o", str(out)]
    assert cli.main(words) == 0
    write(out / "notes.md", "mine")
    assert cli.main(words) == 0
    write(out / "files/etc/mine", "mine")
    assert cli.main(words) == 2
    assert "files/etc/mine: not a file of a plan" in capsys.readouterr().err
    assert (out / "files/etc/mine").exists() and (out / "notes.md").exists()


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100000, b"null", b"1e999"])
def test_other_files_are_no_plan(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(data)
    with pytest.raises(MistakeError, match=r"plan\.json: "):
        stored.read(tmp_path)
    with pytest.raises(MistakeError, match="no such file"):
        stored.read(tmp_path / "no")


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "[]",
        '{"event": "begun"}',
        '{"event": "begun", "step": {"kind": "file", "target": "../x", "wanted": 1}, "made": []}',
        '{"event": "done", "number": 7}',
        '{"event": "done", "number": -1}',
        '{"event": "undone", "number": "0"}',
        '{"event": "what"}',
    ],
)
def test_invalid_journal_is_refused(line: str, tmp_path: Path) -> None:
    kernel, _ = set_up(tmp_path)
    write(tmp_path / host_journal.PATH, '{"schema": 1, "plan": "x"}\n' + line)
    with pytest.raises(MistakeError, match=f"/{host_journal.PATH}: line 2: "):
        undo(kernel)
    write(tmp_path / host_journal.PATH, '{"schema": 9, "plan": "x"}')
    with pytest.raises(MistakeError, match="use the version that wrote it, also to undo"):
        undo(kernel)
    write(tmp_path / host_journal.PATH, '{"schema": 9, "plan": "x", "version": "0.3.0"}')
    with pytest.raises(MistakeError, match=r"in schema 9, .*reads 1: use version 0\.3\.0, also"):
        undo(kernel)
    write(tmp_path / host_journal.PATH, '{"schema": "9", "plan": "x"}')
    with pytest.raises(MistakeError, match="schema: found '9'"):
        undo(kernel)


def test_plan_of_other_version_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "plan.json", '{"schema": 9}')
    with pytest.raises(MistakeError, match=r"plan\.json: schema 9, .*reads 2: plan again"):
        stored.read(tmp_path)
    kernel, plan = set_up(tmp_path / "machine")
    apply(kernel, plan)
    first = (tmp_path / "machine" / host_journal.PATH).read_text().splitlines()[0]
    assert json.loads(first)["version"] == version.number()


def step_text(kind: str, target: str, wanted: object, **more: object) -> dict[str, object]:
    step = {"kind": kind, "target": target, "wanted": wanted, "what": "w", "refresh": ""}
    return {**step, "made": False, **more}


@pytest.mark.parametrize(
    ("step", "before", "made", "error"),
    [
        ({"kind": "x", "target": "y", "wanted": 1}, None, [], "an invalid step: y"),
        (step_text("x", "y", 1), None, [], "a step of unknown kind x"),
        (step_text("file", "etc/shadow", {"link": "x"}), None, [], "file etc/shadow"),
        (step_text("file", texts.SCRIPT, {"link": "x"}), 5, [], "has an invalid step"),
        (step_text("file", texts.SCRIPT, {"link": "x"}), {"text": "x"}, [], "has an invalid step"),
        (step_text("file", texts.SCRIPT, {"link": "x"}), None, ["home"], "has an invalid step"),
        (step_text("value", "sys/power/state", "mem"), "", [], "value sys/power/state"),
        (step_text("value", "sys/kernel/mm/../x", "1"), "", [], "no step"),
        (step_text("module", "zfs", True), False, [], "module zfs"),
        (step_text("binding", f"{CARD}/0", 1), {}, [], "binding"),
        (step_text("functions", CARD, 1), "0", [], "functions"),
        (step_text("functions", CARD, 1, refresh="x"), 0, [], "functions"),
        (step_text("functions", CARD, 1, made=1), 0, [], "functions"),
    ],
)
def test_invalid_step_of_journal_is_refused(
    step: dict[str, object], before: object, made: list[str], error: str, tmp_path: Path
) -> None:
    kernel, _ = set_up(tmp_path)
    line = json.dumps({"event": "begun", "step": step, "before": before, "made": made})
    write(tmp_path / host_journal.PATH, '{"schema": 1, "plan": "x"}\n' + line)
    before_undo = tree(tmp_path)
    with pytest.raises((StepError, MistakeError), match=error):
        undo(kernel)
    assert tree(tmp_path) == before_undo
