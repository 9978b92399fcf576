# SPDX-License-Identifier: BSD-3-Clause
"""What Kubernetes needs of a node for pods with cores, huge pages and functions of their own."""

from collections.abc import Iterator

import yaml

from host.prepare.fact import BETTER, MISSING, OK, PLAN, Machines, Row
from vcmts.jsons import Json
from vcmts.layout.machine import written
from vcmts.system.cpu_list import cpus_or_none
from vcmts.system.files import Files

PLACES = (  # where kubeadm, and some distributions, have its configuration
    "var/lib/kubelet/config.yaml",
    "etc/kubernetes/kubelet/kubelet-config.json",
    "etc/kubernetes/kubelet-config.yaml",
    "etc/kubernetes/kubelet.conf",
)
FLAGS = {  # that override the file
    "cpu-manager-policy": "cpuManagerPolicy",
    "topology-manager-policy": "topologyManagerPolicy",
    "memory-manager-policy": "memoryManagerPolicy",
    "reserved-cpus": "reservedSystemCPUs",
}
PLUGINS = "var/lib/kubelet/device-plugins"
MOST_TEXT = 1 << 20
ALIGNED = ("single-numa-node", "restricted")


def flags_of(files: Files) -> dict[str, str]:
    """Of a kubelet that runs; --name=value, or --name value."""
    for process in files.names("proc", r"[0-9]+"):
        if files.text(f"proc/{process}/comm") != "kubelet":
            continue
        words = files.text(f"proc/{process}/cmdline").split("\0")
        found = {}
        for word, after in zip(words, [*words[1:], ""], strict=True):
            name, equals, value = word.removeprefix("--").partition("=")
            if word.startswith("--"):
                found[name] = value if equals else after
        return found
    return {}


def document(files: Files, name: str) -> Json:
    text = files.text(name)
    if not text or len(text) > MOST_TEXT:
        return {}
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    right = isinstance(found, dict) and found.get("kind") == "KubeletConfiguration"
    return found if right else {}


def configuration(files: Files) -> tuple[str, Json]:
    """Its file, and what it comes to with drop-ins and flags; "" where none can be read."""
    flags = flags_of(files)
    places = [flags["config"]] if flags.get("config") else list(PLACES)
    place = next((name for name in places if document(files, name)), "")
    found = document(files, place) if place else {}
    folder = flags.get("config-dir", "")
    for name in sorted(files.names(folder, r".*\.conf")) if folder else ():
        found = {**found, **document(files, f"{folder}/{name}")}
    found |= {key: flags[name] for name, key in FLAGS.items() if flags.get(name)}
    return place or ("its arguments" if found else ""), found


def cpu_manager(found: Json) -> Iterator[Row]:
    policy = str(found.get("cpuManagerPolicy", "none"))
    options = found.get("cpuManagerPolicyOptions")
    whole = isinstance(options, dict) and str(options.get("full-pcpus-only")).lower() == "true"
    if policy != "static":
        yield Row(
            "CPU manager",
            f"policy {policy}: pods have no cores of their own",
            MISSING,
            "cpuManagerPolicy: static, and reservedSystemCPUs; then drain the node, take "
            "/var/lib/kubelet/cpu_manager_state away, and start the kubelet anew",
        )
    else:
        todo = "" if whole else "cpuManagerPolicyOptions: {full-pcpus-only: 'true'}"
        text = f"static, {'whole cores' if whole else 'siblings may go to different pods'}"
        yield Row("CPU manager", text, OK if whole else BETTER, todo)


def reserved(m: Machines, found: Json) -> Iterator[Row]:
    cores = set(cpus_or_none(str(found.get("reservedSystemCPUs", ""))))
    isolated = m.machine.isolated()
    rest = written(sorted(m.machine.online - isolated))
    todo = f"reservedSystemCPUs: {rest}" if isolated else "some cores by reservedSystemCPUs"
    if not cores:
        yield Row("reserved cores", "none by their numbers", BETTER, todo)
    elif cores & isolated:
        text = (
            f"{written(sorted(cores))}, of which {written(sorted(cores & isolated))} are isolated"
        )
        yield Row("reserved cores", text, BETTER, todo)
    else:
        pods = m.machine.online - cores - isolated
        text = f"{written(sorted(cores))}"
        text += (
            f"; pods also get {written(sorted(pods))}, not isolated" if isolated and pods else ""
        )
        yield Row("reserved cores", text)


