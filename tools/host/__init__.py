# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts host`, which checks and prepares a host."""
