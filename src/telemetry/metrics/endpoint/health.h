/* SPDX-License-Identifier: BSD-3-Clause */
/* Liveness and readiness of a server, for HTTP probes. The HTTP thread reads state of the control
 * thread and the workers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/server.h"

#define HEALTH_LINE 160 /* bytes of a reason */
/* a worker that makes no round for so long has stalled */
#define HEALTH_STALL_NS UINT64_C(5000000000)
/* limit of the time that a check counts as passed */
#define HEALTH_STEP_NS UINT64_C(1500000000)

struct health_worker {
	uint64_t rounds; /* at the last check */
	uint64_t stalled_ns; /* time without a round */
};

struct health {
	uint64_t checked; /* time of the last check, ns */
	struct health_worker workers[PLATFORM_MAX_WORKERS];
};

/*
 * Checks the progress of the workers; call it about once per second. `now` is in ns of a monotonic
 * clock. A longer gap between checks counts as HEALTH_STEP_NS, so that a stop of the whole process
 * does not look like stalled workers.
 */
void health_check(struct health *h, const struct server *s, uint64_t now);

/* Whether all workers make rounds. If not, `why` names the worker. */
bool health_live(const struct health *h, const struct server *s, char why[HEALTH_LINE]);

/*
 * Whether packets can arrive: no worker has stalled, at least one group is not drained, and the
 * network and R-PHY ports of all such groups have links. If not, `why` has the reason. Takes the
 * server's lock for reading.
 */
bool health_ready(const struct health *h, struct server *s, char why[HEALTH_LINE]);
