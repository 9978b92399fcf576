# SPDX-License-Identifier: BSD-3-Clause
"""A day of load in minutes: what is sent, what it did to the server, and its picture."""
