# SPDX-License-Identifier: BSD-3-Clause
"""Reads facts of a host: processor, memory, devices and software, from a tree of files."""
