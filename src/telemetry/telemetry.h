/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands on DPDK's telemetry socket: /vcmts/metrics for collectors, and lcore commands that some
 * DPDK versions lack (docs/monitoring.md). Threads of the socket run them while workers run. */
#pragma once

#include "telemetry/metrics/metrics.h"

/* Registers the commands. Returns 0, or -1 after a message. `source` and its server must be valid until
 * telemetry_close(). */
int telemetry_open(const struct metrics_source *source);

/* Further commands return an error. Waits for commands in progress. */
void telemetry_close(void);
