# SPDX-License-Identifier: BSD-3-Clause
"""The container image: its root filesystem put together of Debian's packages and of what
`meson install` brought, its list of parts, and its archive."""
