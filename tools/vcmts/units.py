# SPDX-License-Identifier: BSD-3-Clause
"""Units of figures."""

MIB = 2.0**20  # bytes
