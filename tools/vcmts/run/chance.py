# SPDX-License-Identifier: BSD-3-Clause
"""What of a run is left to chance, all from one seed: it is told, and can be given."""

from dataclasses import dataclass
from random import Random

from vcmts.paths import MistakeError

SEED_MAX = 2**32 - 1
NUMBERS = 65_536  # of DSIDs and PSP sessions
NEAR = 64  # packets before they wrap: of a service flow in a run of some seconds


@dataclass(frozen=True)
class Chance:
    seed: int
    first_number: int  # with which sequence numbers begin: 0, or some before they wrap

    def plane(self) -> list[str]:
        """Options of vcmtsd."""
        return ["--first-number", str(self.first_number)]

    def traffic(self) -> list[str]:
        return ["--seed", str(self.seed), "--first-number", str(self.first_number)]


def drawn(seed: int | None) -> Chance:
    """From the seed, or from one that is drawn. Raises MistakeError."""
    if seed is not None and not 0 <= seed <= SEED_MAX:
        raise MistakeError(f"--seed: found {seed}, allowed: 0 to {SEED_MAX}")
    if seed is None:
        seed = Random().randint(1, SEED_MAX)
    random = Random(seed)
    return Chance(seed, random.choice((0, NUMBERS - random.randint(1, NEAR))))
