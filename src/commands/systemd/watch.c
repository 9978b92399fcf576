/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/systemd/watch.h"

#include <inttypes.h>
#include <stdio.h>

#include <rte_cycles.h>

#include "platform/log/log.h"

#define GROUPS_TEXT 160 /* bytes of a list of group IDs */

void watch_open(struct watch *w, const struct server *s, uint64_t now) {
	*w = (struct watch){.server = s, .checked = now, .long_rounds_checked = now};
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++)
		w->ports[p] = SERVER_PORT_UP;
}

static uint64_t rounds_of(const struct worker *k) {
	return __atomic_load_n(&k->rounds, __ATOMIC_RELAXED);
}

static void log_stall(const struct watch *w, unsigned worker, bool stalled) {
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
	uint64_t passed = RTE_MIN(now - w->checked, WATCH_STEP_NS);

	w->checked = now;
	for (unsigned i = 0; i < w->server->worker_count; i++) {
		struct watched_worker *seen = &w->workers[i];
		uint64_t rounds = rounds_of(&w->server->workers[i]);
		bool progressed = rounds != seen->rounds, stalled;

		seen->rounds = rounds;
		seen->progressed |= progressed;
		seen->stalled_ns = progressed ? 0 : seen->stalled_ns + passed;
		stalled = seen->stalled_ns >= WATCH_STALL_NS;
		if (stalled != seen->stalled)
			log_stall(w, i, stalled);
		seen->stalled = stalled;
	}
}

bool watch_all_progressed(struct watch *w) {
	unsigned workers = w->server->worker_count;

	for (unsigned i = 0; i < workers; i++) {
		if (!w->workers[i].progressed)
			return false;
	}
	for (unsigned i = 0; i < workers; i++)
		w->workers[i].progressed = false;
	return true;
}

static void log_away(const struct server *s, unsigned worker, uint64_t times, uint64_t us) {
	unsigned core = s->layout.cores[worker];

	log_warning("worker",
		    LOG_FIELDS(LOG_NUMBER("core", core), LOG_NUMBER("times", times),
			       LOG_NUMBER("longest_us", us)),
		    "worker on core %u was kept from its work %" PRIu64 " times, for up to %" PRIu64
		    " us: something else runs there",
		    core, times, us);
}

void watch_long_rounds(struct watch *w, uint64_t now) {
	if (now - w->long_rounds_checked < WATCH_LONG_ROUND_REPORT_NS)
		return;
	w->long_rounds_checked = now;
	for (unsigned i = 0; i < w->server->worker_count; i++) {
		struct worker *k = &w->server->workers[i];
		uint64_t longest = worker_longest_read_control(k);
		uint64_t us = longest / RTE_MAX(rte_get_tsc_hz() / 1000000, (uint64_t)1);
		uint64_t times = __atomic_load_n(&k->descheduled, __ATOMIC_RELAXED);

		if (us >= WATCH_LONG_ROUND_US)
			log_away(w->server, i, times - w->workers[i].descheduled, us);
		w->workers[i].descheduled = times;
	}
}

/* The IDs of the service groups that use the port. */
static void groups_of(const struct server *s, unsigned port, char *text, size_t size) {
	size_t used = 0;

	text[0] = '\0';
	for (unsigned g = 0; g < s->group_count && used < size; g++) {
		if (s->groups[g].in_service && s->ports.of[g][s->ports.list[port].role] == port)
			used += (size_t)snprintf(text + used, size - used, "%s%u",
						 used > 0 ? ", " : "", s->groups[g].sg->id);
	}
}

static void log_removed_port(const struct server *s, unsigned index) {
	const struct server_port *port = &s->ports.list[index];
	const char *name = device_role_title(port->role);
	char groups[GROUPS_TEXT];

	groups_of(s, index, groups, sizeof(groups));
	log_error("port",
		  LOG_FIELDS(LOG_STRING("port", name), LOG_STRING("device", port->name),
			     LOG_STRING("service_groups", groups)),
		  "port %s: %s was removed: service groups without it: %s", name, port->name,
		  groups);
}

static void log_link(const struct server_port *port) {
	const char *name = device_role_title(port->role);

	if (port->state == SERVER_PORT_UP)
		log_info("port", LOG_FIELDS(LOG_STRING("port", name), LOG_NUMBER("id", port->id)),
			 "port %s: %s: link up", name, port->name);
	else
		log_warning("port",
			    LOG_FIELDS(LOG_STRING("port", name), LOG_NUMBER("id", port->id)),
			    "port %s: %s: link down", name, port->name);
}

/* The first call reports only ports that are not up. */
void watch_ports(struct watch *w) {
	const struct server *s = w->server;

	for (unsigned p = 0; p < s->ports.count; p++) {
		const struct server_port *port = &s->ports.list[p];
		enum server_port_state now = port->state;

		if (!port->open && now != SERVER_PORT_GONE)
			now = SERVER_PORT_UP; /* an unused port is not reported */
		if (now == w->ports[p])
			continue;
		w->ports[p] = now;
		if (now == SERVER_PORT_GONE)
			log_removed_port(s, p);
		else if (port->open)
			log_link(port);
	}
}
