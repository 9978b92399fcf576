/* SPDX-License-Identifier: BSD-3-Clause */
#include "bed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_launch.h>

#include "crypto/providers.h"
#include "directions/downlink.h"
#include "platform/port.h"
#include "rphy/uplink_output.h"
#include "server/changes.h"
#include "server/measure.h"
#include "server/running.h"

#define PORT_DEPTH 4096
#define NAP_US 1000

static bool is_shared(const struct bed *b) {
	return b->server.worker_count == 1;
}

/* Each worker has one group, or the only worker has all groups. */
static unsigned first_group(const struct bed *b, unsigned worker) {
	return is_shared(b) ? 0 : worker;
}

static unsigned groups_per_worker(const struct bed *b) {
	return is_shared(b) ? (unsigned)b->config.group_count : 1;
}

/* The traffic of a worker's groups, at rates that bed_begin() replaces. */
static void options_fill(const struct bed *b, unsigned worker, uint16_t network, uint16_t rphy,
			 struct traffic_options *o) {
	char error[MIX_ERROR];

	*o = (struct traffic_options){
		.network_port = network,
		.rphy_port = rphy,
		.crypto = b->crypto[worker],
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

/* Creates the traffic of all groups of a worker. Returns 0, or -1 after a message. */
static int traffic_create_all(struct bed *b, unsigned worker, struct traffic_options *options) {
	struct groups *g = &b->loops[worker].traffic;
	struct traffic *t;

	if (is_shared(b))
		return groups_create(g, b->groups, options, groups_per_worker(b));
	options[0].group = worker;
	t = traffic_create(&b->groups[worker], options);
	if (t != NULL)
		groups_of_one(g, t);
	return t != NULL ? 0 : -1;
}

/* Creates the ports of a worker's groups, named by the worker's number, and the traffic at their other ends.
 * Returns 0, or -1 after a message. */
static int side_create(struct bed *b, unsigned worker) {
	static struct traffic_options options[SERVER_MAX_GROUPS];
	unsigned first = first_group(b, worker), count = groups_per_worker(b);
	uint16_t network[2], rphy[2];
	char name[32];

	snprintf(name, sizeof(name), "bench_net%u", worker);
	if (port_pair(name, b->server.pools.packets, PORT_DEPTH, network) != 0)
		return -1;
	snprintf(name, sizeof(name), "bench_rphy%u", worker);
	if (port_pair(name, b->server.pools.packets, PORT_DEPTH, rphy) != 0)
		return -1;
	for (unsigned g = 0; g < count; g++) {
		server_ports_set(&b->server.ports, first + g, DEVICE_NETWORK, network[0]);
		server_ports_set(&b->server.ports, first + g, DEVICE_RPHY, rphy[0]);
		options_fill(b, worker, network[1], rphy[1], &options[g]);
		options[g].packets = b->pools[0];
		options[g].frames = b->pools[1];
		options[g].uplink_packets = b->pools[2];
	}
	if (traffic_create_all(b, worker, options) != 0)
		return -1;
	groups_stop(&b->loops[worker].traffic); /* the state after a run */
	groups_finish(&b->loops[worker].traffic);
	return 0;
}

/* Several traffics share pools; a single one creates its own. */
static int pools_create(struct bed *b) {
	if (b->server.worker_count == 1)
		return 0;
	b->pools[0] = downlink_packets_pool();
	b->pools[1] = downlink_frames_pool();
	b->pools[2] = uplink_output_pool(b->server.worker_count, b->groups[0].rphy.mtu);
	return b->pools[0] != NULL && b->pools[1] != NULL && b->pools[2] != NULL ? 0 : -1;
}

/* Names the ports as in the configuration, as the added group finds shared ports by their devices. */
static void ports_name(struct bed *b) {
	for (enum device_role role = DEVICE_NETWORK; role <= DEVICE_RPHY; role++) {
		struct server_ports *p = &b->server.ports;

		p->list[p->of[0][role]].device = device_port(&b->config.groups[0], role)->device;
	}
}

/* Starts the threads of all workers, without traffic. Returns 0, or -1 after a message. */
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

int bed_create(struct bed *b, const struct server_config *config, bool spares, bool added) {
	b->config = *config;
	if (added) {
		b->config.max_groups = (uint32_t)config->group_count;
		b->added = &config->groups[--b->config.group_count];
	}
	memcpy(b->groups, config->groups, config->group_count * sizeof(b->groups[0]));
	if (spares && config->groups[0].modem_count <= BED_SPARES) {
		fprintf(stderr,
			"service group %u: found %zu modems, allowed: at least %d, as %d get no "
			"traffic\n",
			config->groups[0].id, config->groups[0].modem_count, BED_SPARES + 1,
			BED_SPARES);
		return -1;
	}
	if (spares)
		b->groups[0].modem_count -= BED_SPARES;
	if (server_create(&b->server, &b->config) != 0)
		return -1;
	if (!is_shared(b) && b->server.worker_count != config->group_count) {
		fprintf(stderr, "found %u workers for %zu groups, allowed: one, or one per group\n",
			b->server.worker_count, config->group_count);
		return -1;
	}
	for (unsigned w = 0; w < b->server.worker_count; w++) {
		b->crypto[w] = crypto_standalone_open(SOCKET_ID_ANY);
		if (b->crypto[w] == NULL)
			return -1;
	}
	if (pools_create(b) != 0)
		return -1;
	for (unsigned w = 0; w < b->server.worker_count; w++) {
		if (side_create(b, w) != 0)
			return -1;
	}
	if (server_serve(&b->server) != 0)
		return -1;
	server_account(&b->server, false);
	if (added)
		ports_name(b);
	return workers_start(b);
}

const char *const change_names[CHANGE_KINDS] = {
	"modem removed", "modem added", "rules of a filter group", "key rolled",
	"rate changed",	 "group added", "group removed",	   "reload",
};

void bed_kind_set(struct bed *b, enum change_kind kind) {
	for (unsigned w = 0; w < b->server.worker_count; w++)
		__atomic_store_n(&b->loops[w].kind, kind, __ATOMIC_RELAXED);
}

/* Waits until all workers are in this phase. Returns 0, or -1 if one is in LOOP_FAILED. */
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
	phase_set(b, LOOP_EXIT);
	rte_eal_mp_wait_lcore();
	if (b->runs) {
		server_halted(&b->server);
		server_stop(&b->server);
	}
	for (unsigned w = 0; w < BED_WORKERS; w++)
		loop_free(&b->loops[w]);
	for (unsigned w = 0; w < BED_WORKERS; w++) {
		if (b->crypto[w] != NULL)
			crypto_close(b->crypto[w]);
	}
	server_free(&b->server);
	for (unsigned p = 0; p < RTE_DIM(b->pools); p++)
		rte_mempool_free(b->pools[p]);
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
	phase_set(b, LOOP_STARTING);
	return phase_await(b, LOOP_RUNNING);
}

int bed_end(struct bed *b) {
	phase_set(b, LOOP_DRAINING);
	return phase_await(b, LOOP_IDLE);
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
		r->stage_cycles += b->loops[w].figures.stage_cycles;
	}
}
