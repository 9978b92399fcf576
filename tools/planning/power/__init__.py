# SPDX-License-Identifier: BSD-3-Clause
"""vcmts power: watts of a described machine over a day."""
