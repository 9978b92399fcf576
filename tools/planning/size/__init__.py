# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts size`: computes servers, cores, memory and ports for service groups."""
