# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench: what can be measured, a module each, and how it is measured."""
