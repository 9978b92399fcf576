/* SPDX-License-Identifier: BSD-3-Clause */
#include "box.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "crypto/providers.h"
#include "platform/port.h"

#define PORT_DEPTH 4096
#define PACKET_NS 500000 /* simulated time between two L2TPv3 packets */
#define ROUNDS 1000000 /* exceeds the rounds of a run */

struct box {
	struct single_group lone;
	struct server server;
	struct traffic *traffic;
	struct crypto_provider *crypto; /* of the modems */
	uint16_t network[2]; /* ports of the CMTS and of the traffic */
	uint16_t rphy[2];
	bool connected;
	uint64_t now; /* ns, the CMTS' time */
};

/* Each run has new port names, as names of closed ports stay in use. */
static int ports_open(struct box *b) {
	static unsigned runs;
	char network[16], rphy[16];

	snprintf(network, sizeof(network), "network%u", runs);
	snprintf(rphy, sizeof(rphy), "rphy%u", runs++);
	if (port_pair(network, b->server.pools.packets, PORT_DEPTH, b->network) != 0 ||
	    port_pair(rphy, b->server.pools.packets, PORT_DEPTH, b->rphy) != 0)
		return -1;
	b->connected = true;
	server_ports_set(&b->server.ports, 0, DEVICE_NETWORK, b->network[0]);
	server_ports_set(&b->server.ports, 0, DEVICE_RPHY, b->rphy[0]);
	return 0;
}

static int create(struct box *b, const struct box_run *run) {
	struct traffic_options options = {
		.seed = run->seed,
		.no_downstream = true,
		.upstream = true,
		.impair = run->shares,
	};
	char error[160];

	if (server_create(&b->server, single_group_config(&b->lone, run->sg)) != 0 ||
	    ports_open(b) != 0 || server_serve(&b->server) != 0 ||
	    (b->crypto = crypto_standalone_open(SOCKET_ID_ANY)) == NULL)
		return -1;
	options.crypto = b->crypto;
	options.network_port = b->network[1];
	options.rphy_port = b->rphy[1];
	if (mix_parse("upstream-imix", run->sg->max_frame - RTE_ETHER_CRC_LEN,
		      &options.upstream_mix, error, sizeof(error)) != 0) {
		fprintf(stderr, "%s\n", error);
		return -1;
	}
	b->traffic = traffic_create(run->sg, &options);
	return b->traffic != NULL ? 0 : -1;
}

static void destroy(struct box *b) {
	traffic_free(b->traffic);
	if (b->crypto != NULL)
		crypto_close(b->crypto);
	if (b->connected) {
		port_close(b->network[1]);
		port_close(b->rphy[1]);
	}
	server_free(&b->server);
}

/* Runs one round of the CMTS; time advances with the packets received. */
static void carry_once(struct box *b) {
	struct upstream *u = b->server.groups[0].upstream;
	uint64_t received = u->counters.values[COUNTER_RECEIVED];

	for (unsigned w = 0; w < b->server.worker_count; w++)
		b->server.workers[w].clock.now = b->now;
	for (unsigned l = 0; l < US_PIPELINES; l++)
		pipeline_run(upstream_pipeline(u, l));
	b->now += (u->counters.values[COUNTER_RECEIVED] - received) * PACKET_NS;
}

/* Runs until there is no more output without further input. */
static void carry(struct box *b) {
	const struct upstream *u = b->server.groups[0].upstream;
	uint64_t received;

	do {
		received = u->counters.values[COUNTER_RECEIVED];
		carry_once(b);
		while (traffic_receive(b->traffic) > 0)
			;
	} while (u->counters.values[COUNTER_RECEIVED] > received || upstream_busy(u));
}

/* Sends at least so many packets, and completes frames. Returns false after a message. */
static bool send_all(struct box *b, uint64_t packets) {
	struct uplink_result sent = {0};

	for (unsigned i = 0; i < ROUNDS && sent.sent < packets; i++) {
		traffic_send(b->traffic, rte_rdtsc());
		carry(b);
		traffic_uplink_result(b->traffic, &sent);
	}
	traffic_stop(b->traffic);
	for (unsigned i = 0; i < ROUNDS && !traffic_all_sent(b->traffic); i++) {
		traffic_send(b->traffic, rte_rdtsc());
		carry(b);
	}
	if (sent.sent >= packets && traffic_all_sent(b->traffic))
		return true;
	fprintf(stderr, "impairments: the modems still have unsent frames after the time limit\n");
	return false;
}

/* Advances the time to each deadline, so that all timers expire in order. */
static void settle(struct box *b) {
	uint64_t deadline;

	while ((deadline = upstream_deadline(b->server.groups[0].upstream)) != UINT64_MAX) {
		b->now = RTE_MAX(b->now, deadline);
		carry(b);
	}
}

static void collect(const struct box *b, struct box_result *out) {
	const struct upstream *u = b->server.groups[0].upstream;

	traffic_uplink_result(b->traffic, &out->traffic);
	out->counters = u->counters;
	for (enum unit unit = 0; unit < UNITS; unit++) {
		out->in[unit] = upstream_in(u, unit);
		out->out[unit] = upstream_out(u, unit);
		out->dropped[unit] = counters_dropped_units(&u->counters, unit);
		out->pending[unit] = upstream_pending(u, unit);
	}
}

int box_run(const struct box_run *run, struct box_result *out) {
	struct box b = {0};
	int ret = -1;

	if (create(&b, run) == 0 && send_all(&b, run->packets)) {
		settle(&b);
		collect(&b, out);
		ret = 0;
	}
	destroy(&b);
	return ret;
}
