/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/change/provider.h"

#define STEP_FLOWS 128

static void flow_take(struct us_flow *f, void *const schedules[US_GENERATIONS]) {
	for (unsigned g = 0; g < US_GENERATIONS; g++) {
		if (f->keys[g].schedule != NULL)
			f->keys[g].schedule = schedules[g];
	}
}

static unsigned modem_take(const struct us_provider_change *c, uint32_t m) {
	struct us_tables *t = &c->u->tables;
	struct us_own *own = t->places.own[m];
	void *const *schedules = &c->schedules[US_GENERATIONS * m];

	if (own == NULL)
		return 1;
	for (uint32_t f = 0; f < own->flow_count; f++)
		flow_take(&t->flows[own->flows[f].flow], schedules);
	for (unsigned g = 0; g < US_GENERATIONS; g++) {
		if (own->schedules[g] != NULL)
			own->schedules[g] = schedules[g];
	}
	return own->flow_count + 1;
}

bool us_provider_change(void *change) {
	struct us_provider_change *c = change;
	struct upstream *u = c->u;

	u->takes_nothing = true;
	if (u->r.crypto->held > 0)
		return false;
	for (unsigned n = 0; c->at < u->tables.modem_count; c->at++) {
		if (n >= STEP_FLOWS)
			return false;
		n += modem_take(c, c->at);
	}
	u->r.crypto = c->queue;
	u->takes_nothing = false;
	return true;
}
