# SPDX-License-Identifier: BSD-3-Clause
"""The two ways of packets, by the names that all results have them under."""

DIRECTIONS = ("downstream", "upstream")
