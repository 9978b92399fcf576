/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/change/provider.h"

#define STEP_FLOWS 256

static unsigned modem_take(const struct ds_provider_change *c, size_t m) {
	const struct ds_tables *t = &c->d->tables;
	size_t flows = c->sg->modems[m].service_flow_count;

	for (size_t f = 0; f < flows; f++)
		t->flows[ds_modem_flows(t, (uint32_t)m)[f]].key.schedule = c->schedules[m];
	return (unsigned)flows + 1;
}

bool ds_provider_change(void *change) {
	struct ds_provider_change *c = change;
	struct ds_lower *l = &c->d->lower;

	l->takes_nothing = true;
	if (l->crypto->held > 0)
		return false;
	for (unsigned n = 0; c->at < c->sg->modem_count; c->at++) {
		if (n >= STEP_FLOWS)
			return false;
		n += modem_is_there(&c->sg->modems[c->at]) ? modem_take(c, c->at) : 1;
	}
	l->crypto = c->queue;
	l->takes_nothing = false;
	return true;
}
