/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands on DPDK's telemetry socket, beside those that DPDK has itself: /vcmts/groups,
 * /vcmts/scheduler/..., /vcmts/workers, /vcmts/drops, /vcmts/latency and /vcmts/reload
 * (docs/running.md). They are answered by threads of the socket while workers run. What is of a group
 * takes group=ID before other parameters, and needs it where there are several.
 */
#pragma once

#include "server/reload.h"
#include "telemetry/metrics/metrics.h"

/* Registers the commands. Returns 0, or -1 after a message. Until telemetry_close() is called both
 * must live on. */
int telemetry_open(const struct metrics_source *source, struct reload *r);

/* From here on commands are answered with an error. Waits for those that are being answered. */
void telemetry_close(void);
