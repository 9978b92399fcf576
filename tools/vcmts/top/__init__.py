# SPDX-License-Identifier: BSD-3-Clause
"""vcmts top: a data plane in service, live in the terminal."""
