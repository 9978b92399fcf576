/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of a change on the worker of the lower MAC, between two rounds. All of its packets are then
 * in the ring, in the crypto provider, in open DEPI frames or at the port. */
#include "downstream/change/internal.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

#define WRITE_NS 313 /* per record; 128 per step, and those of the last modem */
#define CHANNEL_NS 5000

/* Sends the channel's open frame. */
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
	depi_channel_set(&c->d->lower.depi, c->sg, set->slot, &set->to, set->session_stays);
	cursor->left -= CHANNEL_NS;
	return true;
}

/* Writes all records of a modem in one step, so that its flows never use keys of two
 * generations. */
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

/* Notes the count that `dequeued` reaches with the last frame that is in the ring now. */
static bool mark_ring(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_lower *l = &c->d->lower;

	(void)cursor;
	c->mark = l->dequeued + rte_ring_count(l->from_upper);
	return true;
}

static bool ring_flushed(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_lower *l = &c->d->lower;

	(void)cursor;
	if (l->dequeued < c->mark)
		return false;
	c->mark = l->submitted; /* includes all dequeued packets */
	return true;
}

/* Frames that the crypto provider has returned. It keeps their order. */
static uint64_t collected(const struct ds_lower *l) {
	return l->submitted - l->crypto->pending;
}

static bool crypto_flushed(void *change, struct change_cursor *cursor) {
	const struct ds_change *c = change;

	(void)cursor;
	return collected(&c->d->lower) >= c->mark;
}

static bool send_channel(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;

	send_open(&c->d->lower, c->retiring[LIVE_CHANNEL].list[cursor->at]);
	cursor->left -= CHANNEL_NS;
	return true;
}

bool ds_change_flushed(void *change) {
	static const struct change_phase phases[] = {
		{.step = mark_ring},
		{.step = ring_flushed},
		{.step = crypto_flushed},
		{.step = send_channel, .count = ds_leaving_channels},
	};
	struct ds_change *c = change;

	return change_run(&c->flushed, phases, RTE_DIM(phases), c, CHANGE_STEP_NS);
}
