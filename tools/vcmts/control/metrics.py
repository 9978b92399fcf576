# SPDX-License-Identifier: BSD-3-Clause
"""Calls metrics.get, whose answer has a limited number of samples, until it has no `next`."""

from typing import Any

from vcmts.control.client import Client
from vcmts.jsons import Json
from vcmts.paths import RefusalError

METHOD = "metrics.get"


class PartsError(RefusalError, ValueError):
    """vcmtsd sent a part without samples, or a `next` that does not increase."""


def add_parts(client: Client, result: Any, params: Json) -> Any:
    """Adds the samples of the further parts to `result`, the answer to `params`, and returns it.

    The parts are of different times. Raises PartsError, and the errors of Client.call(), such as
    RefusedError if a group or modem was removed in between; `result` has then the parts before."""
    first = -1  # index of the first sample of the last requested part
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
    """The answer to `params` with the samples of all parts. `uptime`, s, is that of the first."""
    return add_parts(client, client.call(METHOD, **params), params)
