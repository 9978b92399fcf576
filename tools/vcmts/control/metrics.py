# SPDX-License-Identifier: BSD-3-Clause
"""Calls the method metrics.get until all parts of its answer are complete."""

from typing import Any

from vcmts.control.client import Client
from vcmts.jsons import Json

METHOD = "metrics.get"


class PartsError(ValueError):
    """The parts of an answer do not fit together."""


def complete(client: Client, result: Any, params: Json) -> Any:
    """Requests the further parts of the first answer `result` and adds their samples. Raises
    PartsError, and the errors of Client.call()."""
    first = -1
    while isinstance(result, dict) and "next" in result:
        following = result.pop("next")
        if not isinstance(following, int) or following <= first:
            raise PartsError(f"{METHOD}: next is {following!r}, expected more than {first}")
        first = following
        part = client.call(METHOD, **params | {"first": first})
        try:
            result["samples"] += part["samples"]
            result |= {key: part[key] for key in ("next",) if key in part}
        except (KeyError, TypeError) as error:
            raise PartsError(f"{METHOD}: a part has no samples") from error
    return result


def metrics(client: Client, **params: Any) -> Any:
    """Returns all samples. `uptime` is that of the first part."""
    return complete(client, client.call(METHOD, **params), params)
