# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench power: what pauses and lower clocks cost, and what they lose.

docs/power.md tells how it is measured.
"""

from vcmts.bench.power.command import add_arguments, main

__all__ = ["add_arguments", "main"]
