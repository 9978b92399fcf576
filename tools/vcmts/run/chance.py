# SPDX-License-Identifier: BSD-3-Clause
"""Draws the random choices of a run from one seed, which is printed and can be given by --seed."""

from dataclasses import asdict, dataclass
from random import Random

from vcmts.paths import MistakeError

SEED_MAX = 2**32 - 1
NUMBERS = 65_536  # range of the 16-bit sequence numbers of DSIDs and PSP sessions
NEAR = 64  # maximum distance of the first number from the wrap: a flow sends more in some seconds


@dataclass(frozen=True)
class Chance:
    seed: int
    first_number: int  # first sequence number: 0, or close to the wrap

    def plane(self) -> list[str]:
        """Options of vcmtsd."""
        return ["--first-number", str(self.first_number)]

    def document(self) -> dict[str, int]:
        """Keys of the summary."""
        return asdict(self)

    def traffic(self) -> list[str]:
        return ["--seed", str(self.seed), "--first-number", str(self.first_number)]


def draw(seed: int | None) -> Chance:
    """Draws from the seed; None: from a random one. Raises MistakeError if it is out of range."""
    if seed is not None and not 0 <= seed <= SEED_MAX:
        raise MistakeError(f"--seed: found {seed}, allowed: 0 to {SEED_MAX}")
    if seed is None:
        seed = Random().randint(1, SEED_MAX)
    random = Random(seed)
    return Chance(seed, random.choice((0, NUMBERS - random.randint(1, NEAR))))
