# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that differ between the service groups of a server: sessions, addresses, keys.

The first group has the same numbers as a file with one group.
"""

import hashlib
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from vcmts.paths import MistakeError
from vcmts.profile.size import Sizes

MOST_GROUPS = 64
MODEM_NETWORK = IPv4Network("10.0.0.0/8")
SESSIONS = 1 << 20  # session IDs per group, of all kinds


@dataclass(frozen=True)
class Numbers:
    group: int = 1  # from 1

    @property
    def before(self) -> int:
        return self.group - 1

    def session(self, first: int) -> int:
        """The group's session ID for the one that is `first` in the first group."""
        return first + SESSIONS * self.before

    def modem_mac(self, modem: int) -> str:
        low = f"{modem >> 16:02x}:{modem >> 8 & 255:02x}:{modem & 255:02x}"
        return f"02:01:{self.before:02x}:{low}"

    def ipv4(self, modem: int, modems: int, sizes: Sizes) -> IPv4Address:
        """The network address of a modem (from 1); `modems` per group."""
        return MODEM_NETWORK[sizes.ipv4_block * (modems * self.before + modem - 1)]

    def ipv6(self, modem: int) -> str:
        """The first 64 bits of a modem's addresses."""
        return f"2001:db8:{self.before:x}:{modem:x}"

    def key(self, said: int, kind: str = "test key") -> str:
        """64 hex digits for a key, a vector or both; they depend on SAID and group."""
        group = "" if self.group == 1 else f"{self.group}/"
        return hashlib.sha256(f"OpenVCMTS {kind} {group}{said}".encode()).hexdigest()

    def mac(self, host: int) -> str:
        """MAC address on the R-PHY network: host 1 is the core, host 2 the R-PHY device."""
        return f"02:00:00:00:{self.before:02x}:{host:02x}"

    def ip(self, host: int) -> str:
        return f"192.168.{self.group}.{host}"


FIRST_GROUP = Numbers()


def check_addresses(groups: int, modems: int, sizes: Sizes, option: str) -> None:
    """Raises MistakeError, naming `option`, if MODEM_NETWORK has too few IPv4 addresses."""
    most = MODEM_NETWORK.num_addresses // (sizes.ipv4_block * modems)
    if groups > most:
        raise MistakeError(
            f"{option}: found {groups} of {modems} modems with {sizes.ipv4_block} IPv4 addresses "
            f"each, allowed: {most}, limited by {MODEM_NETWORK}; use fewer modems or addresses"
        )
