# SPDX-License-Identifier: BSD-3-Clause
"""An independent encoder and decoder of the protocols around the data plane, for tests.

It is written from the specifications and shares no code with the C programs, so that it does not
share their errors. It prefers clarity to speed.
"""
