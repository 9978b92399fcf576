/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the worker of the lower MAC does of a change, between two of its rounds: then all that it has in hand is
 * in the ring, in the crypto provider, in open DEPI frames or with the port.
 */
#include "downstream/change/internal.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

#define WRITE_NS 313 /* of a record: 128 in a step, with those of the last modem */
#define CHANNEL_NS 5000

/* What is open goes out as it is. */
static void send_open(struct ds_lower *l, uint32_t channel) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	pkts[0] = depi_close_channel(&l->depi, channel, &l->counters);
	if (pkts[0] == NULL)
		return;
	count(&l->counters, COUNTER_DEPI_FLUSHED, 1);
	ds_transmit(l, pkts, 1);
}

static bool write_channel(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_channel_set *set = &c->channels.list[cursor->at];

	if (!set->written)
		return true;
	send_open(&c->d->lower, set->slot);
	depi_channel_set(&c->d->lower.depi, c->sg, set->slot, &set->to, set->stays);
	cursor->left -= CHANNEL_NS;
	return true;
}

/* All records of a modem in one step, so that a modem's key is never of two generations. */
static bool write_flows(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_flow_write *w = &c->writes.list[cursor->at];
	const struct ds_flow_write *end = &c->writes.list[c->writes.count];

	for (;; w++, cursor->at++) {
		c->d->tables.flows[w->flow] = w->to;
		cursor->left -= WRITE_NS;
		if (w + 1 == end || w[1].modem != w->modem)
			return true;
	}
}

CHANGE_COUNT(writes, struct ds_change, writes.count)

bool ds_change_lower(void *change) {
	static const struct change_phase phases[] = {
		{.step = write_channel, .count = ds_channels},
		{.step = write_flows, .count = writes},
	};
	struct ds_change *c = change;
	bool done = change_run(&c->lower, phases, RTE_DIM(phases), c, CHANGE_STEP_NS);

	change_state_follow(&c->lower_state, done);
	return done;
}

static bool mark_ring(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_lower *l = &c->d->lower;

	(void)cursor;
	c->mark = l->taken_over + rte_ring_count(l->from_upper);
	return true;
}

static bool ring_passed(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_lower *l = &c->d->lower;

	(void)cursor;
	if (l->taken_over < c->mark)
		return false;
	c->mark = l->submitted; /* with all that was taken over */
	return true;
}

/* Frames that the crypto provider has given back; it keeps their order. */
static uint64_t collected(const struct ds_lower *l) {
	return l->submitted - l->crypto->held;
}

static bool crypto_passed(void *change, struct change_cursor *cursor) {
	const struct ds_change *c = change;

	(void)cursor;
	return collected(&c->d->lower) >= c->mark;
}

static bool send_channel(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;

	send_open(&c->d->lower, c->leaving[LIVE_CHANNEL].list[cursor->at]);
	cursor->left -= CHANNEL_NS;
	return true;
}

bool ds_change_passed(void *change) {
	static const struct change_phase phases[] = {
		{.step = mark_ring},
		{.step = ring_passed},
		{.step = crypto_passed},
		{.step = send_channel, .count = ds_leaving_channels},
	};
	struct ds_change *c = change;

	return change_run(&c->passed, phases, RTE_DIM(phases), c, CHANGE_STEP_NS);
}
