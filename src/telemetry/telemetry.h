/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands on DPDK's telemetry socket, beside those that DPDK has itself: /vcmts/scheduler/...,
 * /vcmts/workers, /vcmts/drops, /vcmts/latency and /vcmts/reload (docs/running.md). They are answered by
 * threads of the socket while workers run.
 */
#pragma once

#include "server/instance.h"
#include "server/reload.h"

/* Registers the commands. Returns 0, or -1 after a message. Until telemetry_close() is called both
 * must live on. */
int telemetry_open(struct instance *i, struct reload *r);

/* From here on commands are answered with an error. Waits for those that are being answered. */
void telemetry_close(void);
