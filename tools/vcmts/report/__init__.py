# SPDX-License-Identifier: BSD-3-Clause
"""vcmts report: what was measured as a page, its sections and its figures."""
