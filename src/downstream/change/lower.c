/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the worker of the lower MAC does of a change, between two of its rounds: then all that it has in hand is
 * in the ring, in the crypto provider, in open DEPI frames or with the port.
 */
#include "downstream/change/internal.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

#define STEP_WRITES 128 /* records, with those of the last modem */
#define STEP_CHANNELS 8

/* What is open goes out as it is. */
static void send_open(struct ds_lower *l, uint32_t channel) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	pkts[0] = depi_close_channel(&l->depi, channel, &l->counters);
	if (pkts[0] == NULL)
		return;
	count(&l->counters, COUNTER_DEPI_FLUSHED, 1);
	ds_transmit(l, pkts, 1);
}

static void write_channels(struct ds_change *c) {
	for (unsigned n = 0; n < STEP_CHANNELS && c->lower_at < c->channels.count;) {
		const struct ds_channel_set *set = &c->channels.list[c->lower_at++];

		if (!set->written)
			continue;
		send_open(&c->d->lower, set->slot);
		depi_channel_set(&c->d->lower.depi, c->sg, set->slot, &set->to, set->stays);
		n++;
	}
}

/* All records of a modem in one step, so that a modem's key is never of two generations. */
static void write_flows(struct ds_change *c) {
	const struct ds_flow_write *list = c->writes.list;

	for (unsigned n = 0; c->lower_at < c->writes.count; n++) {
		const struct ds_flow_write *w = &list[c->lower_at];

		if (n >= STEP_WRITES && w->modem != w[-1].modem)
			return;
		c->d->tables.flows[w->flow] = w->to;
		c->lower_at++;
	}
}

enum { LOWER_CHANNELS, LOWER_FLOWS, LOWER_DONE };

bool ds_change_lower(void *change) {
	struct ds_change *c = change;

	if (c->lower_phase == LOWER_CHANNELS) {
		write_channels(c);
		if (c->lower_at < c->channels.count)
			return false;
		c->lower_phase = LOWER_FLOWS;
		c->lower_at = 0;
	}
	if (c->lower_phase == LOWER_FLOWS) {
		write_flows(c);
		if (c->lower_at < c->writes.count)
			return false;
		c->lower_phase = LOWER_DONE;
		__atomic_store_n(&c->lower_done, true, __ATOMIC_RELEASE);
	}
	return true;
}

enum { PASS_BEGIN, PASS_RING, PASS_CRYPTO, PASS_CHANNELS };

/* Frames that the crypto provider has given back; it keeps their order. */
static uint64_t collected(const struct ds_lower *l) {
	return l->submitted - l->crypto->held;
}

bool ds_change_passed(void *change) {
	struct ds_change *c = change;
	struct ds_lower *l = &c->d->lower;
	const uint32_t *slots = c->leaving[LIVE_CHANNEL].list;

	if (c->passed == PASS_BEGIN) {
		c->mark = l->taken_over + rte_ring_count(l->from_upper);
		c->lower_at = 0;
		c->passed = PASS_RING;
	}
	if (c->passed == PASS_RING && l->taken_over >= c->mark) {
		c->mark = l->submitted; /* with all that was taken over */
		c->passed = PASS_CRYPTO;
	}
	if (c->passed == PASS_CRYPTO && collected(l) >= c->mark)
		c->passed = PASS_CHANNELS;
	if (c->passed != PASS_CHANNELS)
		return false;
	for (unsigned n = 0; n < STEP_CHANNELS && c->lower_at < c->leaving[LIVE_CHANNEL].count; n++)
		send_open(l, slots[c->lower_at++]);
	return c->lower_at == c->leaving[LIVE_CHANNEL].count;
}
