# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts convert`: converts values of the reference's Helm charts to the own chart."""
