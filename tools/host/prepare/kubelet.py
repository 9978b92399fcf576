# SPDX-License-Identifier: BSD-3-Clause
"""Findings on a Kubernetes node: whether pods get exclusive cores, huge pages and functions."""

from collections.abc import Iterator

import yaml

from host.prepare.fact import BETTER, MISSING, OK, PLAN, Finding, Inspection
from vcmts.jsons import Json
from vcmts.layout.machine import cpu_list
from vcmts.system.cpu_list import cpus_or_none
from vcmts.system.files import Files

PATHS = (  # of the kubelet's configuration with kubeadm and some distributions
    "var/lib/kubelet/config.yaml",
    "etc/kubernetes/kubelet/kubelet-config.json",
    "etc/kubernetes/kubelet-config.yaml",
    "etc/kubernetes/kubelet.conf",
)
FLAGS = {  # arguments of the kubelet that override its file
    "cpu-manager-policy": "cpuManagerPolicy",
    "topology-manager-policy": "topologyManagerPolicy",
    "memory-manager-policy": "memoryManagerPolicy",
    "reserved-cpus": "reservedSystemCPUs",
}
PLUGINS = "var/lib/kubelet/device-plugins"
MAX_TEXT = 1 << 20
ALIGNED = ("single-numa-node", "restricted")


def flags_of(files: Files) -> dict[str, str]:
    """Arguments of the running kubelet: --name=value, or --name value."""
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
    if not text or len(text) > MAX_TEXT:
        return {}
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    right = isinstance(found, dict) and found.get("kind") == "KubeletConfiguration"
    return found if right else {}


def configuration(files: Files) -> tuple[str, Json]:
    """Returns the kubelet's file ("" if none can be read) and its configuration with drop-ins and
    flags."""
    flags = flags_of(files)
    paths = [flags["config"]] if flags.get("config") else list(PATHS)
    path = next((name for name in paths if document(files, name)), "")
    found = document(files, path) if path else {}
    folder = flags.get("config-dir", "")
    for name in sorted(files.names(folder, r".*\.conf")) if folder else ():
        found = {**found, **document(files, f"{folder}/{name}")}
    found |= {key: flags[name] for name, key in FLAGS.items() if flags.get(name)}
    return path or ("its arguments" if found else ""), found


def cpu_manager(found: Json) -> Iterator[Finding]:
    policy = str(found.get("cpuManagerPolicy", "none"))
    options = found.get("cpuManagerPolicyOptions")
    whole = isinstance(options, dict) and str(options.get("full-pcpus-only")).lower() == "true"
    if policy != "static":
        yield Finding(
            "CPU manager",
            f"policy {policy}: pods have no exclusive cores",
            MISSING,
            "set cpuManagerPolicy: static and reservedSystemCPUs; then drain the node, remove "
            "/var/lib/kubelet/cpu_manager_state and restart the kubelet",
        )
    else:
        todo = "" if whole else "cpuManagerPolicyOptions: {full-pcpus-only: 'true'}"
        text = f"static, {'whole cores' if whole else 'SMT siblings may be of different pods'}"
        yield Finding("CPU manager", text, OK if whole else BETTER, todo)


def reserved(m: Inspection, found: Json) -> Iterator[Finding]:
    cores = set(cpus_or_none(str(found.get("reservedSystemCPUs", ""))))
    isolated = m.machine.isolated()
    free = cpu_list(sorted(m.machine.online - isolated))
    todo = f"reservedSystemCPUs: {free}" if isolated else "set some cores in reservedSystemCPUs"
    if not cores:
        yield Finding("reserved cores", "none is listed", BETTER, todo)
    elif cores & isolated:
        text = (
            f"{cpu_list(sorted(cores))}, of which {cpu_list(sorted(cores & isolated))} are isolated"
        )
        yield Finding("reserved cores", text, BETTER, todo)
    else:
        pods = m.machine.online - cores - isolated
        text = f"{cpu_list(sorted(cores))}"
        text += (
            f"; pods also get {cpu_list(sorted(pods))}, not isolated" if isolated and pods else ""
        )
        yield Finding("reserved cores", text)


