# SPDX-License-Identifier: BSD-3-Clause
"""Prints the answer of `vcmts size --cloud`, made by cloud.answer(), with its assumptions."""

from rich.console import Console
from rich.table import Table

from planning.size.load import RECEIVER_CYCLES
from vcmts import published
from vcmts.console import print_line
from vcmts.jsons import Json


def fit_table(answer: Json) -> Table:
    """How many service groups an instance of each type carries, with own or shared interfaces.

    The first "bound by" limits the number of groups, the second the Gbps of a group."""
    out = Table(title="service groups of an instance; Gbps both ways")
    several_kinds = len(answer["types"][0]["fits"]) > 2  # a kind has two: own and shared
    for name in ("type", *(["service group"] if several_kinds else []), "interfaces"):
        out.add_column(name, no_wrap=name == "type")
    for name in ("groups", "bound by", "Gbps", "bound by", "in all"):
        out.add_column(name, justify="left" if name == "bound by" else "right")
    for one in answer["types"]:
        for index, found in enumerate(one["fits"]):
            row = [one["type"] if index == 0 else ""]
            row += [found["groups"]] if several_kinds else []
            number, rate = found["per_instance"], found["gbps"]
            group_gbps = rate["downstream"] + rate["upstream"]
            row += [f"{found['ports']}, {found['interfaces']}", str(number)]
            row += [", ".join(found["bound_by"]) or "nothing", f"{group_gbps:.2f}"]
            row += [found["rate_bound_by"], f"{found['instance_gbps']:.1f}"]
            out.add_row(*row)
    return out


def measured_table(rows: list[Json]) -> Table:
    """Published Gbps of instances beside the model's; `groups` 0: of several instances in all."""
    out = Table(title="measured (SCTE 2021) and modelled, Gbps both ways")
    for name in ("type", "groups", "measured", "model", "difference", "bound by"):
        out.add_column(name, justify="left" if name in ("type", "bound by") else "right")
    for row in rows:
        out.add_row(
            row["type"],
            str(row["groups"]) if row["groups"] else "all",
            f"{row['measured']:g}",
            f"{row['model']:.2f}",
            f"{round(row['difference'] * 100):+d} %",
            row["bound_by"],
        )
    return out


def instance_line(one: Json) -> str:
    """The limits of an instance type."""
    burst = f", up to {one['burst']:g} for a while" if one["burst"] else ""
    numa = f", {one['numa']} NUMA nodes" if one["numa"] else ""
    return (
        f"{one['type']}: {one['vcpus']} vCPUs ({one['cores']} cores{numa}), {one['cpu']}, "
        f"{one['clock']:g} GHz, {one['memory']:g} GiB, {one['bandwidth']:g} Gbps each way{burst}, "
        f"{one['interfaces']} interfaces, {one['driver']}"
    )


def assumptions(answer: Json) -> list[str]:
    """The assumptions of the model that this answer depends on, one line each."""
    lines = [
        "two interfaces for each service group (own), or two for all of them (shared), more where "
        "packets ask for it; and one for administration",
        "cores are one pool: how an instance's cores lie on NUMA nodes is mostly not published",
        "bandwidth is that which lasts; packets per second only where they were published (c5n)",
    ]
    if answer["in_cloud"]:
        lines.append("cycles as measured on c5n with net_ena, also with other drivers")
    else:
        more = 100 * published.load().value("cloud.cycles")
        lines.append(
            f"with net_ena {more:.0f} % more cycles than measured, as on c5n; other drivers as "
            "measured"
        )
    arm = [one["type"] for one in answer["types"] if one["arch"] != "amd64"]
    if arm:
        lines.append(
            f"{', '.join(arm)}: arm64, cycles taken as those of the x86-64 that was measured"
        )
    if answer["receiver_cycles"] == RECEIVER_CYCLES:
        lines.append("a receiver's cycles, on shared interfaces, are those of docs/performance.md")
    beyond = [
        f"{one['type']} ({found['ports']})"
        for one in answer["types"]
        for found in one["fits"]
        if found["per_instance"] > found["measured_to"] > 1
    ]
    if beyond:
        lines.append(
            "more service groups at once than were measured, each taken to carry as much as with "
            f"the most that were: {', '.join(beyond)}"
        )
    outside: list[str] = answer["outside"]
    return lines + outside


def show(answer: Json, console: Console) -> None:
    print_line(console, f"{answer['machine']}, set aside by rules {answer['rules']}")
    for one in answer["types"]:
        print_line(console, instance_line(one))
    console.print(fit_table(answer))
    rows = [row for one in answer["types"] for row in one["measured"]]
    if rows:
        console.print(measured_table(rows))
    counted = [
        f"  {found['instances']} x {one['type']} ({found['ports']}) for {found['groups']}"
        for one in answer["types"]
        for found in one["fits"]
        if "instances" in found
    ]
    if counted:
        print_line(console, "instances:")
    for text in counted:
        print_line(console, text)
    print_line(console, "Taken for granted:")
    for text in assumptions(answer):
        print_line(console, f"  - {text}")
