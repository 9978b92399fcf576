# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts control`, and a client of the control socket of vcmtsd."""
