# SPDX-License-Identifier: BSD-3-Clause
"""A data plane in service, asked on its control socket for what one service group does."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vcmts.control import place
from vcmts.control.client import Client, ClosedError, RefusedError, connected
from vcmts.jsons import Json
from vcmts.paths import MistakeError


class Plane:
    """`group`: which service group; None: the only one."""

    def __init__(self, client: Client, group: int | None = None) -> None:
        self.client = client
        self.group = group

    def ask(self, method: str, **params: Any) -> Any:
        """The result; a mistake where there is none."""
        try:
            return self.client.call(method, **params)
        except (RefusedError, ClosedError) as error:
            raise MistakeError(str(error)) from error

    def of_group(self, method: str, **params: Any) -> Any:
        return self.ask(method, **params | ({} if self.group is None else {"group": self.group}))

    def scheduler(self, what: str) -> list[Json]:
        """`delay`, `channels` or `bonding_groups`."""
        found: list[Json] = self.of_group("scheduler.get", flows=False)[what]
        return found

    def flow(self, sfid: int) -> Json:
        found: Json = self.of_group("flow.get", id=sfid)
        return found

    def workers(self, *, anew: bool = False) -> list[Json]:
        found: list[Json] = self.ask("worker.list", anew=anew)["workers"]
        return found

    def counts(self) -> Json:
        """`drops` and `counters` of the group, by direction."""
        found: list[Json] = self.of_group("counters.get")["groups"]
        if len(found) != 1:
            raise MistakeError(f"found {len(found)} service groups, allowed: one; name it")
        return found[0]


@contextmanager
def plane(pid: int | None = None, given: Path | None = None) -> Iterator[Plane]:
    """The one that is in service, or that of the process ID or socket."""
    with connected(place.asked_for(pid, given)) as client:
        yield Plane(client)
