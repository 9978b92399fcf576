# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tool as `python -m vcmts`."""

import sys

from vcmts.cli import main

sys.exit(main())
