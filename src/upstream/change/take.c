/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking over, by the worker between two rounds. What flows and modems get comes before the keys by which packets
 * are told to be theirs. Keys that nobody has any more go before others come, which all fit then; a key that
 * changes hands is overwritten. What waits of those that go is dropped when nothing can come to it any more.
 */
#include <rte_hash.h>

#include "upstream/change/internal.h"

#define GRANT_BUDGET 20 /* the upstream scheduler is told of a cluster of a flow; beside its SIDs */

struct take_phase {
	/* one of the list; returns false where the budget did not do */
	bool (*step)(struct us_change *c, uint32_t at);
	uint32_t (*count)(const struct us_change *c);
};

static bool take_group(struct us_change *c, uint32_t at) {
	(void)at;
	us_configure(c->u, c->group);
	c->budget--;
	return true;
}

static uint32_t groups(const struct us_change *c) {
	return c->group != NULL;
}

static bool take_channel(struct us_change *c, uint32_t at) {
	c->u->tables.channels[c->channels[at].channel] = c->channels[at].next;
	c->budget--;
	return true;
}

static uint32_t channels(const struct us_change *c) {
	return c->channel_count;
}

/* Flows that come have their records already. */
static bool take_modem(struct us_change *c, uint32_t at) {
	const struct us_modem_plan *p = &c->modems[at];
	struct us_modem *m = &c->u->tables.modems[p->modem];
	uint64_t control_at;

	c->budget--;
	if (p->own == NULL)
		return true; /* what is on its way needs its record */
	control_at = m->control_at;
	*m = p->record;
	m->control_at = control_at;
	for (uint32_t f = 0; f < p->flow_count; f++) {
		if (p->flows[f].comes)
			continue;
		us_flow_put(&c->u->tables, &p->flows[f], &p->keys);
		c->budget -= 2;
	}
	return true;
}

static uint32_t modems(const struct us_change *c) {
	return c->modem_count;
}

/* A key that another one gets is not among these: it is overwritten. */
static void way_close(struct us_change *c, struct rte_hash *hash, const struct us_way *way) {
	rte_hash_del_key(hash, &way->key);
	c->budget -= 3;
}

/* The hash tables are made for as many keys as us_change_begin() admits, so this cannot fail. */
static void way_open(struct us_change *c, struct rte_hash *hash, const struct us_way *way) {
	RTE_VERIFY(rte_hash_add_key_data(hash, &way->key, (void *)(uintptr_t)way->place) == 0);
	c->budget -= 3;
}

static bool close_sid(struct us_change *c, uint32_t at) {
	way_close(c, c->u->tables.by_sid, &c->sids.closed.list[at]);
	return true;
}

static uint32_t closed_sids(const struct us_change *c) {
	return c->sids.closed.count;
}

static bool open_sid(struct us_change *c, uint32_t at) {
	way_open(c, c->u->tables.by_sid, &c->sids.opened.list[at]);
	return true;
}

static uint32_t opened_sids(const struct us_change *c) {
	return c->sids.opened.count;
}

static bool close_session(struct us_change *c, uint32_t at) {
	way_close(c, c->u->tables.by_session, &c->sessions.closed.list[at]);
	return true;
}

static uint32_t closed_sessions(const struct us_change *c) {
	return c->sessions.closed.count;
}

static bool open_session(struct us_change *c, uint32_t at) {
	way_open(c, c->u->tables.by_session, &c->sessions.opened.list[at]);
	return true;
}

static uint32_t opened_sessions(const struct us_change *c) {
	return c->sessions.opened.count;
}

static bool empty_session(struct us_change *c, uint32_t at) {
	struct us_session *s = &c->u->tables.sessions[c->old_sessions.places[at]];

	for (; c->part < US_PSP_FLOWS; c->part++) {
		c->budget--;
		if (!us_psp_flow_remove(c->u, &s->flows[c->part], &c->budget))
			return false;
	}
	c->part = 0;
	return true;
}

static uint32_t old_sessions(const struct us_change *c) {
	return c->old_sessions.count;
}

static bool empty_stream(struct us_change *c, uint32_t at) {
	c->budget--;
	return us_segments_remove(c->u, &c->u->tables.streams[c->old_streams.places[at]],
				  &c->budget);
}

static uint32_t old_streams(const struct us_change *c) {
	return c->old_streams.count;
}

static bool leave_grants(struct us_change *c, uint32_t at) {
	us_grant_set_flow(c->u, c->old_flows.places[at], NULL, 0);
	c->budget -= GRANT_BUDGET;
	return true;
}

static uint32_t left_grants(const struct us_change *c) {
	return upstream_grants(c->u) ? c->old_flows.count : 0;
}

/* All give up what they have before one enters: SIDs and promises may pass from one to another, in a circle too. */
static bool lift_grants(struct us_change *c, uint32_t at) {
	us_grant_lift_flow(c->u, c->grants.list[at].place);
	c->budget -= GRANT_BUDGET;
	return true;
}

static bool enter_grants(struct us_change *c, uint32_t at) {
	const struct us_grant_plan *p = &c->grants.list[at];

	us_grant_set_flow(c->u, p->place, p->flow, p->unit);
	c->budget -= GRANT_BUDGET * (int)p->flow->settings.cluster_count + (int)p->sids;
	return true;
}

static uint32_t entered_grants(const struct us_change *c) {
	return c->grants.count;
}

bool us_change_take(void *change) {
	static const struct take_phase phases[] = {
		{take_group, groups},
		{take_channel, channels},
		{take_modem, modems},
		{leave_grants, left_grants},
		{lift_grants, entered_grants},
		{enter_grants, entered_grants},
		{close_sid, closed_sids},
		{open_sid, opened_sids},
		{close_session, closed_sessions},
		{open_session, opened_sessions},
		{empty_session, old_sessions},
		{empty_stream, old_streams},
	};
	struct us_change *c = change;

	c->budget = US_STEP_BUDGET;
	for (; c->phase < RTE_DIM(phases); c->phase++, c->at = 0) {
		for (; c->at < phases[c->phase].count(c); c->at++) {
			if (c->budget <= 0 || !phases[c->phase].step(c, c->at))
				return false;
		}
	}
	c->phase = 0;
	__atomic_store_n(&c->state, US_CHANGE_TAKEN, __ATOMIC_RELEASE);
	return true;
}
