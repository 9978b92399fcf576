# SPDX-License-Identifier: BSD-3-Clause
"""Plans, applies and undoes the settings that a host needs for service groups."""
