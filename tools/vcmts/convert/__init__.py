# SPDX-License-Identifier: BSD-3-Clause
"""vcmts convert: the values of the reference's Helm charts as ours."""