def topology(m: Inspection, found: Json) -> Iterator[Finding]:
    nodes = len({core.node for core in m.machine.cores.values()} - {None})
    policy = str(found.get("topologyManagerPolicy", "none"))
    bad = policy not in ALIGNED and nodes > 1
    todo = "topologyManagerPolicy: single-numa-node" if bad else ""
    text = f"policy {policy}, {nodes or 1} NUMA node{'s' * (nodes > 1)}"
    yield Finding("topology manager", text, BETTER if bad else OK, todo)
    static = str(found.get("memoryManagerPolicy", "None")).lower() == "static"
    bad = nodes > 1 and not static
    todo = "memoryManagerPolicy: Static, with reservedMemory per NUMA node" if bad else ""
    text = "static" if static else "none: huge pages may be on another NUMA node"
    yield Finding("memory manager", text, BETTER if bad else OK, todo)


def pages(m: Inspection) -> Iterator[Finding]:
    pools = m.facts["memory"]["huge_page_pools"]
    known = [p for p in pools if isinstance(p["total"], int)] if isinstance(pools, list) else []
    listed = [
        f"hugepages-{p['size_kb'] >> 20}Gi: {p['total']}Gi"
        if p["size_kb"] >= 1 << 20
        else f"hugepages-{p['size_kb'] >> 10}Mi: {p['total'] * p['size_kb'] >> 10}Mi"
        for p in known
        if p["total"]
    ]
    todo = "" if listed else f"{PLAN}; then restart the kubelet, which counts pages when it starts"
    text = f"{', '.join(listed)}, if these existed when the kubelet started"
    verdict = OK if listed else MISSING
    yield Finding("allocatable", text if listed else "no huge pages", verdict, todo)


def plugins(files: Files) -> Iterator[Finding]:
    found = files.names(PLUGINS, r".*\.sock")
    others = [name for name in found if name != "kubelet.sock"]
    if not found:
        yield Finding("device plugins", f"/{PLUGINS}: empty or not readable")
    else:
        todo = (
            ""
            if others
            else "run the SR-IOV network device plugin: plan --kubernetes writes its ConfigMap"
        )
        text = ", ".join(others) or "none has registered"
        yield Finding("device plugins", text, OK if others else BETTER, todo)
    networks = files.names("etc/cni/net.d", r".*\.conf(list)?")
    multus = any("multus" in name for name in networks)
    text = ", ".join(networks) or "none that is readable"
    more = "" if multus else "; without Multus, pods have only the cluster network and memif"
    yield Finding("CNI", text + more)


def groups(files: Files) -> Iterator[Finding]:
    listed = files.text("sys/fs/cgroup/cgroup.controllers").split()
    lacking = [name for name in ("cpuset", "hugetlb") if listed and name not in listed]
    text = "version 2" if listed else "version 1, or not readable"
    text += f", without {', '.join(lacking)}" if lacking else ""
    todo = "use a kernel with these controllers" if lacking else ""
    yield Finding("control groups", text, MISSING if lacking else OK, todo)


def findings(m: Inspection) -> Iterator[Finding]:
    path, found = configuration(m.files)
    if path:
        yield Finding("kubelet", f"configured by /{path.lstrip('/')}")
        yield from cpu_manager(found)
        yield from reserved(m, found)
        yield from topology(m, found)
    else:
        yield Finding(
            "kubelet",
            "no readable configuration",
            MISSING,
            "run this on a node, as root; if the file is elsewhere: kubectl get --raw "
            "/api/v1/nodes/NODE/proxy/configz",
        )
    yield from pages(m)
    yield from plugins(m.files)
    yield from groups(m.files)
