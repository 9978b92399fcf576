# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench power: measures the cost of pauses and lower clock frequencies, and their losses.

docs/power.md describes the method.
"""

from vcmts.bench.power.command import add_arguments, main

__all__ = ["add_arguments", "main"]
