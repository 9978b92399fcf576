# SPDX-License-Identifier: BSD-3-Clause
"""vcmts telemetry: what a data plane in service does, as tables."""
