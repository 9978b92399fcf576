# SPDX-License-Identifier: BSD-3-Clause
"""Breaks lines of the data plane one at a time and looks which tests see it (make mutants)."""
