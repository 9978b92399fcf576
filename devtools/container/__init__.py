# SPDX-License-Identifier: BSD-3-Clause
"""Builds the container image: its root filesystem from Debian packages and the files of
`meson install`, its SBOM, and its archive."""
