# SPDX-License-Identifier: BSD-3-Clause
"""Where tables go."""

import sys

from rich.console import Console

WIDTH = 100  # where there is no terminal: what wide tables need


def wide_console() -> Console:
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else WIDTH)
