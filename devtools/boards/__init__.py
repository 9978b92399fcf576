# SPDX-License-Identifier: BSD-3-Clause
"""Generates the Grafana dashboards in deploy/grafana/ (devtools/dashboards)."""
