/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Liveness and readiness of a server, for HTTP probes. The HTTP thread reads state of the control thread and
 * the workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/server.h"

#define HEALTH_LINE 160 /* bytes of a reason */
#define HEALTH_STALL_NS UINT64_C(5000000000) /* a worker without a round for so long has stalled */
/* upper bound of the time that one check accounts for */
#define HEALTH_STEP_NS UINT64_C(1500000000)

struct health_worker {
	uint64_t rounds; /* at the last check */
	uint64_t still_ns; /* time without a round */
};

struct health {
	uint64_t checked; /* time of the last check, ns */
	struct health_worker workers[PLATFORM_MAX_WORKERS];
};

/*
 * Checks the workers' progress; call it about once per second. `now` in ns, of a monotonic clock. A long gap
 * between checks counts as HEALTH_STEP_NS: if the whole process was stopped, no worker has stalled.
 */
void health_check(struct health *h, const struct server *s, uint64_t now);

/* Whether all workers make rounds. If not, `why` names the worker. */
bool health_live(const struct health *h, const struct server *s, char why[HEALTH_LINE]);

/*
 * Whether packets can arrive: a group is not drained, all such groups have their ports with links, and the
 * workers are live. If not, `why` has the reason. Takes the server's lock for reading.
 */
bool health_ready(const struct health *h, struct server *s, char why[HEALTH_LINE]);
