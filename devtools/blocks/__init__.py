# SPDX-License-Identifier: BSD-3-Clause
"""Runs the code blocks of the pages as a user would (devtools/commands)."""
