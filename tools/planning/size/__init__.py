# SPDX-License-Identifier: BSD-3-Clause
"""vcmts size: servers, cores, memory and ports for service groups."""
