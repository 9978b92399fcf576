/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/watch.h"

#include <inttypes.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "log/log.h"

void watch_open(struct watch *w, const struct server *s, uint64_t now) {
	*w = (struct watch){
		.server = s, .looked = now, .away_looked = now, .link_looked = now - WATCH_LINK_NS};
}

static uint64_t rounds_of(const struct worker *k) {
	return __atomic_load_n(&k->rounds, __ATOMIC_RELAXED);
}

static void stall_say(const struct watch *w, unsigned worker, bool stalled) {
	unsigned core = w->server->layout.cores[worker];

	if (stalled)
		log_error("worker", LOG_FIELDS(LOG_NUMBER("core", core)),
			  "worker on core %u (%s) has made no round for %" PRIu64 " s", core,
			  w->server->workers[worker].name, WATCH_STALL_NS / 1000000000);
	else
		log_notice("worker", LOG_FIELDS(LOG_NUMBER("core", core)),
			   "worker on core %u makes rounds again", core);
}

void watch_workers(struct watch *w, uint64_t now) {
	uint64_t passed = RTE_MIN(now - w->looked, WATCH_STEP_NS);

	w->looked = now;
	for (unsigned i = 0; i < w->server->worker_count; i++) {
		struct watched_worker *seen = &w->workers[i];
		uint64_t rounds = rounds_of(&w->server->workers[i]);
		bool moved = rounds != seen->rounds, stalled;

		seen->rounds = rounds;
		seen->moved |= moved;
		seen->still_ns = moved ? 0 : seen->still_ns + passed;
		stalled = seen->still_ns >= WATCH_STALL_NS;
		if (stalled != seen->stalled)
			stall_say(w, i, stalled);
		seen->stalled = stalled;
	}
}

bool watch_all_moved(struct watch *w) {
	unsigned workers = w->server->worker_count;

	for (unsigned i = 0; i < workers; i++) {
		if (!w->workers[i].moved)
			return false;
	}
	for (unsigned i = 0; i < workers; i++)
		w->workers[i].moved = false;
	return true;
}

static void away_say(const struct server *s, unsigned worker, uint64_t times, uint64_t us) {
	unsigned core = s->layout.cores[worker];

	log_warning("worker",
		    LOG_FIELDS(LOG_NUMBER("core", core), LOG_NUMBER("times", times),
			       LOG_NUMBER("longest_us", us)),
		    "worker on core %u was kept from its work %" PRIu64 " times, for up to %" PRIu64
		    " us: something else runs there",
		    core, times, us);
}

void watch_away(struct watch *w, uint64_t now) {
	if (now - w->away_looked < WATCH_AWAY_NS)
		return;
	w->away_looked = now;
	for (unsigned i = 0; i < w->server->worker_count; i++) {
		struct worker *k = &w->server->workers[i];
		uint64_t longest = worker_longest_watch(k);
		uint64_t us = longest / RTE_MAX(rte_get_tsc_hz() / 1000000, (uint64_t)1);
		uint64_t times = __atomic_load_n(&k->descheduled, __ATOMIC_RELAXED);

		if (us >= WATCH_AWAY_US)
			away_say(w->server, i, times - w->workers[i].descheduled, us);
		w->workers[i].descheduled = times;
	}
}

static void link_say(const struct server_port *port, bool up) {
	const char *name = server_port_name(port->role);
	const char *device = port->device != NULL ? port->device : "";
	int length = (int)strcspn(device, ",");

	if (up)
		log_info("port", LOG_FIELDS(LOG_STRING("port", name), LOG_NUMBER("id", port->id)),
			 "port %s: %.*s: link up", name, length, device);
	else
		log_warning("port",
			    LOG_FIELDS(LOG_STRING("port", name), LOG_NUMBER("id", port->id)),
			    "port %s: %.*s: link down", name, length, device);
}

/* At the first look it is told where it is down only. */
void watch_links(struct watch *w, uint64_t now) {
	if (now - w->link_looked < WATCH_LINK_NS)
		return;
	w->link_looked = now;
	for (unsigned p = 0; p < w->server->ports.count; p++) {
		const struct server_port *port = &w->server->ports.list[p];
		struct rte_eth_link link;
		enum link_state state;

		if (!port->open || rte_eth_link_get_nowait(port->id, &link) != 0)
			continue;
		state = link.link_status == RTE_ETH_LINK_UP ? LINK_UP : LINK_DOWN;
		if (state != w->links[port->id] &&
		    (state == LINK_DOWN || w->links[port->id] == LINK_DOWN))
			link_say(port, state == LINK_UP);
		w->links[port->id] = state;
	}
}
