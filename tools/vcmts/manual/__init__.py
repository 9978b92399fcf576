# SPDX-License-Identifier: BSD-3-Clause
"""Generates manual pages and shell completion from the programs' help."""
