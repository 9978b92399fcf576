# SPDX-License-Identifier: BSD-3-Clause
"""Grafana's dashboards of OpenVCMTS: written by devtools/dashboards into deploy/grafana/."""
