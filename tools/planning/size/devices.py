# SPDX-License-Identifier: BSD-3-Clause
"""Distributes the crypto devices of a server to its service groups; the other groups use
software."""

from collections.abc import Sequence
from dataclasses import dataclass

from vcmts import published
from vcmts.jsons import Json

# Work of a device, and the published figure of its Gbps.
DOES = {"crc": "2023.qat.device.crc", "cipher": "2023.qat.device"}
WORDS = {"crc": "cipher and CRC", "cipher": "cipher, the CRC stays with the cores"}


@dataclass(frozen=True)
class Devices:
    number: int  # per server
    does: str  # a key of DOES

    @property
    def gbps(self) -> float:
        """Downstream Gbps per device."""
        return published.load().value(DOES[self.does])

    def groups_per_device(self, rate: float) -> int:
        """The number of service groups with this downstream rate that a device carries."""
        return int(self.gbps / rate + 1e-9)

    def assign(self, counts: Sequence[int], rates: Sequence[float]) -> tuple[int, ...]:
        """How many groups of each kind get a device. Kinds are served in order; a group uses one
        device."""
        left = [self.gbps] * self.number
        carried = []
        for count, rate in zip(counts, rates, strict=True):
            number = 0
            for index, gbps in enumerate(left):
                added = min(count - number, int(gbps / rate + 1e-9))
                left[index] -= added * rate
                number += added
            carried.append(number)
        return tuple(carried)

    def as_json(self, count: int, rate: float) -> Json:
        """The assignment of `count` service groups of one kind, as JSON."""
        [carried] = self.assign([count], [rate])
        return {
            "devices": self.number,
            "does": self.does,
            "gbps": self.gbps,
            "groups_a_device": self.groups_per_device(rate),
            "groups": carried,
            "software": count - carried,
        }


def step(found: Json, rate: float) -> str:
    total = found["groups"] + found["software"]
    return (
        f"crypto devices: {found['gbps']:g} Gbps each ({WORDS[found['does']]}), so "
        f"{found['groups_a_device']} service groups of {rate:.2f} Gbps: {found['devices']} carry "
        f"{found['groups']} of {total}, {found['software']} stay with software"
    )
