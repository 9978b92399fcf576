# SPDX-License-Identifier: BSD-3-Clause
"""A reload of the file does not undo changes that requests have made, unless it is forced."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.control.server import MODEM, config_folder, config_text
from vcmts.control.client import Client, RefusedError

MAC = "02:01:00:00:00:02"
NEW = {
    "mac": "02:09:00:00:00:01",
    "addresses": ["10.0.0.9"],
    "bonding_group": 1,
    "security": {"said": 9, "cipher": "none"},
    "service_flows": [{"id": 9, "dsid": 9}],
}
KEY = "ff" * 16


@pytest.fixture
def folder() -> Iterator[Path]:
    with config_folder() as path:
        yield path


def refusal(client: Client) -> str:
    before = client.call("config.get", keys=True)["config"]
    with pytest.raises(RefusedError) as refused:
        client.call("config.reload")
    assert client.call("config.get", keys=True)["config"] == before
    return str(refused.value)


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "modem.add": (
        {"modem": NEW},
        "modem 02:09:00:00:00:01 of service group 1 (added by modem.add)",
    ),
    "modem.remove": (
        {"mac": MAC},
        f"modem {MAC} of service group 1 (removed by modem.remove)",
    ),
    "modem.set": (
        {"modem": {"mac": MAC, "service_flows": {"7": {"dsid": 7}}}},
        f"modem {MAC} of service group 1 (changed by modem.set)",
    ),
    "key.install": (
        {"said": 3, "key": KEY, "iv": KEY},
        "modem 02:01:00:00:00:03 of service group 1 (changed by key.install)",
    ),
    "channel.set": (
        {"channel": {"id": 12, "rate": "400 Mbps"}},
        "channel 12 of service group 1 (changed by channel.set)",
    ),
    "filter_group.add": (
        {"filter_group": {"id": 3, "rules": [{"family": "ipv4", "action": "deny"}]}},
        "filter group 3 of service group 1 (added by filter_group.add)",
    ),
    "group.set": (
        {"values": {"rate_limit": "5 Gbps"}},
        "limits of service group 1 (changed by group.set)",
    ),
}


def test_reload_names_changes_that_it_would_undo(client: Client) -> None:
    """After a forced reload, the file is in service and nothing is left to undo."""
    before = client.call("config.get", keys=True)["config"]
    for method, (params, name) in CHANGES.items():
        client.call(method, **params)
        message = refusal(client)
        assert f"would undo 1 change: {name};" in message
        assert "config.save" in message and "force=true" in message
        assert "reloaded: " in client.call("config.reload", force=True)["done"]
        assert client.call("config.get", keys=True)["config"] == before
        assert client.call("config.reload")["done"].endswith("nothing changed")


def test_reload_counts_further_changes(client: Client) -> None:
    for method in ("modem.add", "modem.remove", "channel.set", "filter_group.add", "group.set"):
        client.call(method, **CHANGES[method][0])
    message = refusal(client)
    assert "would undo 5 changes: " in message and " and 2 more;" in message
    assert message.count(" of service group 1 (") == 3


def test_changes_that_the_file_has_or_that_ended_are_not_undone(
    client: Client, folder: Path
) -> None:
    client.call("modem.add", modem=NEW)
    client.call("modem.remove", mac=NEW["mac"])
    assert client.call("config.reload")["done"].endswith("nothing changed")
    client.call("channel.set", channel={"id": 11, "rate": "800 Mbps"})
    (folder / "sg.yaml").write_text(config_text("800 Mbps") + MODEM.format(n=5, iv="00" * 16))
    assert client.call("config.reload")["done"].endswith("reloaded: 1 modem added")


def test_reload_that_removes_an_added_object_by_another_change_is_refused(
    client: Client, folder: Path
) -> None:
    """The file has other changes, too; none of them is applied."""
    client.call("modem.add", modem=NEW)
    (folder / "sg.yaml").write_text(config_text("800 Mbps"))
    assert "would undo 1 change: modem 02:09" in refusal(client)
    done = client.call("config.reload", force=True)["done"]
    assert done.endswith("1 modem removed, 1 channel changed")
