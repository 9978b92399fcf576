/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "crypto/cryptodev.h"
#include "platform/large_pages.h"
#include "platform/log/log.h"
#include "platform/pool.h"
#include "server/groups.h"
#include "server/running.h"
#include "server/steering.h"

#define CRYPTO_IN_FLIGHT 1024 /* more than one direction of a group has in flight */

const struct server_config *single_group_config(struct single_group *l,
						const struct service_group *sg) {
	l->group = *sg;
	l->config = (struct server_config){
		.name = sg->name,
		.main_core = sg->threads.main_core,
		.power = power_config_default(),
		.groups = &l->group,
		.group_count = 1,
	};
	return &l->config;
}

static int workers_create(struct server *s) {
	size_t size = s->layout.worker_count * sizeof(*s->workers);

	s->workers = aligned_alloc(RTE_CACHE_LINE_SIZE, size);
	if (s->workers == NULL) {
		log_error("memory", LOG_NO_FIELDS, "no memory for %u workers",
			  s->layout.worker_count);
		return -1;
	}
	memset(s->workers, 0, size);
	s->worker_count = s->layout.worker_count;
	return server_quiet_create(s);
}

static int groups_create(struct server *s) {
	static unsigned made; /* DPDK wants unique names */
	char name[RTE_RING_NAMESIZE];

	s->group_max = (unsigned)server_config_max_groups(s->config);
	s->groups = calloc(s->group_max, sizeof(*s->groups));
	snprintf(name, sizeof(name), "nothing_%u", made++);
	s->empty_ring = rte_ring_create(name, 1, SOCKET_ID_ANY, RING_F_EXACT_SZ);
	if (s->groups != NULL && s->empty_ring != NULL)
		return 0;
	log_error("memory", LOG_NO_FIELDS, "no memory for %u service groups", s->group_max);
	return -1;
}

int server_create(struct server *s, const struct server_config *config) {
	s->config = config;
	s->power = config->power;
	s->measures.cycles.on = true;
	pthread_rwlock_init(&s->lock, NULL);
	if (layout_make(&s->layout, config) != 0 || workers_create(s) != 0)
		return -1;
	s->planned = s->layout;
	if (s->ports.count == 0)
		server_ports_separate(&s->ports, config);
	if (groups_create(s) != 0)
		return -1;
	return server_pools_create(&s->pools, config, &s->ports);
}

static bool has_device_name(const struct server_config *config) {
	for (size_t g = 0; g < config->group_count; g++) {
		if (config->groups[g].crypto.device == NULL)
			return false;
	}
	return true;
}

/*
 * Opens the default provider even if all groups name a device: groups that are added may need it,
 * and the start shows whether it works. Groups that name a device do without it if it is
 * unavailable.
 */
static int crypto_begin(struct server *s) {
	const struct crypto_providers_options options = {
		.isa = s->crypto_isa,
		.queues = s->group_max * 2,
		.in_flight = CRYPTO_IN_FLIGHT,
		.timeout_ms = CRYPTO_TIMEOUT_MS,
		.socket = large_pages_socket(),
	};

	crypto_providers_init(&s->crypto, &options);
	s->no_crypto =
		crypto_providers_find(&s->crypto, NULL) == NULL && !has_device_name(s->config);
	return s->no_crypto ? -1 : 0;
}

static bool wants_linear(const struct server *s) {
	for (size_t g = 0; g < s->config->group_count; g++) {
		if (server_port_needs_linear(&s->config->groups[g],
					     server_port_of(&s->ports, g, DEVICE_RPHY)))
			return true;
	}
	return false;
}

static int shares_create(struct server *s) {
	struct shares_context site = server_shares_context(s);

	site.groups = group_slots_of(s->config);
	return server_shares_create(&s->shares, &site);
}

/* Names the ports by the groups' own copies, so that the configuration need not live on. */
static void ports_of_groups(struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++) {
		for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
			unsigned index = s->ports.of[g][role];

			if (index != SERVER_NO_PORT && s->ports.list[index].device != NULL)
				s->ports.list[index].device =
					device_port(s->groups[g].sg, role)->device;
		}
	}
}

