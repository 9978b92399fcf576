/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "platform/pool.h"

#define CRYPTO_OPS_MIN_ALL 4096
#define CRYPTO_OPS_QUEUE 1024 /* more than a direction of a group has in the device at a time */

const struct server_config *lone_group_config(struct lone_group *l,
					      const struct service_group *sg) {
	l->group = *sg;
	l->config = (struct server_config){
		.name = sg->name,
		.main_core = sg->threads.main_core,
		.groups = &l->group,
		.group_count = 1,
	};
	return &l->config;
}

static int workers_create(struct server *s) {
	size_t size = s->layout.worker_count * sizeof(*s->workers);

	s->workers = aligned_alloc(RTE_CACHE_LINE_SIZE, size);
	if (s->workers == NULL) {
		fprintf(stderr, "no memory for %u workers\n", s->layout.worker_count);
		return -1;
	}
	memset(s->workers, 0, size);
	s->worker_count = s->layout.worker_count;
	for (unsigned w = 0; w < s->worker_count; w++)
		layout_name(&s->layout, s->config, w, s->workers[w].name,
			    sizeof(s->workers[w].name));
	return 0;
}

int server_create(struct server *s, const struct server_config *config) {
	s->config = config;
	if (layout_make(&s->layout, config) != 0 || workers_create(s) != 0)
		return -1;
	if (s->ports.count == 0)
		server_ports_own(&s->ports, config);
	s->groups = calloc(config->group_count, sizeof(*s->groups));
	if (s->groups == NULL) {
		fprintf(stderr, "no memory for %zu service groups\n", config->group_count);
		return -1;
	}
	return server_pools_create(&s->pools, config, &s->ports);
}

/* A queue pair for each direction of each group, so that workers share none. */
static int server_crypto_open(struct server *s) {
	unsigned queues = 0, sessions = 0, ops;

	for (size_t g = 0; g < s->config->group_count; g++) {
		const struct service_group *sg = &s->config->groups[g];

		queues += layout_has_upstream(sg) ? 2 : 1;
		sessions += served_group_sessions(sg);
	}
	ops = queues * CRYPTO_OPS_QUEUE + (s->worker_count + 1) * POOL_THREAD_BUFFERS;
	return crypto_open(&s->crypto, "dataplane", queues, sessions,
			   RTE_MAX(ops, (unsigned)CRYPTO_OPS_MIN_ALL));
}

static int group_serve(struct server *s, size_t group, uint16_t *queue) {
	const struct service_group *sg = &s->config->groups[group];
	const struct server_port *rphy = server_port_of(&s->ports, group, DEVICE_RPHY);
	const struct layout_group *at = &s->layout.groups[group];
	struct group_resources r = {
		.from_network = server_source(&s->shares, &s->ports, group, DEVICE_NETWORK),
		.from_rphy = server_source(&s->shares, &s->ports, group, DEVICE_RPHY),
		.to_network = server_sink(&s->shares, &s->ports, group, DEVICE_NETWORK),
		.to_rphy = server_sink(&s->shares, &s->ports, group, DEVICE_RPHY),
		.to_control = server_sink(&s->shares, &s->ports, group, DEVICE_CONTROL),
		.pools = &s->pools,
		.linear = server_port_wants_linear(sg, rphy),
		.queued_max = server_queued_max(s->config, group),
		.hand_over_max = server_hand_over_max(s->config),
		.crypto = &s->crypto,
		.upper = &s->workers[at->upper],
		.lower = &s->workers[at->lower],
		.upstream = &s->workers[at->upstream],
	};

	r.crypto_queues[0] = (*queue)++;
	if (layout_has_upstream(sg))
		r.crypto_queues[1] = (*queue)++;
	s->group_count++; /* also of one that is half made */
	return served_group_create(&s->groups[group], sg, &r);
}

int server_serve(struct server *s) {
	uint16_t queue = 0;

	if (server_crypto_open(s) != 0 ||
	    server_pools_linear(&s->pools, s->config, &s->ports) != 0 ||
	    server_shares_create(&s->shares, s->config, &s->ports, &s->layout, s->workers) != 0)
		return -1;
	for (size_t g = 0; g < s->config->group_count; g++) {
		if (group_serve(s, g, &queue) != 0)
			return -1;
		s->sessions_seconds += s->groups[g].sessions_seconds;
	}
	return server_shares_send(&s->shares, &s->ports, &s->layout, s->workers);
}

uint64_t server_held(const struct server *s) {
	uint64_t held = 0;

	for (unsigned g = 0; g < s->group_count; g++)
		held += served_group_held(&s->groups[g]);
	return held + server_shares_held_in(&s->shares) + server_shares_held_out(&s->shares);
}

bool server_balanced(const struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (!served_group_balanced(&s->groups[g]))
			return false;
	}
	return server_shares_balanced(&s->shares);
}

void server_account(struct server *s, bool on) {
	for (unsigned g = 0; g < s->group_count; g++)
		served_group_account(&s->groups[g], on);
	server_shares_account(&s->shares, on);
}

int server_latency(struct server *s, bool on) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (served_group_latency(&s->groups[g], on) != 0)
			return -1;
	}
	return 0;
}

static void drain_round(struct server *s) {
	for (unsigned w = 0; w < s->worker_count; w++)
		clock_tick(&s->workers[w].clock);
	for (unsigned g = 0; g < s->group_count; g++)
		served_group_drain_round(&s->groups[g]);
	server_shares_run_sending(&s->shares);
}

static bool server_busy(const struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (served_group_busy(&s->groups[g]))
			return true;
	}
	return server_shares_held_out(&s->shares) > 0;
}

/* The groups go on receiving until they have what shared ports have received for them. */
void server_drain(struct server *s, uint64_t cycles) {
	uint64_t end = rte_rdtsc() + cycles;

	server_shares_close(&s->shares);
	while (server_shares_held_in(&s->shares) > 0 && rte_rdtsc() < end)
		drain_round(s);
	for (unsigned g = 0; g < s->group_count; g++)
		served_group_close(&s->groups[g]);
	while (server_busy(s) && rte_rdtsc() < end)
		drain_round(s);
	server_stop(s);
}

void server_stop(struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++)
		served_group_stop(&s->groups[g]);
	server_shares_stop(&s->shares);
}

/* What others hold or work on is taken from them first: packets are in the ports' rings, and sessions in
 * the crypto device. */
void server_free(struct server *s) {
	server_ports_free(&s->ports);
	if (s->crypto.ops != NULL)
		crypto_stop(&s->crypto);
	for (unsigned g = 0; g < s->group_count; g++)
		served_group_free(&s->groups[g]);
	free(s->groups);
	server_shares_free(&s->shares);
	if (s->crypto.ops != NULL)
		crypto_close(&s->crypto);
	server_pools_free(&s->pools);
	for (unsigned w = 0; w < s->worker_count; w++)
		worker_free(&s->workers[w]);
	free(s->workers);
	memset(s, 0, sizeof(*s));
}
