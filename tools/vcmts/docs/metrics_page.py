# SPDX-License-Identifier: BSD-3-Clause
"""Generates the page on metrics from `vcmtsd describe`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from vcmts.docs.configdoc import table
from vcmts.jsons import Json

REST = "The process"
# Headings with prefixes of names. A metric belongs to the first match, else to REST.
SUBJECTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Service groups", ("vcmts_service_group_", "vcmts_key_rolls_")),
    (
        "Downstream channels and bonding groups",
        ("vcmts_downstream_channel_", "vcmts_downstream_bonding_group_"),
    ),
    ("Downstream", ("vcmts_downstream_",)),
    ("Upstream", ("vcmts_upstream_", "vcmts_requests_")),
    ("Stages, polls and lookups", ("vcmts_stage_", "vcmts_polls_", "vcmts_look")),
    ("Delay and latency", ("vcmts_pipeline_", "vcmts_scheduler_")),
    ("Workers", ("vcmts_worker_",)),
    ("Ports", ("vcmts_port_", "vcmts_ethdev_")),
    (REST, ()),
    ("The metrics endpoint", ("vcmts_http_",)),
    ("Modems", ("vcmts_modem_",)),
    ("Service flows", ("vcmts_flow_",)),
)
ON_REQUEST = {
    "modems": "Only if the request selects modems: one modem, or those of a service group.",
    "flows": "Only if the request selects service flows: those of one modem or service group.",
}

HEAD = Path(__file__).with_name("metrics.md.in")


def find_subject(name: str) -> str:
    """The heading of a metric."""
    return next((subject for subject, words in SUBJECTS if name.startswith(words)), REST)


def row(metric: Json) -> tuple[str, ...]:
    labels = ", ".join(f"`{label}`" for label in metric["labels"])
    return (f"`{metric['name']}`", metric["type"], metric["unit"], labels, metric["help"])


def section(subject: str, metrics: Sequence[Json]) -> Iterator[str]:
    yield f"\n## {subject}\n"
    for wanted in sorted({metric["wanted"] for metric in metrics} & ON_REQUEST.keys()):
        yield f"{ON_REQUEST[wanted]}\n"
    yield from table("name | type | unit | labels | meaning", map(row, metrics))


def render(metrics: Sequence[Json]) -> str:
    """The page: metrics by heading, in the order of the registry."""
    parts: dict[str, list[Json]] = {subject: [] for subject, _ in SUBJECTS}
    for metric in metrics:
        parts[find_subject(metric["name"])].append(metric)
    lines = [HEAD.read_text(encoding="utf-8").rstrip()]
    for subject, found in parts.items():
        if found:
            lines += section(subject, found)
    return "\n".join(lines) + "\n"
