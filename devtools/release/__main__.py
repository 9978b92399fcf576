# SPDX-License-Identifier: BSD-3-Clause
"""Runs the package as a program: PYTHONPATH=devtools python3 -m release."""

import sys

from release.main import main

sys.exit(main(sys.argv[1:]))