def topology(m: Machines, found: Json) -> Iterator[Row]:
    nodes = len({core.node for core in m.machine.cores.values()} - {None})
    policy = str(found.get("topologyManagerPolicy", "none"))
    bad = policy not in ALIGNED and nodes > 1
    todo = "topologyManagerPolicy: single-numa-node" if bad else ""
    text = f"policy {policy}, {nodes or 1} NUMA node{'s' * (nodes > 1)}"
    yield Row("topology manager", text, BETTER if bad else OK, todo)
    static = str(found.get("memoryManagerPolicy", "None")).lower() == "static"
    bad = nodes > 1 and not static
    todo = "memoryManagerPolicy: Static, with reservedMemory for each node" if bad else ""
    text = "static" if static else "none: huge pages may be another node's"
    yield Row("memory manager", text, BETTER if bad else OK, todo)


def pages(m: Machines) -> Iterator[Row]:
    pools = m.facts["memory"]["huge_page_pools"]
    there = [p for p in pools if isinstance(p["total"], int)] if isinstance(pools, list) else []
    listed = [
        f"hugepages-{p['size_kb'] >> 20}Gi: {p['total']}Gi"
        if p["size_kb"] >= 1 << 20
        else f"hugepages-{p['size_kb'] >> 10}Mi: {p['total'] * p['size_kb'] >> 10}Mi"
        for p in there
        if p["total"]
    ]
    todo = "" if listed else f"{PLAN}; a kubelet that runs counts them at its start only"
    text = f"{', '.join(listed)}, where they were there when the kubelet was started"
    yield Row("allocatable", text if listed else "no huge pages", OK if listed else MISSING, todo)


def plugins(files: Files) -> Iterator[Row]:
    found = files.names(PLUGINS, r".*\.sock")
    others = [name for name in found if name != "kubelet.sock"]
    if not found:
        yield Row("device plugins", f"/{PLUGINS}: nothing is there that we may see")
    else:
        todo = (
            "" if others else "the SR-IOV network device plugin: plan --kubernetes writes its map"
        )
        text = ", ".join(others) or "none has registered"
        yield Row("device plugins", text, OK if others else BETTER, todo)
    networks = files.names("etc/cni/net.d", r".*\.conf(list)?")
    multus = any("multus" in name for name in networks)
    text = ", ".join(networks) or "none that we may see"
    more = "" if multus else "; without Multus pods have the cluster's network alone, and memif"
    yield Row("CNI", text + more)


def groups(files: Files) -> Iterator[Row]:
    listed = files.text("sys/fs/cgroup/cgroup.controllers").split()
    lacking = [name for name in ("cpuset", "hugetlb") if listed and name not in listed]
    text = "version 2" if listed else "version 1, or not seen"
    text += f", without {', '.join(lacking)}" if lacking else ""
    todo = "a kernel with these controllers" if lacking else ""
    yield Row("control groups", text, MISSING if lacking else OK, todo)


def rows(m: Machines) -> Iterator[Row]:
    place, found = configuration(m.files)
    if place:
        yield Row("kubelet", f"configured by /{place.lstrip('/')}")
        yield from cpu_manager(found)
        yield from reserved(m, found)
        yield from topology(m, found)
    else:
        yield Row(
            "kubelet",
            "no configuration that we may read",
            MISSING,
            "call it on a node, as root; where it is kept elsewhere: kubectl get --raw "
            "/api/v1/nodes/NODE/proxy/configz",
        )
    yield from pages(m)
    yield from plugins(m.files)
    yield from groups(m.files)
