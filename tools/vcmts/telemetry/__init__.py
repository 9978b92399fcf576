# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts telemetry`: prints the state of a running vcmtsd as tables."""
