# SPDX-License-Identifier: BSD-3-Clause
"""vcmts host: what a machine lacks for service groups, planned, applied and undone."""
