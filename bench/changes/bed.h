/* SPDX-License-Identifier: BSD-3-Clause */
/* A test bed: server and traffic in one process, one core per worker, which also runs the traffic
 * of its groups. */
#pragma once

#include "crypto/crypto.h"
#include "loop.h"
#include "model/server_config.h"
#include "server/server.h"

#define BED_WORKERS 2
#define BED_SPARES 8 /* modems without traffic, the last ones of the first group */

/* Devices of the first worker's ports. */
#define BED_NETWORK "net_ring_bench_net0_0"
#define BED_RPHY "net_ring_bench_rphy0_0"

enum change_kind {
	CHANGE_MODEM_REMOVE,
	CHANGE_MODEM_ADD,
	CHANGE_RULES,
	CHANGE_KEY,
	CHANGE_RATE,
	DRIVER_KINDS, /* number of kinds that driver.h requests */
	CHANGE_GROUP_ADD = DRIVER_KINDS,
	CHANGE_GROUP_REMOVE,
	CHANGE_RELOAD,
	CHANGE_KINDS,
};

_Static_assert(CHANGE_KINDS <= LOOP_KINDS, "loops count the steps of each kind");

extern const char *const change_names[CHANGE_KINDS];

struct bed {
	struct server_config config; /* configuration at the start */
	struct service_group groups[SERVER_MAX_GROUPS]; /* the same, for the traffic */
	struct server server;
	struct crypto_provider *crypto[BED_WORKERS]; /* of the modems */
	struct loop loops[BED_WORKERS];
	/* of the traffic, if there are several workers: packets, frames, upstream packets */
	struct rte_mempool *pools[3];
	/* the configuration's last group, not served at the start; or NULL */
	const struct service_group *added;
	bool runs;
};

/*
 * Creates everything in the zeroed `b`, on an EAL with one worker per core of the configuration. The
 * workers run without traffic. With one worker, several groups share its ports. `spares`: BED_SPARES modems
 * get no traffic; the first group must have more modems. `added`: the last group is left out but has
 * capacity reserved; the configuration must then have the ports BED_NETWORK and BED_RPHY. Returns 0, or -1
 * after a message. The caller frees it with bed_free() in either case.
 */
int bed_create(struct bed *b, const struct server_config *config, bool spares, bool added);
void bed_free(struct bed *b);

/* The kind to which workers attribute their steps from now on. */
void bed_kind_set(struct bed *b, enum change_kind kind);

/* Rates of all groups together, bits per second; 0 = max. */
struct bed_load {
	uint64_t rate, upstream_rate;
};

/* Begin and end a run; after the end, figures and results are valid. Return 0, or -1 after a message. */
int bed_begin(struct bed *b, const struct bed_load *load);
int bed_end(struct bed *b);

/* Sums over all groups of all workers. */
struct bed_result {
	uint64_t sent, proven, lost, wrong; /* packets of both directions */
	double gbps, upstream_gbps;
	double p50, p99, p99_9; /* of the downstream, us; maximum over all groups */
	uint64_t cycles, stage_cycles; /* of all workers */
};
void bed_result(const struct bed *b, struct bed_result *r);
