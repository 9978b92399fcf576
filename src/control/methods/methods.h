/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The methods of the control socket. methods.c has their table, and each family of methods has a
 * pair of files. The thread that launched the workers runs one method at a time, while the workers
 * run.
 */
#pragma once

#include "control/methods/events.h"
#include "control/rpc.h"
#include "power/live/power.h"
#include "server/reload.h"
#include "server/server.h"
#include "telemetry/metrics/metrics.h"

/* The `service` of all calls. The caller may fill it after the socket is opened, but before it is
 * served. */
struct methods {
	struct server *server;
	struct reload *reload;
	const struct metrics_source *metrics;
	struct power *power; /* NULL in a replay */
	struct events events; /* open it before methods_rpc() if there are subscribers */
};

/* Returns the service. `m` must outlive it; NULL is enough for rpc_describe(). */
struct rpc methods_rpc(struct methods *m);
