# SPDX-License-Identifier: BSD-3-Clause
"""Traffic generators and a reference model of vcmtsd for tests, based on tools/vcmts/witness.

All of it is written from the specifications and shares no code with the C programs.
"""
