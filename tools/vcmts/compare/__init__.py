# SPDX-License-Identifier: BSD-3-Clause
"""vcmts compare: two runs side by side."""
