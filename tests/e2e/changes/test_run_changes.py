# SPDX-License-Identifier: BSD-3-Clause
"""`./vcmts run` while the server changes: modems, keys and service groups come and go, and every
packet that the server had to carry is proven."""

import pytest

from e2e.changes.changing import KEY, Changing, Json, changing, check, generation, modems_of
from e2e.machine import kept_up
from patience import until
from vcmts.control.client import Client, RefusedError

pytestmark = pytest.mark.run
FEW = "2ofdm-0sc-qam_20cms_aes"  # 900 modems take seconds to start with


def seen(run: Changing) -> None:
    """A second at least: the traffic looks ten times as often."""
    run.goes_on()
    run.goes_on()


def take_away(client: Client) -> Json:
    modem: Json = modems_of(client, 2)[7]
    client.call("modem.remove", group=2, modem={"mac": modem["mac"]})
    assert modem["mac"] not in [m["mac"] for m in modems_of(client, 2)]
    with pytest.raises(RefusedError, match=modem["mac"]):
        client.call("modem.remove", group=2, modem={"mac": modem["mac"]})
    return modem


def bring_back(client: Client, modem: Json) -> None:
    client.call("modem.add", group=2, modem=modem)
    assert next(m for m in modems_of(client, 2) if m["mac"] == modem["mac"]) == modem


def use_the_next_key(client: Client) -> Json:
    security: Json = modems_of(client, 1)[3]["security"]
    client.call("key.use", group=1, said=security["said"])
    return security


def install_another(client: Client, said: int) -> None:
    client.call("key.remove", group=1, said=said)
    client.call("key.install", group=1, said=said, key=KEY, iv=KEY)


def use_it(client: Client, security: Json) -> None:
    """As it is done: the modem has had it for a while."""
    client.call("key.use", group=1, said=security["said"])
    rolled = modems_of(client, 1)[3]["security"]
    assert rolled["key_sequence"] == (security.get("key_sequence", 0) + 1) % 16
    assert (rolled["key"], rolled["next_key"]) == (security["next_key"], KEY)


def group_rests_and_goes(client: Client) -> None:
    client.call("group.drain", group=3)
    client.call("group.resume", group=3)
    client.call("group.remove", group=3)
    assert [g["id"] for g in client.call("group.list")["groups"]] == [1, 2]


def test_the_server_changes_under_traffic() -> None:
    with changing(groups=3, rate="60Mbps", profile=FEW) as run:
        client, begun = run.client, generation(run.client)
        modem, security = take_away(client), use_the_next_key(client)
        seen(run)
        bring_back(client, modem)
        install_another(client, security["said"])
        seen(run)
        use_it(client, security)
        group_rests_and_goes(client)
        until(lambda: generation(client) >= begun + 7, "seven changes")
        seen(run)
    check(run.summary)
    assert run.status == 0 or not kept_up(run.summary), run.summary
