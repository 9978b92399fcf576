# SPDX-License-Identifier: BSD-3-Clause
"""Runs the package as a program: PYTHONPATH=devtools python3 -m container."""

import sys

from container.main import main

sys.exit(main(sys.argv[1:]))
