/* SPDX-License-Identifier: BSD-3-Clause */
#include "bed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_launch.h>

#include "platform/port.h"
#include "server/changes.h"
#include "server/running.h"

#define PORT_DEPTH 4096
#define CRYPTO_OPS 4096
#define QUEUES 2 /* of the modems' crypto device, a worker */
#define NAP_US 1000

static char own_devices[2][32] = {"net_ring_bench_own_net_0", "net_ring_bench_own_rphy_0"};

static bool is_shared(const struct bed *b) {
	return b->server.worker_count == 1;
}

static unsigned modems_of(const struct bed *b) {
	unsigned modems = 0;

	for (size_t g = 0; g < b->config.group_count; g++)
		modems += (unsigned)b->config.groups[g].modem_count;
	return modems;
}

/* One group a worker, or all on the one. */
static unsigned first_of(const struct bed *b, unsigned worker) {
	return is_shared(b) ? 0 : worker;
}

static unsigned count_of(const struct bed *b) {
	return is_shared(b) ? (unsigned)b->config.group_count : 1;
}

static void options_fill(const struct bed *b, unsigned worker, uint16_t network, uint16_t rphy,
			 struct traffic_options *o) {
	char error[MIX_ERROR];

	*o = (struct traffic_options){
		.network_port = network,
		.rphy_port = rphy,
		.crypto = (struct docsis_crypto *)(uintptr_t)&b->crypto,
		.crypto_queue = (uint16_t)(QUEUES * worker),
		.upstream_crypto_queue = (uint16_t)(QUEUES * worker + 1),
		.permit_permille = 100,
		.classify_permille = 100,
		.rate = 1000000,
		.upstream = true,
		.upstream_rate = 1000000,
		.seed = 1 + worker,
	};
	mix_parse("imix", 1514, &o->mix, error, sizeof(error));
	mix_parse("upstream-imix", 1514, &o->upstream_mix, error, sizeof(error));
}

/* The ports of a worker's groups, with the traffic at their other ends. */
static int side_create(struct bed *b, unsigned worker) {
	static struct traffic_options options[SERVER_MAX_GROUPS];
	unsigned first = first_of(b, worker), count = count_of(b);
	uint16_t network[2], rphy[2];
	char name[32];

	snprintf(name, sizeof(name), "bench_net%u", worker);
	if (port_pair(name, b->server.pools.packets, PORT_DEPTH, network) != 0)
		return -1;
	snprintf(name, sizeof(name), "bench_rphy%u", worker);
	if (port_pair(name, b->server.pools.packets, PORT_DEPTH, rphy) != 0)
		return -1;
	for (unsigned g = 0; g < count; g++) {
		server_ports_give(&b->server.ports, first + g, DEVICE_NETWORK, network[0]);
		server_ports_give(&b->server.ports, first + g, DEVICE_RPHY, rphy[0]);
		options_fill(b, worker, network[1], rphy[1], &options[g]);
	}
	if (groups_create(&b->loops[worker].traffic, &b->groups[first], options, count) != 0)
		return -1;
	groups_stop(&b->loops[worker].traffic); /* as after a run */
	groups_finish(&b->loops[worker].traffic);
	return 0;
}

/* The ports of the group that comes, which it opens by their names. */
static int ends_create(struct bed *b) {
	static const char *const names[] = {"bench_own_net", "bench_own_rphy"};
	uint16_t ends[2];

	for (unsigned i = 0; i < RTE_DIM(names); i++) {
		if (port_pair(names[i], b->server.pools.packets, PORT_DEPTH, ends) != 0 ||
		    rte_eth_dev_stop(ends[0]) != 0)
			return -1;
	}
	b->own = *b->comes;
	b->own.network.device = own_devices[0];
	b->own.rphy_port.device = own_devices[1];
	b->comes = &b->own;
	return 0;
}

static int workers_start(struct bed *b) {
	struct server *s = &b->server;

	server_start(s);
	for (unsigned w = 0; w < s->worker_count; w++) {
		if (loop_create(&b->loops[w], &s->workers[w]) != 0) {
			fprintf(stderr, "no memory for the figures\n");
			return -1;
		}
	}
	for (unsigned w = 0; w < s->worker_count; w++)
		rte_eal_remote_launch(loop_run, &b->loops[w], w + 1);
	b->runs = true;
	return 0;
}

