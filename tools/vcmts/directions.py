# SPDX-License-Identifier: BSD-3-Clause
"""The names of the two directions, as keys of all results."""

DIRECTIONS = ("downstream", "upstream")
