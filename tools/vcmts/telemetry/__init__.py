# SPDX-License-Identifier: BSD-3-Clause
"""vcmts telemetry: a data plane in service is asked and changed."""
