# SPDX-License-Identifier: BSD-3-Clause
"""An independent decoder of what is on the wires around the data plane.

Everything here is written from the standards alone and shares no code with the C side, so that a
mistake made there is not repeated here. It is slow on purpose: clarity before speed.
"""
