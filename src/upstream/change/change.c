/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins and ends changes, on the control thread. */
#include "upstream/change/change.h"

#include <stdio.h>
#include <stdlib.h>

#include "upstream/change/internal.h"

static bool plan_all(struct us_change *c, const struct live_changes *changes,
		     void *const *schedules) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *k = &changes->list[i];
		bool good = true;

		if (k->object == LIVE_MODEM) {
			good = us_plan_modem(c, k, schedules);
			if (schedules != NULL && k->next != NULL)
				schedules += US_GENERATIONS;
		} else if (k->object == LIVE_UPSTREAM_CHANNEL) {
			good = us_plan_channel(c, k);
		} else if (k->object == LIVE_CHANNEL) {
			good = us_plan_carrier(c, k);
		} else if (k->object == LIVE_GROUP && k->next != NULL) {
			good = us_plan_group(c, k->group);
		}
		if (!good)
			return false;
	}
	return true;
}

/* Checks that the SIDs fit and plans the updates of both hash tables. */
static bool keys_settle(struct us_change *c) {
	struct us_tables *t = &c->u->tables;

	c->sids.hash = t->by_sid;
	c->sessions.hash = t->by_session;
	c->sids_after = t->slots.sids + c->sids.added.count - c->sids.removed.count;
	if (c->sids_after > t->slots.sid_capacity)
		return us_change_refuse(c,
					"there is capacity for %u SIDs, found %u after the "
					"change",
					t->slots.sid_capacity, c->sids_after);
	return us_hash_update_plan(c, &c->sids, "channel and SID") &&
	       us_hash_update_plan(c, &c->sessions, "session");
}

/* Undoes a change that the worker has not seen. */
static void abandon(struct us_change *c) {
	struct us_tables *t = &c->u->tables;

	for (uint32_t m = c->modem_count; m > 0; m--) {
		const struct us_modem_plan *p = &c->modems[m - 1];

		for (uint32_t f = p->flow_count; f > 0; f--)
			us_flow_plan_undo(t, &p->flows[f - 1]);
		free(p->modem_data);
		t->slots.reserved[p->modem] = false;
	}
	for (uint32_t s = c->new_sessions.count; s > 0; s--)
		us_slot_free(&t->slots.sessions, c->new_sessions.slots[s - 1]);
	t->slots.unapplied = NULL;
}

/* Updates the slots of the control thread to the change, which the worker has applied. */
static void settle(struct us_change *c) {
	struct us_slots *p = &c->u->tables.slots;

	for (uint32_t m = 0; m < c->modem_count; m++) {
		const struct us_modem_plan *k = &c->modems[m];

		p->modem_data[k->modem] = k->modem_data;
		p->reserved[k->modem] =
			k->modem_data == NULL; /* until the modem's packets have left */
	}
	p->sids = c->sids_after;
	p->unapplied = NULL;
	c->settled = true;
}

/* Whether the previous change is in effect, so that another one may begin. */
static bool may_begin(struct us_change *c) {
	struct us_change *before = c->u->tables.slots.unapplied;

	if (before == NULL)
		return true;
	if (change_state_of(&before->state) != CHANGE_RETIRING)
		return us_change_refuse(c, "another change is not applied yet");
	settle(before);
	return true;
}

static struct us_change *change_alloc(struct upstream *u, size_t objects, char *why) {
	struct arena *memory = arena_new();
	struct us_change *c = NULL;

	if (memory != NULL)
		c = arena_alloc(memory, 1, sizeof(*c));
	if (c != NULL) {
		c->channels = arena_alloc(memory, objects, sizeof(c->channels[0]));
		c->modems = arena_alloc(memory, objects, sizeof(c->modems[0]));
	}
	if (c == NULL || c->channels == NULL || c->modems == NULL) {
		snprintf(why, LIVE_LINE, "no memory for a change of the upstream");
		arena_free(memory);
		return NULL;
	}
	c->u = u;
	c->memory = memory;
	c->why = why;
	c->number = u->tables.slots.changes + 1;
	return c;
}

struct us_change *us_change_begin(struct upstream *u, const struct service_group *sg,
				  const struct live_changes *changes, void *const *schedules,
				  char why[LIVE_LINE]) {
	struct us_change *c = change_alloc(u, changes->count, why);

	if (c == NULL)
		return NULL;
	c->present = sg;
	if (!may_begin(c)) {
		arena_free(c->memory);
		return NULL;
	}
	u->tables.slots.unapplied = c;
	if (!plan_all(c, changes, schedules) || !us_plan_refused(c) || !keys_settle(c)) {
		abandon(c);
		arena_free(c->memory);
		return NULL;
	}
	u->tables.slots.changes++;
	c->present = NULL;
	return c;
}

/* Frees the slots. No packet of the removed objects is left. */
static void free_slots(struct us_change *c) {
	struct us_tables *t = &c->u->tables;

	for (uint32_t s = 0; s < c->old_sessions.count; s++)
		us_slot_free(&t->slots.sessions, c->old_sessions.slots[s]);
	for (uint32_t s = 0; s < c->old_streams.count; s++)
		us_slot_free(&t->slots.streams, c->old_streams.slots[s]);
	for (uint32_t f = 0; f < c->old_flows.count; f++)
		us_slot_free(&t->slots.flows, c->old_flows.slots[f]);
	for (uint32_t m = 0; m < c->modem_count; m++) {
		const struct us_modem_plan *p = &c->modems[m];

		if (p->modem_data == NULL) {
			t->modems[p->modem] = (struct us_modem){0};
			us_requests_clear(&c->u->requests, p->modem);
			t->slots.reserved[p->modem] = false;
		}
		free(p->before);
	}
}

void us_change_end(struct us_change *c) {
	if (c == NULL)
		return;
	RTE_VERIFY(change_state_of(&c->state) != CHANGE_APPLYING);
	if (c->state == CHANGE_PREPARED) {
		abandon(c);
	} else {
		if (!c->settled)
			settle(c);
		free_slots(c);
	}
	arena_free(c->memory);
}
