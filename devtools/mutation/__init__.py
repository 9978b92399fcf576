# SPDX-License-Identifier: BSD-3-Clause
"""Mutation testing of the data plane: by its tests (make mutants) or by runs (make mutants-run)."""
