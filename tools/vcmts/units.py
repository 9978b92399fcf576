# SPDX-License-Identifier: BSD-3-Clause
"""Units that figures are told in."""

MIB = 2.0**20  # bytes
