/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control thread looks at between two rounds of its own: whether the workers make rounds, whether the system
 * took their cores away, and what has become of the ports. It reads what they count, and costs them nothing.
 */
#pragma once

#include <rte_config.h>

#include "server/server.h"

#define WATCH_STALL_NS UINT64_C(5000000000) /* so long without a round is too long */
#define WATCH_STEP_NS UINT64_C(100000000) /* at most, of the time between two looks */
#define WATCH_AWAY_US 10000 /* a round that long is told of */
#define WATCH_AWAY_NS UINT64_C(10000000000) /* between two looks at those */

struct watched_worker {
	uint64_t rounds; /* at the last look, as the next */
	uint64_t descheduled;
	uint64_t still_ns; /* so long there was none */
	bool moved; /* since watch_all_moved() */
	bool stalled; /* which was said */
};

struct watch {
	const struct server *server;
	uint64_t looked, away_looked; /* ns */
	struct watched_worker workers[PLATFORM_MAX_WORKERS];
	enum server_port_state ports[SERVER_PORTS_MAX]; /* as it was told of them */
};

void watch_open(struct watch *w, const struct server *s, uint64_t now);

/*
 * Looks at the workers. Time in which the caller did not look counts little: where the whole process was stopped, no
 * worker is to blame. `now` in ns, of a clock that does not go back.
 */
void watch_workers(struct watch *w, uint64_t now);

/* Whether each worker has made a round since this was true last. */
bool watch_all_moved(struct watch *w);

/* Looks whether they were kept from their work. */
void watch_away(struct watch *w, uint64_t now);

/* Tells what has become of the ports since the last look. */
void watch_ports(struct watch *w);
