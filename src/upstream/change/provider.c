/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/change/provider.h"

#include "upstream/change/internal.h"

#define RECORD_NS 160 /* cost of a flow or a modem */

static void flow_apply(struct us_flow *f, void *const schedules[US_GENERATIONS]) {
	for (unsigned g = 0; g < US_GENERATIONS; g++) {
		if (f->keys[g].schedule != NULL)
			f->keys[g].schedule = schedules[g];
	}
}

static bool queue_empties(void *change, struct change_cursor *cursor) {
	struct us_provider_change *c = change;

	(void)cursor;
	c->u->extract.paused = true;
	return c->u->r.crypto->pending == 0;
}

static bool modem_apply(void *change, struct change_cursor *cursor) {
	struct us_provider_change *c = change;
	struct us_tables *t = &c->u->tables;
	struct us_modem_data *modem_data = t->slots.modem_data[cursor->at];
	void *const *schedules = &c->schedules[(size_t)US_GENERATIONS * cursor->at];

	cursor->left -= RECORD_NS;
	if (modem_data == NULL)
		return true;
	for (uint32_t f = 0; f < modem_data->flow_count; f++)
		flow_apply(&t->flows[modem_data->flows[f].flow], schedules);
	for (unsigned g = 0; g < US_GENERATIONS; g++) {
		if (modem_data->schedules[g] != NULL)
			modem_data->schedules[g] = schedules[g];
	}
	cursor->left -= (int)modem_data->flow_count * RECORD_NS;
	return true;
}

CHANGE_COUNT(modems, struct us_provider_change, u->tables.modem_count)

bool us_provider_change(void *change) {
	static const struct change_phase phases[] = {
		{.step = queue_empties},
		{.step = modem_apply, .count = modems},
	};
	struct us_provider_change *c = change;

	if (!change_run(&c->cursor, phases, RTE_DIM(phases), c, US_STEP_NS))
		return false;
	c->u->r.crypto = c->queue;
	c->u->extract.paused = false;
	return true;
}
