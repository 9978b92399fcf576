/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applies a change, on the worker between two rounds.
 *
 * Records of flows and modems are complete before the keys that lead packets to them. Removed keys
 * are deleted before new ones are added, so that all fit; a key that gets another owner is
 * overwritten. Pending packets of removed objects are dropped last, when no packet can reach these
 * any more.
 */
#include <rte_hash.h>

#include "upstream/change/internal.h"

/* cost of setting a cluster of a flow in the upstream scheduler, without its SIDs */
#define GRANT_NS 2000

static bool apply_group(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;

	if (c->group != NULL) {
		us_configure(c->u, c->group);
		cursor->left -= US_RECORD_NS;
	}
	return true;
}

static bool apply_channel(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;

	c->u->tables.channels[c->channels[cursor->at].channel] = c->channels[cursor->at].next;
	cursor->left -= US_RECORD_NS;
	return true;
}

/* Records of new flows are already complete. */
static bool apply_modem(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;
	const struct us_modem_plan *p = &c->modems[cursor->at];
	struct us_modem *m = &c->u->tables.modems[p->modem];
	uint64_t control_at;

	cursor->left -= US_RECORD_NS;
	if (p->modem_data == NULL)
		return true; /* a removed modem: packets in queues need its record */
	control_at = m->control_at;
	*m = p->record;
	m->control_at = control_at;
	for (uint32_t f = 0; f < p->flow_count; f++) {
		if (p->flows[f].is_new)
			continue;
		us_flow_put(&c->u->tables, &p->flows[f], &p->keys);
		cursor->left -= 2 * US_RECORD_NS;
	}
	return true;
}

/* Deletes a removed key. A key that gets another owner is not in the list. */
static bool entry_delete(const struct us_hash_update *net, struct change_cursor *cursor) {
	rte_hash_del_key(net->hash, &net->to_delete.list[cursor->at].key);
	cursor->left -= 3 * US_RECORD_NS;
	return true;
}

/* Cannot fail, as the hash tables have the capacity for all keys that us_change_begin() accepts. */
static bool entry_add(const struct us_hash_update *net, struct change_cursor *cursor) {
	const struct us_entry *entry = &net->to_set.list[cursor->at];

	RTE_VERIFY(rte_hash_add_key_data(net->hash, &entry->key, (void *)(uintptr_t)entry->slot) ==
		   0);
	cursor->left -= 3 * US_RECORD_NS;
	return true;
}

static bool close_sid(void *change, struct change_cursor *cursor) {
	return entry_delete(&((struct us_change *)change)->sids, cursor);
}

static bool open_sid(void *change, struct change_cursor *cursor) {
	return entry_add(&((struct us_change *)change)->sids, cursor);
}

static bool close_session(void *change, struct change_cursor *cursor) {
	return entry_delete(&((struct us_change *)change)->sessions, cursor);
}

static bool open_session(void *change, struct change_cursor *cursor) {
	return entry_add(&((struct us_change *)change)->sessions, cursor);
}

static bool empty_session(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;
	struct us_session *s = &c->u->tables.sessions[c->old_sessions.slots[cursor->at]];

	for (; c->part < US_PSP_FLOWS; c->part++) {
		cursor->left -= US_RECORD_NS;
		if (!us_psp_flow_remove(&c->u->uepi, &s->flows[c->part], &cursor->left))
			return false;
	}
	c->part = 0;
	return true;
}

static bool empty_stream(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;

	cursor->left -= US_RECORD_NS;
	return us_segments_remove(&c->u->reassemble,
				  &c->u->tables.streams[c->old_streams.slots[cursor->at]],
				  &cursor->left);
}

static bool remove_grants(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;

	us_grant_set_flow(&c->u->grant, c->old_flows.slots[cursor->at], NULL, 0);
	cursor->left -= GRANT_NS;
	return true;
}

static uint32_t removed_grants(const void *change) {
	const struct us_change *c = change;

	return upstream_grants(c->u) ? c->old_flows.count : 0;
}

/* All flows release their SIDs and guarantees before one is set, as flows may exchange them in a
 * cycle. */
static bool release_grants(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;

	us_grant_release_flow(&c->u->grant, c->grants.list[cursor->at].slot);
	cursor->left -= GRANT_NS;
	return true;
}

static bool set_grants(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;
	const struct us_grant_plan *p = &c->grants.list[cursor->at];

	us_grant_set_flow(&c->u->grant, p->slot, p->flow, p->unit);
	cursor->left -=
		GRANT_NS * (int)p->flow->settings.cluster_count + US_RECORD_NS * (int)p->sids;
	return true;
}

CHANGE_COUNT(channels, struct us_change, channel_count)
CHANGE_COUNT(grants, struct us_change, grants.count)
CHANGE_COUNT(closed_sids, struct us_change, sids.to_delete.count)
CHANGE_COUNT(opened_sids, struct us_change, sids.to_set.count)
CHANGE_COUNT(closed_sessions, struct us_change, sessions.to_delete.count)
CHANGE_COUNT(opened_sessions, struct us_change, sessions.to_set.count)
CHANGE_COUNT(old_sessions, struct us_change, old_sessions.count)

bool us_change_apply(void *change) {
	static const struct change_phase phases[] = {
		{.step = apply_group},
		{.step = apply_channel, .count = channels},
		{.step = apply_modem, .count = us_changed_modems},
		{.step = remove_grants, .count = removed_grants},
		{.step = release_grants, .count = grants},
		{.step = set_grants, .count = grants},
		{.step = close_sid, .count = closed_sids},
		{.step = open_sid, .count = opened_sids},
		{.step = close_session, .count = closed_sessions},
		{.step = open_session, .count = opened_sessions},
		{.step = empty_session, .count = old_sessions},
		{.step = empty_stream, .count = us_old_streams},
	};
	struct us_change *c = change;
	bool done = change_run(&c->apply, phases, RTE_DIM(phases), c, US_STEP_NS);

	change_state_follow(&c->state, done);
	return done;
}
