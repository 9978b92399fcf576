# SPDX-License-Identifier: BSD-3-Clause
"""What runs first in a container: the data plane there, its configuration, and its end."""
