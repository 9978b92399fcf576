/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/change/provider.h"

#define RECORD_NS 160 /* per flow or modem */

static bool queue_empties(void *change, struct change_cursor *cursor) {
	struct ds_provider_change *c = change;

	(void)cursor;
	c->d->lower.paused = true;
	return c->d->lower.crypto->pending == 0;
}

static bool modem_apply(void *change, struct change_cursor *cursor) {
	struct ds_provider_change *c = change;
	const struct ds_tables *t = &c->d->tables;
	const struct modem *m = &c->sg->modems[cursor->at];
	uint32_t flows = modem_exists(m) ? (uint32_t)m->service_flow_count : 0;

	for (uint32_t f = 0; f < flows; f++)
		t->flows[ds_modem_flows(t, cursor->at)[f]].key.schedule = c->schedules[cursor->at];
	cursor->left -= (int)(flows + 1) * RECORD_NS;
	return true;
}

CHANGE_COUNT(modems, struct ds_provider_change, sg->modem_count)

bool ds_provider_change(void *change) {
	static const struct change_phase phases[] = {
		{.step = queue_empties},
		{.step = modem_apply, .count = modems},
	};
	struct ds_provider_change *c = change;
	struct ds_lower *l = &c->d->lower;

	if (!change_run(&c->cursor, phases, RTE_DIM(phases), c, CHANGE_STEP_NS))
		return false;
	l->crypto = c->queue;
	l->paused = false;
	return true;
}
