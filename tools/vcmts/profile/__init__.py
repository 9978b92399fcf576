# SPDX-License-Identifier: BSD-3-Clause
"""vcmts profile: the published test configurations."""
