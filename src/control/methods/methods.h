/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control socket offers: the table of all methods is in methods.c, each family of them in a file pair
 * of its own. They are run by the thread that launched the workers, one at a time, while these work.
 */
#pragma once

#include "control/methods/events.h"
#include "control/rpc.h"
#include "power/live/power.h"
#include "server/reload.h"
#include "server/server.h"
#include "telemetry/metrics/metrics.h"

/* What the methods work on: the `service` of their calls. It may be filled when the socket is open already, but
 * before it is served. */
struct methods {
	struct server *server;
	struct reload *reload;
	const struct metrics_source *metrics;
	struct power *power; /* NULL: a replay has none */
	struct events events; /* opened before methods_rpc() where there are subscribers */
};

/* The service. `m` must live on; NULL does where it is only to be described. */
struct rpc methods_rpc(struct methods *m);
