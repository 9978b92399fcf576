# SPDX-License-Identifier: BSD-3-Clause
"""vcmts monitor: a Prometheus that is set up for the vcmtsd in service here."""
