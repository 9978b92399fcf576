# SPDX-License-Identifier: BSD-3-Clause
"""vcmts control: the control socket of a vcmtsd in service."""
