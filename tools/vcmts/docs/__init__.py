# SPDX-License-Identifier: BSD-3-Clause
"""make docs: the pages that are generated."""
