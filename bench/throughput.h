/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A data plane with its threads, and traffic on one more core, in one process: the same two sides as
 * `vcmts run` has, joined by rings in memory instead of memif.
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
	struct lone_group lone;
	struct server server;
	struct crypto_provider *crypto; /* of the modems */
	uint16_t network[2]; /* the data plane's end, the traffic's end */
	uint16_t rphy[2];
	struct traffic *traffic;
	bool running;
	bool latency; /* is measured in the trial */
	/* When the trial began: */
	struct worker workers[LAYOUT_GROUP_WORKERS];
	struct counters downstream;
	struct counters upstream;
};

/* A zeroed one, aligned as it must be; to be freed by free(). NULL after a message. */
struct throughput *throughput_alloc(void);

/* MB of memory that both sides take, with room to spare. */
unsigned throughput_memory_mb(const struct service_group *sg);

/*
 * The packets that the rings between the two may hold: no more than the data plane's ports have places,
 * for which it has its buffers. A power of two.
 */
unsigned throughput_depth_max(const struct service_group *sg);

/*
 * Makes ports that hold `depth` packets (a power of two) a direction, data plane and traffic, and
 * starts the data plane's threads: lcores 1 and on. `upstream` tells whether modems can send. Returns
 * 0, or -1 after a message. To be freed by throughput_free() in either case.
 */
int throughput_create(struct throughput *t, const struct service_group *sg, unsigned depth,
		      bool upstream);

/* Stops the threads. Returns 0, or -1 after a message where the data plane has lost count of packets. */
int throughput_stop(struct throughput *t);

void throughput_free(struct throughput *t);

/* For struct trials, with a struct throughput: what the data plane has done in a trial. */
void throughput_begins(void *throughput, const struct traffic_load *load);
void throughput_ended(void *throughput, json_t *answer);
