# SPDX-License-Identifier: BSD-3-Clause
"""The tool that people touch: profiles, validation, replay, runs and benchmarks."""
