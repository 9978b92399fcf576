# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts power`: models the watts of a server over a day."""
