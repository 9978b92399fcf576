# SPDX-License-Identifier: BSD-3-Clause
"""Watts: modelled from a machine's description, or measured where the machine tells them."""
