# SPDX-License-Identifier: BSD-3-Clause
"""--grants scheduled: adds an upstream scheduler, and formats the results of grants."""

from pathlib import Path

import yaml

from vcmts import yamls
from vcmts.jsons import Json

# Long timers: a late MAP must delay packets, not lose them, even if the kernel takes cores away.
TIMERS = {"frame_timeout": "30 s", "reorder_timeout": "100 ms"}
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def find_value(node: yaml.MappingNode, name: str) -> yaml.Node | None:
    return next((value for key, value in node.value if key.value == name), None)


def add_key(node: yaml.MappingNode, name: str, value: yaml.Node) -> None:
    node.value.append((yaml.ScalarNode("tag:yaml.org,2002:str", name), value))


def empty() -> yaml.MappingNode:
    return yaml.MappingNode("tag:yaml.org,2002:map", [], flow_style=True)


def add_scheduler(group: yaml.MappingNode) -> bool:
    """Adds an upstream scheduler with default settings to a group. Returns whether it had none."""
    upstream = find_value(group, "upstream")
    if upstream is None:
        upstream = empty()
        add_key(group, "upstream", upstream)
    if not isinstance(upstream, yaml.MappingNode) or find_value(upstream, "scheduler") is not None:
        return False
    add_key(upstream, "scheduler", empty())
    for name, value in TIMERS.items():
        if find_value(upstream, name) is None:
            add_key(upstream, name, yaml.ScalarNode("tag:yaml.org,2002:str", value))
    return True


def groups_of(root: yaml.MappingNode) -> list[yaml.MappingNode]:
    """The service groups of a server's file; the root if the file is one group."""
    several = find_value(root, "service_groups")
    nodes = several.value if isinstance(several, yaml.SequenceNode) else [root]
    return [node for node in nodes if isinstance(node, yaml.MappingNode)]


def with_scheduler(config: Path, folder: Path) -> Path:
    """The configuration, or a copy in `folder` in which all groups have a scheduler."""
    try:
        root = yaml.compose(config.read_text(encoding="utf-8-sig"), Loader=yamls.LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return config
    if not isinstance(root, yaml.MappingNode):
        return config
    if not any([add_scheduler(group) for group in groups_of(root)]):
        return config
    written = folder / "scheduled.yaml"
    written.write_text(yaml.serialize(root, Dumper=DUMPER, width=10000), encoding="utf-8")
    return written


def percent_text(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def use_text(channel: Json) -> str:
    """A line with the use of a channel's minislots by kind."""
    minislots: dict[str, int] = channel["minislots"]
    whole = sum(minislots.values())
    texts = (f"{kind} {percent_text(count, whole)}" for kind, count in minislots.items() if count)
    return f"upstream channel {channel['id']}: {', '.join(texts)}"


def result_lines(upstream: Json) -> list[str]:
    """Lines with the results of requests, MAPs and grants."""
    grants: Json = upstream["grants"]
    requests, maps, granted = grants["requests"], grants["maps"], grants["bytes"]
    texts = [
        f"requests of modems: {requests['contention']:,} in contention, {requests['piggyback']:,} "
        f"piggybacked, {requests['poll']:,} polled; {requests['collisions']:,} collisions, "
        f"{requests['unanswered']:,} repeated",
        f"MAPs: {maps['seen']:,} received, {maps['late']:,} late; of the granted bytes "
        f"{percent_text(granted['used'], granted['granted'])} used, "
        f"{percent_text(granted['late'], granted['granted'])} late",
    ]
    latency = upstream.get("latency_us")
    if latency:
        texts.append(
            "latency from the modem's queue to the network: "
            f"{latency['p50'] / 1000:.1f} ms p50, {latency['p99'] / 1000:.1f} ms p99"
        )
    texts += [use_text(channel) for channel in grants["channels"]]
    packets = grants["packets"]
    left = {
        "dropped at full queues": packets["queue_full"],
        "given up": packets["given_up"],
        "still waiting": packets["waiting"],
    }
    if any(left.values()):
        texts.append(
            "packets not sent: "
            + ", ".join(f"{count:,} {why}" for why, count in left.items() if count)
        )
    return texts
