/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands on DPDK's telemetry socket, beside those that DPDK has itself: /vcmts/metrics for collectors, and what DPDK
 * tells of lcores in other versions (docs/telemetry.md). They are answered by threads of the socket while workers run.
 */
#pragma once

#include "telemetry/metrics/metrics.h"

/* Registers the commands. Returns 0, or -1 after a message. `source` and its server must live on until
 * telemetry_close(). */
int telemetry_open(const struct metrics_source *source);

/* From here on commands are answered with an error. Waits for those that are being answered. */
void telemetry_close(void);
