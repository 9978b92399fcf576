# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts capture`: live packet captures of a running vcmtsd."""
