# SPDX-License-Identifier: BSD-3-Clause
"""Makes the files of a release. docs/releases.md describes them."""
