/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/endpoint/health.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void health_check(struct health *h, const struct server *s, uint64_t now) {
	uint64_t passed = RTE_MIN(now - h->checked, HEALTH_STEP_NS);

	h->checked = now;
	for (unsigned i = 0; i < s->worker_count; i++) {
		struct health_worker *seen = &h->workers[i];
		uint64_t rounds = __atomic_load_n(&s->workers[i].rounds, __ATOMIC_RELAXED);

		seen->stalled_ns = rounds != seen->rounds ? 0 : seen->stalled_ns + passed;
		seen->rounds = rounds;
	}
}

bool health_live(const struct health *h, const struct server *s, char why[HEALTH_LINE]) {
	for (unsigned i = 0; i < s->worker_count; i++) {
		uint64_t still = h->workers[i].stalled_ns;

		if (still < HEALTH_STALL_NS)
			continue;
		snprintf(why, HEALTH_LINE,
			 "the worker on core %u has made no round for %" PRIu64 " s",
			 s->layout.cores[i], still / 1000000000);
		return false;
	}
	return true;
}

/* The control port is optional. */
static bool group_has_links(const struct server *s, unsigned group, char why[HEALTH_LINE]) {
	static const enum device_role roles[] = {DEVICE_NETWORK, DEVICE_RPHY};
	unsigned id = (unsigned)s->groups[group].sg->id;

	for (size_t r = 0; r < RTE_DIM(roles); r++) {
		const struct server_port *port = server_port_of(&s->ports, group, roles[r]);
		const char *device = port != NULL && port->device != NULL ? port->device : "";

		if (port != NULL && port->open && port->state == SERVER_PORT_UP)
			continue;
		snprintf(why, HEALTH_LINE, "service group %u: %s port %.*s: %s", id,
			 device_role_title(roles[r]), (int)strcspn(device, ","), device,
			 port == NULL || (!port->open && port->state != SERVER_PORT_GONE)
				 ? "not open"
			 : port->state == SERVER_PORT_GONE ? "device removed"
							   : "link down");
		return false;
	}
	return true;
}

static bool groups_receive(const struct server *s, char why[HEALTH_LINE]) {
	unsigned drained = 0, receiving = 0;

	for (unsigned g = 0; g < s->group_count; g++) {
		if (!s->groups[g].in_service)
			continue;
		if (s->groups[g].drained) {
			drained++;
			continue;
		}
		receiving++;
		if (!group_has_links(s, g, why))
			return false;
	}
	if (receiving == 0)
		snprintf(why, HEALTH_LINE, "%s",
			 drained > 0 ? "all service groups are drained" : "no service group");
	return receiving > 0;
}

bool health_ready(const struct health *h, struct server *s, char why[HEALTH_LINE]) {
	bool ready;

	if (!health_live(h, s, why))
		return false;
	pthread_rwlock_rdlock(&s->lock);
	ready = groups_receive(s, why);
	pthread_rwlock_unlock(&s->lock);
	return ready;
}
