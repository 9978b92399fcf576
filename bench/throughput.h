/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A data plane with its threads, and the traffic on one more core, in one process. Like `vcmts run`, but
 * connected by rings in memory instead of memif. The arrows show the downstream; the upstream runs the
 * other way.
 *
 *     core n + 1            rings            cores 1 .. n
 *     traffic  ==> network port | network port ==> data plane
 *              <== R-PHY port   | R-PHY port   <==
 */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "crypto/crypto.h"
#include "directions/traffic.h"
#include "server/server.h"

struct throughput {
	/* configuration of `server`; its lists belong to the caller of throughput_create() */
	struct single_group lone;
	struct server server;
	struct crypto_provider *crypto; /* of the modems that the traffic simulates */
	/* port IDs: [0] of the data plane, [1] of the traffic */
	uint16_t network[2];
	uint16_t rphy[2];
	struct traffic *traffic;
	bool running; /* the data plane's threads run */
	bool latency; /* measured in this trial */
	/* Counters at the start of the trial: */
	struct worker workers[LAYOUT_GROUP_WORKERS];
	struct counters downstream;
	struct counters upstream;
};

/* Allocates a zeroed, aligned struct. The caller frees it with free(), after throughput_free(). Returns NULL after a
 * message. */
struct throughput *throughput_alloc(void);

/* Memory in MB that both sides need, with a margin. */
unsigned throughput_memory_mb(const struct service_group *sg);

/* Maximum number of packets in a ring: the descriptors of the data plane's ports, for which it has
 * mbufs. A power of two. */
unsigned throughput_depth_max(const struct service_group *sg);

/*
 * Creates ports of `depth` packets per direction (a power of two, at most throughput_depth_max()), data plane and
 * traffic, and starts the data plane's threads on lcores from 1. The caller runs the traffic (trials.h). `sg` must
 * outlive `t`. `upstream`: also creates upstream traffic. Returns 0, or -1 after a message. The caller calls
 * throughput_free() in either case.
 */
int throughput_create(struct throughput *t, const struct service_group *sg, unsigned depth,
		      bool upstream);

/* Stops the threads. Returns 0, or -1 after a message if the data plane's packet accounts do not
 * balance. */
int throughput_stop(struct throughput *t);

/* Stops the threads if they run, and frees all but the struct itself. */
void throughput_free(struct throughput *t);

/* Callbacks of struct trials with a struct throughput. The second adds `workers`, `drops` and, if measured,
 * `pipeline_latency_us` to the answer (docs/results.md). */
void throughput_trial_begins(void *throughput, const struct traffic_load *load);
void throughput_trial_ended(void *throughput, json_t *answer);
