# SPDX-License-Identifier: BSD-3-Clause
"""Senders, and a slow model of the upstream, around the independent decoder of tools/vcmts/witness.

Like it, all of this is written from the standards alone and shares no code with the C side.
"""
