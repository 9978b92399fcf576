# SPDX-License-Identifier: BSD-3-Clause
"""What is told of keys that have no counterpart, or another one: once a key, with the places."""

from vcmts.convert.reading import Map

# Keys of a service group that go nowhere, and why.
LEFT_OUT = {
    "service_group_config": "",
    "template_config": "there is no template: the configuration is that of the profile",
    "socket_mem": "a process takes what its huge pages have: hugePages",
    "socket_lim": "a process takes what its huge pages have: hugePages",
    "app_stats": "counters cost nothing that could be saved, and are always there",
    "us_sched_enabled": "there is no upstream scheduler: docs/limits.md",
    "us_sched_id": "there is no upstream scheduler: docs/limits.md",
    "tls_port": "managed over the control socket: kubectl exec POD -- vcmts control",
    "vcmtsd_image": "the image is ours: image.repository",
    "ds_core_type": "cores are those of the CPU manager, a pod's own: cores.layout",
    "ds_core_pool_index": "cores are those of the CPU manager: cores.layout",
}
SOCKET = (
    "the kubelet's topology manager puts cores, pages and devices on one node; "
    "--mode shared makes a pod for each"
)
# Beside topology.
OF_THE_CHART = {
    "serviceAccount": "pods ask nothing of the cluster, so that they need no rights",
    "images": "the image is ours: image.repository",
}
UNKNOWN = "not known"


class Notes:
    def __init__(self) -> None:
        self.found: dict[tuple[str, str], list[str]] = {}

    def tell(self, where: Map, key: str, why: str) -> None:
        """At the line of the key."""
        line = where.lines.get(key, where.line)
        self.found.setdefault((key, why), []).append(f"{where.file}:{line}")

    def leave(self, where: Map, reasons: dict[str, str]) -> None:
        """Of all keys that nobody has read."""
        for key in where.unused():
            why = reasons.get(key, UNKNOWN)
            if why:
                self.tell(where, key, f"left out: {why}")

    def lines(self) -> list[str]:
        return [
            f"{places[0]}: {key}: {why}" + (f" ({len(places)} times)" if len(places) > 1 else "")
            for (key, why), places in self.found.items()
        ]
