# SPDX-License-Identifier: BSD-3-Clause
"""A placement of threads held against a machine. What the file means is told by vcmtsd."""
