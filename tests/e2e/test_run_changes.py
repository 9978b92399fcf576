# SPDX-License-Identifier: BSD-3-Clause
"""`./vcmts run` while the server changes: modems, keys and service groups come and go, and every
packet that the server had to carry is proven."""

import pytest

from e2e.changing import KEY, Changing, changing, check, generation, modems_of
from e2e.machine import kept_up
from patience import until
from vcmts.control import methods
from vcmts.control.client import Client, RefusedError

pytestmark = pytest.mark.run


def take_away_and_bring_back(run: Changing) -> None:
    client = run.client
    modem = modems_of(client, 2)[7]
    methods.modem_remove(client, group=2, modem={"mac": modem["mac"]})
    assert modem["mac"] not in [m["mac"] for m in modems_of(client, 2)]
    with pytest.raises(RefusedError, match=modem["mac"]):
        methods.modem_remove(client, group=2, modem={"mac": modem["mac"]})
    run.goes_on()  # the traffic looks ten times a second
    run.goes_on()
    methods.modem_add(client, group=2, modem=modem)
    assert next(m for m in modems_of(client, 2) if m["mac"] == modem["mac"]) == modem


def roll_a_key(run: Changing) -> None:
    """As it is done: a modem has a key for a while before it is used."""
    client = run.client
    security = modems_of(client, 1)[3]["security"]
    said = security["said"]
    methods.key_use(client, group=1, said=said)
    run.goes_on()
    methods.key_remove(client, group=1, said=said)
    methods.key_install(client, group=1, said=said, key=KEY, iv=KEY)
    run.goes_on()
    run.goes_on()
    methods.key_use(client, group=1, said=said)
    rolled = modems_of(client, 1)[3]["security"]
    assert rolled["key_sequence"] == (security.get("key_sequence", 0) + 1) % 16
    assert (rolled["key"], rolled["next_key"]) == (security["next_key"], KEY)


def group_rests_and_goes(client: Client) -> None:
    methods.group_drain(client, group=3)
    methods.group_resume(client, group=3)
    methods.group_remove(client, group=3)
    assert [g["id"] for g in methods.group_list(client)["groups"]] == [1, 2]


def test_the_server_changes_under_traffic() -> None:
    with changing(groups=3, rate="60Mbps") as run:
        begun = generation(run.client)
        take_away_and_bring_back(run)
        roll_a_key(run)
        group_rests_and_goes(run.client)
        until(lambda: generation(run.client) >= begun + 7, "seven changes")
        for _ in range(3):
            run.goes_on()
    check(run.summary)
    assert run.status == 0 or not kept_up(run.summary), run.summary
