# SPDX-License-Identifier: BSD-3-Clause
"""metrics.get, whose answers have a part of the samples each, as one answer."""

from typing import Any

from vcmts.control.client import Client
from vcmts.jsons import Json

METHOD = "metrics.get"


class PartsError(ValueError):
    """Answers are no parts of one: the text says why."""


def complete(client: Client, result: Any, params: Json) -> Any:
    """The first answer to `params` with the samples of all answers behind it. Raises what
    Client.call() does, and PartsError. What has no next part is returned as it is."""
    first = -1
    while isinstance(result, dict) and "next" in result:
        following = result.pop("next")
        if not isinstance(following, int) or following <= first:
            raise PartsError(f"{METHOD}: next is not behind {first}")
        first = following
        part = client.call(METHOD, **params | {"first": first})
        try:
            result["samples"] += part["samples"]
            result |= {key: part[key] for key in ("next",) if key in part}
        except (KeyError, TypeError) as error:
            raise PartsError(f"{METHOD}: a part has no samples") from error
    return result


def metrics(client: Client, **params: Any) -> Any:
    """All samples. `uptime` is that of the first answer."""
    return complete(client, client.call(METHOD, **params), params)
