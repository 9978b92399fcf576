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
        when = "always" if identity.always else "complete run"
        if identity.unless:
            when += f", `{identity.unless}` = 0"
        shown = re.sub(r"[.\w]+", r"`\g<0>`", identity.text)
        rows.append((shown, when))
    return "\n".join(configdoc.table("identity | checked", rows))


def identities_part() -> str:
    return f"""## Identities

At its end, `./vcmts run` compares these sums, those of each service group and those of all groups
together. It fails if two of them differ. *Complete run* means:

- vcmtsd dropped only the packets that it must drop, and sent no MAPs and UCDs.
- No packet was lost, corrupted or duplicated, and the configuration did not change.

| name | value |
| --- | --- |
| `name` | the counter of vcmtsd above |
| `.name`, `.part.name` | the counter of the traffic program ([results](results.md)) |
| `channels.name` | sum over the channels of the downstream scheduler |
| `by_kind`, `by_modem`, `of_left` | bandwidth requests of all kinds, all modems, removed modems |
| `records`, `in_bursts` | bandwidth requests in request records, and all others |
| `drop.name` | drops for the reason `name` |
| `refused_name` | `name` of packets that vcmtsd [must drop](traffic.md#what-has-to-be-dropped) |
| `refused_at_port_name` | `name` of those that a shared port must drop |

Sums of bytes may differ by the VLAN tags, 4 bytes per frame.

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

This page defines all drop reasons and counters of vcmtsd. The names are keys of
[results](results.md) and of [`counters.get`](control.md#countersget). [Metrics](metrics.md) have
names of their own.

Each dropped packet counts under exactly one drop reason. Whenever the workers are between two
rounds, the received packets are the sum of those transmitted, dropped and pending. Reasons and
counters are defined in `src/pipeline/downstream.def`, `upstream.def` and `sharing.def`.

## Downstream: drop reasons

All of them count packets.

{table("name | meaning", drops_of(down, *UNITS))}

## Downstream: counters

{table("name | meaning", down["counters"])}

## Upstream: drop reasons

The upstream counts four [units](upstream.md#units). This sum applies to each of them.

{upstream_drops(up)}

## Upstream: counters

{table("name | meaning", up["counters"])}

## Shared ports: drop reasons

These count packets that a [shared port](sharing.md) drops, outside of the groups' pipelines.

{table("name | meaning", drops_of(port, *UNITS))}

## Shared ports: counters

{table("name | meaning", port["counters"])}

{identities_part()}"""
