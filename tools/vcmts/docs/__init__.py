# SPDX-License-Identifier: BSD-3-Clause
"""Generates documentation: pages, pictures, manual pages and shell completion."""
