# SPDX-License-Identifier: BSD-3-Clause
"""Crypto devices of a server that some of its service groups have, and the others not."""

from collections.abc import Sequence
from dataclasses import dataclass

from vcmts import published
from vcmts.jsons import Json

# What a device does for a service group, and how many Gbps of them, as published.
DOES = {"crc": "2023.qat.device.crc", "cipher": "2023.qat.device"}
WORDS = {"crc": "cipher and CRC", "cipher": "cipher, the CRC stays with the cores"}


@dataclass(frozen=True)
class Devices:
    number: int  # of a server
    does: str  # of DOES

    @property
    def gbps(self) -> float:
        """Downstream, of one."""
        return published.load().value(DOES[self.does])

    def each(self, rate: float) -> int:
        """How many service groups of this rate downstream one device carries."""
        return int(self.gbps / rate + 1e-9)

    def carry(self, counts: Sequence[int], rates: Sequence[float]) -> tuple[int, ...]:
        """Of so many service groups of each kind, how many have a device: a group has one, and the
        kinds take them in their order."""
        left = [self.gbps] * self.number
        carried = []
        for count, rate in zip(counts, rates, strict=True):
            number = 0
            for place, gbps in enumerate(left):
                taken = min(count - number, int(gbps / rate + 1e-9))
                left[place] -= taken * rate
                number += taken
            carried.append(number)
        return tuple(carried)

    def as_json(self, count: int, rate: float) -> Json:
        """What becomes of so many service groups of one kind."""
        [carried] = self.carry([count], [rate])
        return {
            "devices": self.number,
            "does": self.does,
            "gbps": self.gbps,
            "groups_a_device": self.each(rate),
            "groups": carried,
            "software": count - carried,
        }


def step(found: Json, rate: float) -> str:
    whole = found["groups"] + found["software"]
    return (
        f"crypto devices: {found['gbps']:g} Gbps each ({WORDS[found['does']]}), so "
        f"{found['groups_a_device']} service groups of {rate:.2f} Gbps: {found['devices']} carry "
        f"{found['groups']} of {whole}, {found['software']} stay with software"
    )
