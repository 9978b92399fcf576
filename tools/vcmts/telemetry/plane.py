# SPDX-License-Identifier: BSD-3-Clause
"""Methods of the control socket for the state of one service group."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vcmts.control import sockets
from vcmts.control.client import Client, RefusedError, connected
from vcmts.jsons import Json
from vcmts.paths import MistakeError, RefusalError


class Plane:
    """A running vcmtsd. `group`: ID of the service group; None: the only one."""

    def __init__(self, client: Client, group: int | None = None) -> None:
        self.client = client
        self.group = group

    def ask(self, method: str, **params: Any) -> Any:
        """Calls a method. Raises RefusalError if it is refused; its text names options."""
        try:
            return self.client.call(method, **params)
        except RefusedError as error:  # parameters of the request are options here
            raise RefusalError(str(error).replace("add group=", "add --group ")) from error

    def of_group(self, method: str, **params: Any) -> Any:
        """Calls a method with the service group as parameter."""
        return self.ask(method, **params | ({} if self.group is None else {"group": self.group}))

    def scheduler(self, what: str) -> list[Json]:
        """State of the scheduler. `what`: `delay`, `channels` or `bonding_groups`."""
        found: list[Json] = self.of_group("scheduler.get", flows=False)[what]
        return found

    def flow(self, sfid: int) -> Json:
        found: Json = self.of_group("flow.get", id=sfid)
        return found

    def workers(self, *, anew: bool = False) -> list[Json]:
        """State of all workers. `anew`: then restarts the search for their longest round."""
        found: list[Json] = self.ask("worker.list", anew=anew)["workers"]
        return found

    def counts(self) -> Json:
        """`drops` and `counters` of the group, by direction."""
        found: list[Json] = self.of_group("counters.get")["groups"]
        if len(found) != 1:
            ids = [str(one["id"]) for one in found]
            raise MistakeError(
                f"there are several service groups: add --group {ids[0]} (or {', '.join(ids[1:])})"
            )
        return found[0]


@contextmanager
def plane(pid: int | None = None, given: Path | None = None) -> Iterator[Plane]:
    """Connects to the vcmtsd with this process ID or socket, or to the only one in service."""
    with connected(sockets.select_socket(pid, given)) as client:
        yield Plane(client)
