# SPDX-License-Identifier: BSD-3-Clause
"""Runs a day of load in minutes, records what the server did, and draws it (`vcmts run --day`)."""
