# SPDX-License-Identifier: BSD-3-Clause
"""Live captures of a vcmtsd in service."""