int server_serve(struct server *s) {
	struct shares_context site;

	if (crypto_begin(s) != 0 || (wants_linear(s) && server_pools_linear(&s->pools) != 0) ||
	    server_steering_probe(s) != 0 || shares_create(s) != 0)
		return -1;
	for (unsigned p = 0; p < s->ports.count; p++)
		s->ports.list[p].counted = server_port_descriptors(&s->ports.list[p]);
	for (unsigned g = 0; g < s->config->group_count; g++) {
		s->groups[g].needs = server_group_needs(s->config, &s->config->groups[g]);
		s->group_count++; /* also for a partly created group */
		if (server_group_make(s, g, &s->config->groups[g]) != 0 ||
		    served_group_reserve(&s->groups[g]) != 0)
			return -1;
		served_group_enter(&s->groups[g]);
		s->groups[g].in_service = true;
		s->keys_seconds += s->groups[g].keys_seconds;
	}
	s->measures.cycles.since = server_now(s);
	ports_of_groups(s);
	server_name_workers(s);
	site = server_shares_context(s);
	return server_shares_send(&s->shares, &site);
}

uint64_t server_pending(const struct server *s) {
	uint64_t pending = 0;

	for (unsigned g = 0; g < s->group_count; g++)
		pending += !s->groups[g].in_service ? 0 : served_group_pending(&s->groups[g]);
	return pending + server_shares_pending_in(&s->shares) +
	       server_shares_pending_out(&s->shares);
}

bool server_balanced(const struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service && !served_group_balanced(&s->groups[g]))
			return false;
	}
	return server_shares_balanced(&s->shares);
}

static void drain_round(struct server *s) {
	for (unsigned w = 0; w < s->worker_count; w++)
		clock_tick(&s->workers[w].clock);
	server_shares_run_misdirected(&s->shares);
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service)
			served_group_drain_round(&s->groups[g]);
	}
	server_shares_run_sending(&s->shares);
}

static bool server_busy(const struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service && served_group_busy(&s->groups[g]))
			return true;
	}
	return server_shares_pending_out(&s->shares) > 0;
}

/* Lets drained groups receive the packets that wait for them. */
static void groups_resume(struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (!s->groups[g].in_service || !s->groups[g].drained)
			continue;
		s->groups[g].drained = false;
		server_group_connect(s, g);
	}
}

/* Groups receive until they have all that shared ports received for them. */
void server_drain(struct server *s, uint64_t cycles) {
	uint64_t end = rte_rdtsc() + cycles;

	groups_resume(s);
	server_shares_close(&s->shares);
	while (server_shares_pending_in(&s->shares) > 0 && rte_rdtsc() < end)
		drain_round(s);
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service)
			served_group_close(&s->groups[g]);
	}
	while (server_busy(s) && rte_rdtsc() < end)
		drain_round(s);
	server_stop(s);
}

void server_stop(struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service)
			served_group_stop(&s->groups[g]);
	}
	server_shares_stop(&s->shares);
}

/* Ports are closed first, since their descriptor rings hold packets. */
void server_free(struct server *s) {
	server_steering_free(s);
	server_ports_free(&s->ports);
	for (unsigned g = 0; g < s->group_count; g++)
		served_group_free(&s->groups[g]);
	free(s->groups);
	rte_ring_free(s->empty_ring);
	server_shares_free(&s->shares);
	crypto_providers_close(&s->crypto);
	server_pools_free(&s->pools);
	for (unsigned w = 0; w < s->worker_count; w++)
		worker_free(&s->workers[w]);
	free(s->workers);
	server_quiet_free(s);
	unsaved_clear(&s->unsaved);
	if (s->config != NULL)
		pthread_rwlock_destroy(&s->lock);
	memset(s, 0, sizeof(*s));
}
