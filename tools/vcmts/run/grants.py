# SPDX-License-Identifier: BSD-3-Clause
"""Modems that wait for their grants: what the configuration needs for it, and what came of it."""

from pathlib import Path

import yaml

from vcmts import yamls
from vcmts.jsons import Json

# Late MAPs must cost time and no packets: what has begun waits for its next grant, however late,
# also where others take the cores away.
PATIENCE = {"frame_timeout": "30 s", "reorder_timeout": "100 ms"}
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def key_of(node: yaml.MappingNode, name: str) -> yaml.Node | None:
    return next((value for key, value in node.value if key.value == name), None)


def put(node: yaml.MappingNode, name: str, value: yaml.Node) -> None:
    node.value.append((yaml.ScalarNode("tag:yaml.org,2002:str", name), value))


def empty() -> yaml.MappingNode:
    return yaml.MappingNode("tag:yaml.org,2002:map", [], flow_style=True)


def add_scheduler(group: yaml.MappingNode) -> bool:
    """Gives a service group an upstream scheduler of defaults. Returns whether it had none."""
    upstream = key_of(group, "upstream")
    if upstream is None:
        upstream = empty()
        put(group, "upstream", upstream)
    if not isinstance(upstream, yaml.MappingNode) or key_of(upstream, "scheduler") is not None:
        return False
    put(upstream, "scheduler", empty())
    for name, value in PATIENCE.items():
        if key_of(upstream, name) is None:
            put(upstream, name, yaml.ScalarNode("tag:yaml.org,2002:str", value))
    return True


def groups_of(root: yaml.MappingNode) -> list[yaml.MappingNode]:
    """Those of a server's file, or the one that the file is."""
    several = key_of(root, "service_groups")
    nodes = several.value if isinstance(several, yaml.SequenceNode) else [root]
    return [node for node in nodes if isinstance(node, yaml.MappingNode)]


def scheduled(config: Path, within: Path) -> Path:
    """The configuration, or a copy of it in the folder `within` where all groups have an upstream
    scheduler. Scalars stay as they are written. What is none is for vcmtsd to refuse."""
    try:
        root = yaml.compose(config.read_text(encoding="utf-8-sig"), Loader=yamls.LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return config
    if not isinstance(root, yaml.MappingNode):
        return config
    if not any([add_scheduler(group) for group in groups_of(root)]):
        return config
    written = within / "scheduled.yaml"
    written.write_text(yaml.serialize(root, Dumper=DUMPER, width=10000), encoding="utf-8")
    return written


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def use_of(channel: Json) -> str:
    """Of which kinds a channel's minislots were, in a line."""
    minislots: dict[str, int] = channel["minislots"]
    whole = sum(minislots.values())
    told = (f"{kind} {share(count, whole)}" for kind, count in minislots.items() if count)
    return f"upstream channel {channel['id']}: {', '.join(told)}"


def lines(upstream: Json) -> list[str]:
    """What became of requests, MAPs and grants."""
    grants: Json = upstream["grants"]
    asked, maps, granted = grants["requests"], grants["maps"], grants["bytes"]
    told = [
        f"requests of modems: {asked['contention']:,} in contention, {asked['piggyback']:,} "
        f"piggybacked, {asked['poll']:,} polled; {asked['collisions']:,} collisions, "
        f"{asked['unanswered']:,} repeated",
        f"MAPs: {maps['seen']:,} seen, {maps['late']:,} late; of the bytes granted "
        f"{share(granted['used'], granted['granted'])} used, "
        f"{share(granted['late'], granted['granted'])} late",
    ]
    latency = upstream.get("latency_us")
    if latency:
        told.append(
            "latency from the modem's queue to the network: "
            f"{latency['p50'] / 1000:.1f} ms p50, {latency['p99'] / 1000:.1f} ms p99"
        )
    told += [use_of(channel) for channel in grants["channels"]]
    packets = grants["packets"]
    left = {
        "found full queues": packets["queue_full"],
        "were given up": packets["given_up"],
        "still wait": packets["waiting"],
    }
    if any(left.values()):
        told.append(
            "packets that were not sent: "
            + ", ".join(f"{count:,} {why}" for why, count in left.items() if count)
        )
    return told