int bed_create(struct bed *b, const struct server_config *config, bool spares, bool comes) {
	b->config = *config;
	if (comes) {
		b->config.max_groups = (uint32_t)config->group_count;
		b->comes = &config->groups[--b->config.group_count];
	}
	memcpy(b->groups, config->groups, config->group_count * sizeof(b->groups[0]));
	if (spares)
		b->groups[0].modem_count -= BED_SPARES;
	if (server_create(&b->server, &b->config) != 0)
		return -1;
	if (!is_shared(b) && b->server.worker_count != config->group_count) {
		fprintf(stderr, "found %u workers for %zu groups, allowed: one, or one a group\n",
			b->server.worker_count, config->group_count);
		return -1;
	}
	if (crypto_open(&b->crypto, "modems", QUEUES * b->server.worker_count,
			4 * modems_of(b) + 4 * (unsigned)config->group_count, CRYPTO_OPS) != 0)
		return -1;
	for (unsigned w = 0; w < b->server.worker_count; w++) {
		if (side_create(b, w) != 0)
			return -1;
	}
	if (server_serve(&b->server) != 0)
		return -1;
	server_account(&b->server, false);
	if (comes && ends_create(b) != 0)
		return -1;
	return workers_start(b);
}

static int phase_await(const struct bed *b, enum loop_phase phase) {
	for (unsigned w = 0; w < b->server.worker_count; w++) {
		while (loop_phase_of(&b->loops[w]) != phase) {
			if (loop_phase_of(&b->loops[w]) == LOOP_FAILED)
				return -1;
			usleep(NAP_US);
		}
	}
	return 0;
}

static void phase_set(struct bed *b, enum loop_phase phase) {
	for (unsigned w = 0; w < b->server.worker_count; w++)
		loop_phase_set(&b->loops[w], phase);
}

void bed_free(struct bed *b) {
	if (b->runs)
		server_changes_settle(&b->server);
	phase_set(b, LOOP_QUITS);
	rte_eal_mp_wait_lcore();
	if (b->runs) {
		server_halted(&b->server);
		server_stop(&b->server);
	}
	for (unsigned w = 0; w < BED_WORKERS; w++)
		loop_free(&b->loops[w]);
	if (b->crypto.ops != NULL)
		crypto_close(&b->crypto);
	server_free(&b->server);
}

int bed_begin(struct bed *b, const struct bed_load *load) {
	unsigned count = (unsigned)b->config.group_count;

	for (unsigned w = 0; w < b->server.worker_count; w++) {
		struct loop *l = &b->loops[w];
		struct traffic_options o;

		options_fill(b, w, 0, 0, &o);
		l->load = (struct traffic_load){
			.downstream = true,
			.mix = o.mix,
			.rate = load->rate / count,
			.upstream = load->upstream_rate > 0,
			.upstream_mix = o.upstream_mix,
			.upstream_rate = load->upstream_rate / count,
		};
	}
	phase_set(b, LOOP_BEGINS);
	return phase_await(b, LOOP_RUNS);
}

int bed_end(struct bed *b) {
	phase_set(b, LOOP_ENDS);
	return phase_await(b, LOOP_RESTS);
}

static void traffic_add(const struct traffic *t, struct bed_result *r) {
	struct traffic_result down;
	struct uplink_result up;

	traffic_result(t, &down);
	traffic_uplink_result(t, &up);
	r->sent += down.sent + up.sent;
	r->proven += down.proven + up.proven;
	r->lost += down.lost + up.lost;
	r->wrong += down.corrupted + down.duplicated + up.corrupted + up.duplicated;
	r->gbps += down.gbps;
	r->upstream_gbps += up.gbps;
	r->p50 = RTE_MAX(r->p50, down.latency_us.p50);
	r->p99 = RTE_MAX(r->p99, down.latency_us.p99);
	r->p99_9 = RTE_MAX(r->p99_9, down.latency_us.p99_9);
}

void bed_result(const struct bed *b, struct bed_result *r) {
	*r = (struct bed_result){0};
	for (unsigned w = 0; w < b->server.worker_count; w++) {
		const struct groups *g = &b->loops[w].traffic;

		for (unsigned i = 0; i < g->count; i++)
			traffic_add(g->all[i], r);
		r->cycles += b->loops[w].figures.cycles;
	}
}
