/* SPDX-License-Identifier: BSD-3-Clause */
/* A server with the traffic around it in one process: a worker a core, and on each the traffic of its groups. */
#pragma once

#include "crypto/crypto.h"
#include "loop.h"
#include "model/server_config.h"
#include "server/server.h"

#define BED_WORKERS 2
#define BED_SPARES 8 /* modems without traffic, the last ones of the first group */

/* Ends of the first worker's ports. */
#define BED_NETWORK "net_ring_bench_net0_0"
#define BED_RPHY "net_ring_bench_rphy0_0"

struct bed {
	struct server_config config; /* what serves at the start */
	struct service_group groups[SERVER_MAX_GROUPS]; /* the same as the traffic sees it */
	struct server server;
	struct crypto_provider *crypto[BED_WORKERS]; /* of the modems */
	struct loop loops[BED_WORKERS];
	struct rte_mempool *pools[3]; /* of the traffic, where each worker has one */
	const struct service_group *comes; /* the file's last group, which is not served; or NULL */
	bool runs;
};

/*
 * Makes all of it in the zeroed `b`, on an EAL with a worker a core of the configuration, and has the workers
 * run without traffic. With one worker and several groups these share their ports. `spares` leaves out the traffic of
 * BED_SPARES modems; `comes` leaves out the last group, with room for it;
 * then the file has BED_NETWORK and BED_RPHY for ports. Returns 0, or -1 after a message. To be freed by bed_free() in either case.
 */
int bed_create(struct bed *b, const struct server_config *config, bool spares, bool comes);
void bed_free(struct bed *b);

/* What all groups together get, bits per second; 0 = max. */
struct bed_load {
	uint64_t rate, upstream_rate;
};

/* Begins a run, and ends it: then figures and results may be read. Return 0, or -1 after a message. */
int bed_begin(struct bed *b, const struct bed_load *load);
int bed_end(struct bed *b);

/* Of all groups of all workers. */
struct bed_result {
	uint64_t sent, proven, lost, wrong; /* packets of both directions */
	double gbps, upstream_gbps;
	double p50, p99,
		p99_9; /* of the downstream, us; the largest of the workers' first groups */
	uint64_t cycles, stage_cycles; /* of all workers */
};
void bed_result(const struct bed *b, struct bed_result *r);
