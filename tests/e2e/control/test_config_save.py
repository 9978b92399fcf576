# SPDX-License-Identifier: BSD-3-Clause
"""config.save writes changes of requests to the file. PyYAML, independent of vcmtsd, reads
the result."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from e2e.control.server import IDLE_SLEEP, MODEM, config_folder, config_text, start_server
from e2e.control.test_events import group, modem_calls, other_calls
from e2e.control.test_unsaved import CHANGES, KEY, MAC, NEW
from e2e.ports import serve
from patience import TIMEOUT
from vcmts.control.client import Client, RefusedError

TEXT = (
    config_text()
    .replace("channels:\n", "# the channels\nchannels: # two\n", 1)
    .replace("modems:\n", "modems:\n  # über die Modems\n")
    .replace("mac: ", "# its address\n    mac: ", 1)
    + "# the end\n"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with config_folder() as path:
        (path / "sg.yaml").write_text(TEXT)
        yield path


def load(path: Path) -> Any:
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)


def saved(client: Client, *, comments: bool = True) -> str:
    """Saves, and asserts that the file is what is in service."""
    answer = client.call("config.save")
    assert answer["comments"] is comments, answer
    assert client.call("config.changes") == {"changes": []}
    assert client.call("config.reload")["done"].endswith("nothing changed")
    return str(answer["done"])


def test_changes_are_saved_and_the_rest_stays(client: Client, folder: Path) -> None:
    (before,) = client.call("config.get", keys=True)["config"]["service_groups"]
    for method in CHANGES.keys() - {"modem.set"}:
        client.call(method, **CHANGES[method][0])
    client.call("modem.set", modem={"mac": "02:01:00:00:00:04", "cpe_limit": 3})
    assert saved(client).endswith(
        "sg.yaml: saved: 1 modem added, 2 modems changed, 1 modem removed, 1 filter group added, "
        "1 channel changed, 1 limit changed"
    )
    (after,) = client.call("config.get", keys=True)["config"]["service_groups"]
    assert before != after
    expected = yaml.load(TEXT, Loader=yaml.BaseLoader)
    del expected["modems"][1]
    expected["modems"][1]["security"] |= {"next_key": KEY, "next_iv": KEY}
    expected["modems"][2]["cpe_limit"] = "3"
    new = json.loads(json.dumps(NEW), parse_int=str)
    expected["modems"].append(new)
    expected["channels"][1]["rate"] = "400 Mbps"
    rules = [{"family": "ipv4", "action": "deny"}]
    expected |= {"filter_groups": [{"id": "3", "rules": rules}], "rate_limit": "5 Gbps"}
    assert load(folder / "sg.yaml") == expected
    lines = (folder / "sg.yaml").read_text().splitlines()
    kept = TEXT.splitlines()
    for line in [*kept[:6], *kept[7:15], kept[-1]]:
        assert line in lines
    assert [line for line in lines if "#" in line] == [line for line in kept if "#" in line]
    typed = yaml.safe_load((folder / "sg.yaml").read_text())["modems"][-1]
    assert typed == NEW  # no value becomes a number or a date


def test_saved_file_starts_as_it_was_in_service(client: Client, folder: Path) -> None:
    client.call("modem.add", modem=NEW)
    client.call("channel.set", channel={"id": 11, "rate": "700 Mbps"})
    saved(client)
    before = client.call("config.get", keys=True)["config"]
    (folder / "next").mkdir()
    (folder / "next" / "sg.yaml").write_bytes((folder / "sg.yaml").read_bytes())
    with start_server(folder / "next") as (run, path), Client(path, TIMEOUT) as second:
        assert second.call("config.get", keys=True)["config"] == before
        assert run.stop().status == 0


def test_save_keeps_mode_link_and_removes_temporary_files(client: Client, folder: Path) -> None:
    (folder / "real.yaml").write_text(TEXT)
    (folder / "sg.yaml").unlink()
    (folder / "sg.yaml").symlink_to("real.yaml")
    (folder / "real.yaml").chmod(0o640)
    if os.getuid() == 0:
        os.chown(folder / "real.yaml", 1, 1)
    client.call("modem.add", modem=NEW)
    client.call("config.save")
    about = (folder / "real.yaml").stat()
    assert (folder / "sg.yaml").is_symlink() and stat.S_IMODE(about.st_mode) == 0o640
    assert os.getuid() != 0 or (about.st_uid, about.st_gid) == (1, 1)
    assert {path.name.split("-")[-1] for path in folder.iterdir()} <= {
        *("sg.yaml", "real.yaml", "control.sock", "control.sock.lock", "capture.sock"),
        *("capture.sock.lock",),
    }


def test_save_to_a_path_writes_a_new_file(client: Client, folder: Path) -> None:
    """The changes stay unsaved: a reload of the configuration file would undo them."""
    client.call("modem.add", modem=NEW)
    other = folder / "other.yaml"
    assert client.call("config.save", file=str(other))["done"].endswith("saved: 1 modem added")
    assert stat.S_IMODE(other.stat().st_mode) == 0o600
    assert load(other)["modems"][-1]["mac"] == NEW["mac"]
    assert (folder / "sg.yaml").read_text() == TEXT
    (change,) = client.call("config.changes")["changes"]
    assert change == {
        "group": 1,
        "object": f"modem {NEW['mac']}",
        "action": "added",
        "method": "modem.add",
    }
    with pytest.raises(RefusedError, match=r"other\.yaml: File exists"):
        client.call("config.save", file=str(other))
    with pytest.raises(RefusedError, match=r"/none/x\.yaml: No such file or directory"):
        client.call("config.save", file=str(folder / "none" / "x.yaml"))
    with pytest.raises(RefusedError, match="would undo 1 change"):
        client.call("config.reload")


def test_edits_of_the_file_stay(client: Client, folder: Path) -> None:
    client.call("modem.add", modem=NEW)
    edited = TEXT.replace("500 Mbps", "450 Mbps") + MODEM.format(n=5, iv="00" * 16)
    (folder / "sg.yaml").write_text(edited)
    done = client.call("config.save")["done"]
    assert done.endswith("1 modem added; 2 edits of the file are not in service: config.reload "
                         "applies them")  # fmt: skip
    assert client.call("config.reload")["done"].endswith("1 modem added, 1 channel changed")
    assert [modem["mac"][-2:] for modem in load(folder / "sg.yaml")["modems"]] == [
        *("01", "02", "03", "04", "05", "01")
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("channels: nonsense\n", r"sg\.yaml:1: "),
        (TEXT.replace("\nrphy:", "\nmax_frame: 1600\nrphy:", 1), "max_frame"),
    ],
)
def test_file_that_cannot_be_loaded_is_not_changed(
    client: Client, folder: Path, text: str, why: str
) -> None:
    client.call("modem.add", modem=NEW)
    (folder / "sg.yaml").write_text(text)
    with pytest.raises(RefusedError, match=f"not saved: .*{why}"):
        client.call("config.save")
    assert (folder / "sg.yaml").read_text() == text


def serve_text(folder: Path, text: str) -> Any:
    (folder / "sg.yaml").write_text(text)
    socket = folder / "control.sock"
    return serve("--config", folder / "sg.yaml", "--control-socket", socket, *IDLE_SLEEP)


def test_anchored_value_makes_a_new_text(folder: Path) -> None:
    """The removed modem has the anchor of values that others use."""
    text = TEXT.replace("addresses: [10.0.0.2]\n    bonding_group: 1", "addresses: [10.0.0.2]\n"
                        "    bonding_group: &one 1")  # fmt: skip
    text = text.replace("addresses: [10.0.0.3]\n    bonding_group: 1", "addresses: [10.0.0.3]\n"
                        "    bonding_group: *one")  # fmt: skip
    (folder / "sg.yaml").write_text("metrics: 127.0.0.1:0\n" + text)
    with start_server(folder) as (run, path), Client(path, TIMEOUT) as client:
        client.call("modem.remove", mac=MAC)
        before = client.call("config.get", keys=True)["config"]
        (folder / "sg.yaml").write_text(
            "metrics: 127.0.0.1:0\n" + text.replace("500 Mbps", "450 Mbps")
        )
        with pytest.raises(RefusedError, match="a new text would lose 1 edit"):
            client.call("config.save")
        (folder / "sg.yaml").write_text("metrics: 127.0.0.1:0\n" + text)
        assert "1 modem removed; comments are lost, as " in saved(client, comments=False)
        assert client.call("config.get", keys=True)["config"] == before
        document = load(folder / "sg.yaml")
        assert document["metrics"] == "127.0.0.1:0"
        (only,) = document["service_groups"]
        assert [modem["mac"][-1] for modem in only["modems"]] == ["1", "3", "4"]
        assert run.stop().status == 0


def test_groups_with_own_files_lists_and_shared_keys(folder: Path) -> None:
    """Group 1 has a file, group 2 is an item in flow style, group 3 is added, group 2 removed."""
    one, two = group(1), group(2)
    (folder / "one.yaml").write_text("# mine\n" + yaml.safe_dump(one))
    limits = {"max_modems": 64, "max_queued": 2048}
    (folder / "three.yaml").write_text(json.dumps(group(3) | limits))
    shared = "max_groups: 4\nmax_modems: 64\nmax_queued: 2048\n"
    items = f"service_groups: # all\n- {{file: one.yaml}} # first\n- {json.dumps(two)}\n"
    with serve_text(folder, shared + items), Client(folder / "control.sock", TIMEOUT) as client:
        modem = {"mac": one["modems"][0]["mac"], "cpe_limit": 7}
        client.call("modem.set", group=1, modem=modem)
        client.call("group.set", group=2, values={"rate_limit": "3 Gbps"})
        assert saved(client).endswith("1 modem changed, 1 limit changed")
        own = (folder / "one.yaml").read_text()
        assert (
            own.startswith("# mine\n")
            and load(folder / "one.yaml")["modems"][0]["cpe_limit"] == "7"
        )
        text = (folder / "sg.yaml").read_text()
        assert text.startswith(shared + "service_groups: # all\n- {file: one.yaml} # first\n")
        assert load(folder / "sg.yaml")["service_groups"][1]["rate_limit"] == "3 Gbps"
        client.call("group.add", file=str(folder / "three.yaml"))
        client.call("group.remove", group=2)
        assert saved(client).endswith("1 service group added, 1 service group removed")
        groups = load(folder / "sg.yaml")["service_groups"]
        assert [item.get("service_group", item.get("file")) for item in groups] == ["one.yaml", "3"]
        client.call("modem.set", group=1, modem=modem | {"cpe_limit": 8})
        answer = client.call("config.save", file=str(folder / "all.yaml"))
        assert "comments are lost, as service groups have files of their own" in answer["done"]
        assert len(load(folder / "all.yaml")["service_groups"]) == 2


def test_limit_beside_the_name_of_a_file_is_changed_there(folder: Path) -> None:
    """The group that was added to the file by hand is not in service, and stays."""
    (folder / "one.yaml").write_text(yaml.safe_dump(group(1)))
    shared = "max_groups: 4\nmax_modems: 64\nmax_queued: 2048\nservice_groups:\n"
    item = "- {file: one.yaml, rate_limit: 4 Gbps} # one\n"
    by_hand = f"- {json.dumps(group(2))}\n"
    with serve_text(folder, shared + item), Client(folder / "control.sock", TIMEOUT) as client:
        client.call("group.set", group=1, values={"rate_limit": "3 Gbps"})
        (folder / "sg.yaml").write_text(shared + item + by_hand)
        assert client.call("config.save")["done"].endswith(
            "1 limit changed; 1 edit of the file is not in service: config.reload applies it"
        )
        expected = shared + item.replace("4 Gbps", "3 Gbps") + by_hand
        assert (folder / "sg.yaml").read_text() == expected


def test_reload_that_removes_a_changed_group_is_refused(folder: Path) -> None:
    """The file has the change of the other group."""
    one, two = group(1), group(2)
    shared = "max_groups: 4\nmax_modems: 64\nmax_queued: 2048\nservice_groups:\n"
    first = one["modems"][0]
    with (
        serve_text(folder, shared + yaml.safe_dump([one, two])),
        Client(folder / "control.sock", TIMEOUT) as client,
    ):
        client.call("modem.set", group=1, modem={"mac": first["mac"], "cpe_limit": 7})
        mac = two["modems"][1]["mac"]
        client.call("modem.set", group=2, modem={"mac": mac, "cpe_limit": 7})
        first["cpe_limit"] = 7
        (folder / "sg.yaml").write_text(shared + yaml.safe_dump([one]))
        undone = f"would undo 1 change: modem {mac} of service group 2"
        with pytest.raises(RefusedError, match=undone):
            client.call("config.reload")


def test_key_of_all_groups_makes_a_new_text(folder: Path) -> None:
    """The added group does not have the limit that the file gives to all groups."""
    (folder / "three.yaml").write_text(json.dumps(group(3)))
    text = "max_groups: 4\nmax_modems: 64\nservice_groups:\n" + yaml.safe_dump([group(1)])
    with serve_text(folder, text), Client(folder / "control.sock", TIMEOUT) as client:
        client.call("group.add", file=str(folder / "three.yaml"))
        done = saved(client, comments=False)
        assert (
            "comments are lost, as with its other text, service group 3 differs: max_modems" in done
        )


def test_list_of_all_groups_makes_a_new_text(folder: Path) -> None:
    """The keys beside service_groups also give the other group its filters."""
    filters = "filter_groups: [{id: 1, rules: [{family: ipv4, action: deny}]}]\n"
    groups = [group(1), group(2)]
    for item in groups:
        item.pop("filter_groups", None)
        for modem in item["modems"]:
            modem.pop("filter_groups", None)
    text = filters + "service_groups:\n" + yaml.safe_dump(groups)
    with serve_text(folder, text), Client(folder / "control.sock", TIMEOUT) as client:
        client.call("filter_group.remove", group=1, id=1)
        assert "comments are lost, as a list belongs to all groups" in saved(client, comments=False)
        first, second = load(folder / "sg.yaml")["service_groups"]
        assert "filter_groups" not in first and len(second["filter_groups"]) == 1


@pytest.mark.parametrize("style", ["json", "block", "indented"])
def test_random_changes_are_saved(folder: Path, style: str) -> None:
    random = Random(style)
    whole = {"max_groups": 4, "max_modems": 64, "service_groups": [group(1), group(2), group(3)]}
    text = json.dumps(whole) if style == "json" else yaml.safe_dump(whole)
    if style == "indented":
        text = yaml.safe_dump(whole, default_flow_style=None, indent=6).replace("\n", " # x\n", 1)
    with serve_text(folder, text), Client(folder / "control.sock", TIMEOUT) as client:
        for _ in range(12):
            groups = client.call("config.get", keys=True)["config"]["service_groups"]
            for _ in range(random.randrange(1, 8)):
                item = random.choice(groups)
                modems = item.get("modems", []) or [{"mac": MAC}]
                number = random.randrange(5, 40)
                calls = [*modem_calls(random.choice(modems), number), *other_calls(number)]
                method, params = random.choice(calls)
                client.calls([(method, {"group": item["service_group"], **params})])
            saved(client)
