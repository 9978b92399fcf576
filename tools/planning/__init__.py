# SPDX-License-Identifier: BSD-3-Clause
"""Planners beside the tool: servers for service groups, a day of load, modelled watts."""
