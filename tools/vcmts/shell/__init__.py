# SPDX-License-Identifier: BSD-3-Clause
"""A prompt on the control socket: `show modems`, `set modem MAC cpe_limit=4`."""
