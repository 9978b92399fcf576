# SPDX-License-Identifier: BSD-3-Clause
"""What this machine is: processor, memory, devices, software; read from a tree of files."""
