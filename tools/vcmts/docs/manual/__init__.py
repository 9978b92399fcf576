# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages and shell completion, of what the programs say of themselves."""
