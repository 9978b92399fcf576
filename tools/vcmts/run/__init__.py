# SPDX-License-Identifier: BSD-3-Clause
"""vcmts run: the data plane and the traffic around it."""
