# SPDX-License-Identifier: BSD-3-Clause
"""What a machine is: processor, devices, software."""
