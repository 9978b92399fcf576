# SPDX-License-Identifier: BSD-3-Clause
"""vcmts simulate: TCP senders through the scheduler, without packets."""
