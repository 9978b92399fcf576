# SPDX-License-Identifier: BSD-3-Clause
"""make docs: pages that are written from what the data plane itself says."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from vcmts import published
from vcmts.docs import (
    chart_values,
    configdoc,
    control_page,
    metrics_page,
    picture,
    published_page,
)
from vcmts.paths import CHECKOUT, MistakeError, complain, program
from vcmts.run import identities

UNITS = ("packets", "bursts", "segments", "frames")  # in the order in which the upstream has them


def said(*command: str) -> str:
    """What a built program prints."""
    ended = subprocess.run(
        [program(command[0]), *command[1:]], check=False, stdout=subprocess.PIPE, text=True
    )
    if ended.returncode != 0:
        raise MistakeError(f"`{' '.join(command)}` ended with {ended.returncode}")
    return ended.stdout


def stage_row(row: dict[str, Any]) -> picture.Stage:
    return picture.Stage(
        name=row["name"],
        about=row["about"],
        dpdk=row["dpdk"],
        source=row.get("from", ""),
        gives=row.get("gives", ""),
        also=tuple(row.get("also", ())),
    )


def stage_lists(direction: dict[str, Any]) -> list[picture.StageList]:
    return [
        picture.StageList(
            entry["name"],
            [stage_row(row) for row in entry["stages"]],
            {queue["name"]: queue["about"] for queue in entry["queues"]},
        )
        for entry in direction["lists"]
    ]


def table(head: str, names: dict[str, str]) -> str:
    rows = [
        f"| `{name}` | {meaning.replace('|', chr(92) + '|')} |" for name, meaning in names.items()
    ]
    return "\n".join([f"| {head} | meaning |", "| --- | --- |", *rows])


def drops_of(direction: dict[str, Any], *units: str) -> dict[str, str]:
    """Meanings by name."""
    drops: dict[str, dict[str, str]] = direction["drops"]
    return {name: drop["meaning"] for name, drop in drops.items() if drop["unit"] in units}


def upstream_drops(upstream: dict[str, Any]) -> str:
    return "\n\n".join(table(unit, drops_of(upstream, unit)) for unit in UNITS)


def identity_rows(direction: str) -> str:
    """Of counters, as the page has them."""
    lines = []
    for identity in identities.IDENTITIES[direction]:
        when = "always" if identity.always else "nothing dropped"
        if identity.unless:
            when += f", `{identity.unless}` = 0"
        shown = re.sub(r"[.\w]+", r"`\g<0>`", identity.text)
        lines.append(f"| {shown} | {when} |")
    return "\n".join(["| identity | judged where |", "| --- | --- |", *lines])


def alone_rows() -> str:
    rows = [f"| `{name}` | {why} |" for name, why in identities.ALONE.items()]
    return "\n".join(["| counter | why |", "| --- | --- |", *rows])


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

{alone_rows()}
"""


def counters_page(description: dict[str, Any]) -> str:
    down, up = description["downstream"], description["upstream"]
    port = description["shared_port"]
    return f"""<!-- {picture.LICENCE} -->
<!-- Written by `make docs` -->
# Counters

Everything is accounted for: what came in = what went out + the sum of the drops + what is held,
in each direction, whenever the workers are quiet. What goes no further is counted under exactly one
drop reason. They and the other counters stand with the stages, in `src/pipeline/downstream.def`,
`upstream.def` and `sharing.def`.

## Downstream: drop reasons

Each counts packets.

{table("name", drops_of(down, *UNITS))}

## Downstream: counters

{table("name", down["counters"])}

## Upstream: drop reasons

Four kinds of things are counted, and each kind adds up by itself ([upstream](upstream.md)).

{upstream_drops(up)}

## Upstream: counters

{table("name", up["counters"])}

## Shared ports: drop reasons

Of a port that service groups share ([sharing](sharing.md)), before a packet is one of theirs.

{table("name", drops_of(port, *UNITS))}

## Shared ports: counters

{table("name", port["counters"])}

{identities_part()}"""


def pages() -> dict[Path, str]:
    """Every generated page, by its place in the checkout."""
    description = json.loads(said("vcmtsd", "describe"))
    schema = said("vcmtsd", "schema")
    methods = json.loads(said("vcmtsd", "describe", "--rpc"))
    return {
        **chart_values.pages(json.loads(schema)),
        Path("config/schema.json"): schema,
        Path("docs/configuration.md"): configdoc.render(json.loads(schema)),
        Path("docs/pipeline.svg"): picture.draw(stage_lists(description["downstream"])),
        Path("docs/pipeline-upstream.svg"): picture.draw(stage_lists(description["upstream"])),
        Path("docs/control.md"): control_page.render(methods),
        Path("docs/counters.md"): counters_page(description),
        Path("docs/metrics.md"): metrics_page.render(description["metrics"]),
        Path("docs/published.md"): published_page.render(published.load()),
    }


def update(root: Path, content: dict[Path, str], check: bool) -> list[Path]:
    """Writes the pages that differ, or only names them when `check`. Returns these."""
    stale = []
    for place, text in content.items():
        path = root / place
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(place)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    return stale


def main() -> int:
    parser = argparse.ArgumentParser(prog="devtools/docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when out of date")
    check: bool = parser.parse_args().check
    try:
        stale = update(CHECKOUT, pages(), check)
    except MistakeError as mistake:
        complain(str(mistake))
        return 2
    for place in stale:
        print(f"{place}: {'out of date, run `make docs`' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
