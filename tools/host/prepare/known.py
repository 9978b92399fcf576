# SPDX-License-Identifier: BSD-3-Clause
"""Which steps there are: a journal is data from a file too, and what it says is made again reaches
no further than what a plan changes."""

import re

import jsonschema

from host.prepare import texts
from host.prepare.cards import ADDRESS, DEVICES, VFIO
from host.prepare.journal import Entry
from host.prepare.plan import CMDLINE, NO_IOMMU, SIZES_KB
from host.prepare.steps import REFRESHED_BY, Step
from host.prepare.stored import record, text, whole
from host.prepare.system import StepError
from vcmts.jsons import Json

PAGES = (
    r"sys/(?:kernel/mm|devices/system/node/node[0-9]+)/hugepages/"
    rf"hugepages-(?:{'|'.join(map(str, SIZES_KB))})kB/nr_hugepages"
)
FLAG = {"type": "boolean"}
WORD = {"type": "string"}
FILE = {
    "anyOf": [
        {"type": "null"},
        record(link=WORD),
        {
            **record(text=WORD, mode=whole(0, 0o7777)),
            "properties": {
                "text": WORD,
                "mode": whole(0, 0o7777),
                "owner": {"type": "array", "items": whole(0, 1 << 32), "minItems": 2},
            },
        },
    ]
}
PLACES = {
    "file": "|".join(name.replace(".", r"\.") for name in (*texts.NAMES, CMDLINE)),
    "value": rf"{PAGES}|{DEVICES}/{ADDRESS}/sriov_drivers_autoprobe|{NO_IOMMU}",
    "options": "kernelstub",
    "functions": ADDRESS,
    "interface": ADDRESS,
    "function": rf"{ADDRESS}/[0-9]{{1,4}}",
    "binding": rf"{ADDRESS}(?:/[0-9]{{1,4}})?",
    "module": VFIO,
}
STATES: Json = {
    "file": FILE,
    "value": WORD,
    "options": {"type": "object", "additionalProperties": FLAG},
    "functions": whole(0, 1024),
    "interface": record(mtu=whole(0, 1 << 20), up=FLAG, ipv6=FLAG),
    "function": record(mac=WORD, vlan=whole(0, 4095), check=FLAG, trust=FLAG),
    "binding": record(override=WORD, driver=text(r"[\w.-]{0,64}")),
    "module": FLAG,
}


def known(step: Step, entry: Entry) -> None:
    """Raises StepError: the journal has what no plan makes."""
    if step.kind not in PLACES:
        raise StepError(f"the journal has a step of a kind that is none: {step.kind}")
    state = jsonschema.Draft202012Validator(STATES[step.kind])
    above = [step.target.rpartition("/")[0]]
    while "/" in above[-1]:
        above.append(above[-1].rpartition("/")[0])
    right = re.fullmatch(PLACES[step.kind], step.target) and state.is_valid(entry.before)
    right = right and state.is_valid(step.wanted) and isinstance(step.what, str)
    right = right and step.refresh in ("", *REFRESHED_BY) and isinstance(step.made, bool)
    if not right or not set(entry.made) <= set(above):
        raise StepError(f"the journal has a step that no plan has: {step.kind} {step.target}")
