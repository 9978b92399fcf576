/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the control thread: whether the workers make rounds, whether the system took their
 * cores away, and the state of the ports. It only reads counters, without cost for the workers. */
#pragma once

#include <rte_config.h>

#include "server/server.h"

#define WATCH_STALL_NS UINT64_C(5000000000) /* a worker without a round for so long has stalled */
#define WATCH_STEP_NS UINT64_C(100000000) /* upper bound of the time that one check accounts for */
#define WATCH_LONG_ROUND_US 10000 /* a round that long is reported */
#define WATCH_LONG_ROUND_REPORT_NS UINT64_C(10000000000) /* interval of the reports */

struct watched_worker {
	uint64_t rounds; /* at the last check; the next one, too */
	uint64_t descheduled;
	uint64_t stalled_ns; /* time without a round */
	bool progressed; /* since watch_all_progressed() */
	bool stalled; /* and the stall was reported */
};

struct watch {
	const struct server *server;
	uint64_t checked, long_rounds_checked; /* ns */
	struct watched_worker workers[PLATFORM_MAX_WORKERS];
	enum server_port_state ports[SERVER_PORTS_MAX]; /* last reported states */
};

void watch_open(struct watch *w, const struct server *s, uint64_t now);

/* Checks the workers' rounds. A long gap between checks counts as WATCH_STEP_NS: if the whole
 * process was stopped, no worker has stalled. `now` in ns, of a monotonic clock. */
void watch_workers(struct watch *w, uint64_t now);

/* Whether each worker has made a round since the last time that this was true. */
bool watch_all_progressed(struct watch *w);

/* Reports workers that were descheduled for long. */
void watch_long_rounds(struct watch *w, uint64_t now);

/* Reports changes of the ports' states since the last check. */
void watch_ports(struct watch *w);
