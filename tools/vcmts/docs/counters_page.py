# SPDX-License-Identifier: BSD-3-Clause
"""Generates the page on counters and drop reasons from `vcmtsd describe`."""

import re

from vcmts.docs import configdoc
from vcmts.jsons import Json
from vcmts.run import identities

UNITS = ("packets", "bursts", "segments", "frames")  # in the order of the upstream's stages


def table(heads: str, names: dict[str, str]) -> str:
    rows = ((f"`{name}`", meaning) for name, meaning in names.items())
    return "\n".join(configdoc.table(heads, rows))


def drops_of(direction: Json, *units: str) -> dict[str, str]:
    """Meanings of the drop reasons that count these units, by name."""
    drops: dict[str, dict[str, str]] = direction["drops"]
    return {name: drop["meaning"] for name, drop in drops.items() if drop["unit"] in units}


def upstream_drops(upstream: Json) -> str:
    return "\n\n".join(table(f"{unit} | meaning", drops_of(upstream, unit)) for unit in UNITS)


def identity_rows(direction: str) -> str:
    """The table of a direction's identities."""
    rows = []
    for identity in identities.IDENTITIES[direction]:
        when = "always" if identity.always else "nothing dropped"
        if identity.unless:
            when += f", `{identity.unless}` = 0"
        shown = re.sub(r"[.\w]+", r"`\g<0>`", identity.text)
        rows.append((shown, when))
    return "\n".join(configdoc.table("identity | judged where", rows))


def identities_part() -> str:
    return f"""## Identities

When `./vcmts run` has ended it holds these sums against each other, of all service groups together
and of each, and fails where two differ. A plain name is a counter of above, `.name` one of the
traffic program ([results](results.md)); `channels` are those of the downstream scheduler,
`by_kind`, `by_modem`, `of_left` (modems that have left), `records` and `in_bursts` bandwidth
requests. `drop.name` are the drops for a reason, and `refused_` tells of packets that vcmtsd has to
drop ([traffic](traffic.md#what-has-to-be-dropped)). Bytes may differ by a VLAN tag for each frame.
*Nothing dropped*: but these by vcmtsd, nothing lost or overtaken by a change of the configuration,
and no MAPs are sent.

### Downstream

{identity_rows("downstream")}

### Upstream

{identity_rows("upstream")}

### Without an identity

{table("counter | why", identities.ALONE)}
"""


def render(description: Json) -> str:
    down, up = description["downstream"], description["upstream"]
    port = description["shared_port"]
    return f"""# Counters

Everything is accounted for: what came in = what went out + the sum of the drops + what is held,
in each direction, whenever the workers are quiet. What goes no further is counted under exactly one
drop reason. They and the other counters stand with the stages, in `src/pipeline/downstream.def`,
`upstream.def` and `sharing.def`.

## Downstream: drop reasons

Each counts packets.

{table("name | meaning", drops_of(down, *UNITS))}

## Downstream: counters

{table("name | meaning", down["counters"])}

## Upstream: drop reasons

Four kinds of things are counted, and each kind adds up by itself ([upstream](upstream.md)).

{upstream_drops(up)}

## Upstream: counters

{table("name | meaning", up["counters"])}

## Shared ports: drop reasons

Of a port that service groups share ([sharing](sharing.md)), before a packet is one of theirs.

{table("name | meaning", drops_of(port, *UNITS))}

## Shared ports: counters

{table("name | meaning", port["counters"])}

{identities_part()}"""
