# SPDX-License-Identifier: BSD-3-Clause
"""Kubernetes files of a plan: pools of the SR-IOV network device plugin, and kubelet settings."""

import json

from host.prepare.cards import VFIO
from host.prepare.plan import Function, Plan, PlannedCard
from vcmts.jsons import Json
from vcmts.layout.machine import cpu_list

FOLDER = "kubernetes"
MAP = f"{FOLDER}/sriov-device-plugin.yaml"
KUBELET = f"{FOLDER}/kubelet.yaml"
NAMES = (MAP, KUBELET)
PREFIX = "intel.com"
HEAD = "# Written by `vcmts host plan --kubernetes`"
CONFIG_MAP = """{head}: pools of the planned functions of this node.
apiVersion: v1
kind: ConfigMap
metadata:
  name: sriovdp-config
  namespace: kube-system
data:
  config.json: |
{config}
"""
CONFIGURATION = """{head}: to be merged into the configuration of this node's kubelet.
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cpuManagerPolicy: static
cpuManagerPolicyOptions:
  full-pcpus-only: "true"
topologyManagerPolicy: single-numa-node
"""


def name_of(plan: Plan, one: Function) -> str:
    """The pool of a function. Functions of different groups differ in MAC address and VLAN, so
    each has a pool of its own."""
    if one.groups == plan.groups:
        return f"vcmts_{one.role}"
    return f"vcmts_{one.role}_sg{'_'.join(map(str, one.groups))}"


def variable(name: str) -> str:
    """The environment variable that has the PCI addresses assigned to a pod."""
    return f"PCIDEVICE_{PREFIX}_{name}".upper().replace(".", "_")


def pools(plan: Plan) -> dict[str, list[tuple[PlannedCard, Function]]]:
    """The functions of each pool, with their cards, by name of the pool."""
    found: dict[str, list[tuple[PlannedCard, Function]]] = {}
    for card in plan.cards:
        for one in card.functions:
            found.setdefault(name_of(plan, one), []).append((card, one))
    return found


def resources(plan: Plan) -> Json:
    listed = []
    for name, members in sorted(pools(plan).items()):
        # Devices that keep their kernel driver need the verbs device files.
        more = {"drivers": [VFIO]} if members[0][0].bind else {"isRdma": True}
        addresses = [card.port_of(one) for card, one in members]
        selectors = {"pciAddresses": addresses, **more}
        listed.append({"resourceName": name, "resourcePrefix": PREFIX, "selectors": selectors})
    return {"resourceList": listed}


def plan_files(plan: Plan) -> dict[str, str]:
    """Returns file contents by name in the plan's folder."""
    kubelet = CONFIGURATION.format(head=HEAD)
    if plan.isolated:
        others = sorted({core[0] for core in plan.facts.cores} - set(plan.isolated))
        kubelet += f'reservedSystemCPUs: "{cpu_list(others)}"\n'
    found = {KUBELET: kubelet}
    if plan.cards:
        text = json.dumps(resources(plan), indent=2)
        config = "\n".join(f"    {line}" for line in text.splitlines())
        found[MAP] = CONFIG_MAP.format(head=HEAD, config=config)
    return found


def markdown_lines(plan: Plan) -> list[str]:
    lines = ["## Kubernetes", ""]
    for name in sorted(pools(plan)):
        lines.append(f"- {PREFIX}/{name}: in the pod `${{{variable(name)}[0]}}`")
    if not plan.cards:
        lines.append("No card is used, so there is no pool.")
    return [*lines, ""]
