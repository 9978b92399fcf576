/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduler against a slow model of what its header promises: the same packets out, in the same
 * order, on the same channels. The model keeps plain lists and searches them; its times are whole
 * nanoseconds, for which rates are chosen that give whole nanoseconds a byte.
 */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "random.h"
#include "scheduler/scheduler.h"

#define MAX_CHANNELS 6
#define MAX_GROUPS 5
#define MAX_FLOWS 12
#define MAX_WAITING 64
#define NS_PER_S UINT64_C(1000000000)

struct waiting {
	uintptr_t packet;
	uint32_t bytes, channel_bytes;
};

struct model_flow {
	struct waiting list[MAX_WAITING]; /* the first waits longest */
	unsigned count;
	uint64_t stamp; /* the lower, the earlier its turn */
	uint16_t sequence;
};

struct model {
	struct scheduler_config config;
	struct scheduler_channel channels[MAX_CHANNELS];
	struct scheduler_group groups[MAX_GROUPS];
	uint32_t lists[MAX_GROUPS][MAX_CHANNELS];
	struct scheduler_flow flows[MAX_FLOWS];
	struct model_flow state[MAX_FLOWS];
	uint64_t ns_per_byte[MAX_CHANNELS], sent_at[MAX_CHANNELS];
	uint64_t limit_ns_per_byte, limit_sent_at;
	uint64_t stamp;
	unsigned turn;
};

static uint32_t model_held(const struct model *m) {
	uint32_t held = 0;

	for (size_t f = 0; f < m->config.flow_count; f++)
		held += m->state[f].count;
	return held;
}

static enum scheduler_verdict model_enqueue(struct model *m, uint32_t flow, struct waiting w) {
	struct model_flow *f = &m->state[flow];
	uint64_t bytes = w.bytes;

	if (model_held(m) == m->config.packet_limit)
		return SCHEDULER_FULL;
	for (unsigned i = 0; i < f->count; i++)
		bytes += f->list[i].bytes;
	if (bytes > m->flows[flow].buffer)
		return SCHEDULER_FLOW_FULL;
	if (f->count == 0)
		f->stamp = ++m->stamp;
	f->list[f->count++] = w;
	return SCHEDULER_QUEUED;
}

static uint64_t later(uint64_t a, uint64_t b) {
	return a > b ? a : b;
}

/* The flow of the group whose turn it is; -1 where none has a packet. */
static int model_flow_of(const struct model *m, unsigned group) {
	int best = -1;

	for (size_t f = 0; f < m->config.flow_count; f++) {
		if (m->flows[f].group != group || m->state[f].count == 0)
			continue;
		if (best < 0 || m->state[f].stamp < m->state[best].stamp)
			best = (int)f;
	}
	return best;
}

/* The channel of the group that is free first; of several, the one the group names first. */
static unsigned model_channel_of(const struct model *m, unsigned group) {
	unsigned best = m->lists[group][0];

	for (size_t i = 1; i < m->groups[group].channel_count; i++) {
		if (m->sent_at[m->lists[group][i]] < m->sent_at[best])
			best = m->lists[group][i];
	}
	return best;
}

static bool model_try(struct model *m, unsigned group, uint64_t now, struct scheduler_grant *out) {
	int flow = model_flow_of(m, group);
	unsigned channel = model_channel_of(m, group);
	struct model_flow *f;

	if (flow < 0 || m->sent_at[channel] > now + SCHEDULER_LEAD_NS)
		return false;
	f = &m->state[flow];
	m->sent_at[channel] = later(m->sent_at[channel], now) +
			      m->ns_per_byte[channel] * f->list[0].channel_bytes;
	m->limit_sent_at =
		later(m->limit_sent_at, now) + m->limit_ns_per_byte * f->list[0].channel_bytes;
	*out = (struct scheduler_grant){(void *)f->list[0].packet, (uint32_t)flow,
					(uint16_t)channel, f->sequence++};
	memmove(f->list, f->list + 1, --f->count * sizeof(f->list[0]));
	f->stamp = ++m->stamp;
	return true;
}

/* One packet; the groups have their turns one after the other. */
static bool model_dequeue(struct model *m, uint64_t now, struct scheduler_grant *out) {
	if (m->limit_ns_per_byte > 0 && m->limit_sent_at > now + SCHEDULER_LEAD_NS)
		return false;
	for (unsigned k = 0; k < m->config.group_count; k++) {
		unsigned group = (m->turn + k) % (unsigned)m->config.group_count;

		if (model_try(m, group, now, out)) {
			m->turn = (group + 1) % (unsigned)m->config.group_count;
			return true;
		}
	}
	return false;
}

static void model_make(struct model *m, struct random *r) {
	static const uint64_t ns_per_byte[] = {1, 2, 4, 8, 40, 320, 8000};

	memset(m, 0, sizeof(*m));
	m->config = (struct scheduler_config){
		.channels = m->channels,
		.channel_count = random_between(r, 1, MAX_CHANNELS),
		.groups = m->groups,
		.group_count = random_between(r, 1, MAX_GROUPS),
		.flows = m->flows,
		.flow_count = random_between(r, 1, MAX_FLOWS),
		.packet_limit = random_between(r, 1, MAX_WAITING),
	};
	for (size_t i = 0; i < m->config.channel_count; i++) {
		m->ns_per_byte[i] = ns_per_byte[random_below(r, ARRAY_COUNT(ns_per_byte))];
		m->channels[i].rate = 8 * NS_PER_S / m->ns_per_byte[i];
	}
	for (size_t g = 0; g < m->config.group_count; g++) {
		m->groups[g].channels = m->lists[g];
		m->groups[g].channel_count =
			random_between(r, 1, (uint32_t)m->config.channel_count);
		for (size_t i = 0; i < m->groups[g].channel_count; i++)
			m->lists[g][i] = random_below(r, (uint32_t)m->config.channel_count);
	}
	for (size_t f = 0; f < m->config.flow_count; f++) {
		m->flows[f].group = random_below(r, (uint32_t)m->config.group_count);
		m->flows[f].buffer = random_between(r, 100, 20000);
	}
	if (random_below(r, 2)) {
		m->limit_ns_per_byte = ns_per_byte[random_below(r, ARRAY_COUNT(ns_per_byte))];
		m->config.rate_limit = 8 * NS_PER_S / m->limit_ns_per_byte;
	}
}

static void compare_enqueue(struct model *m, struct scheduler *s, struct random *r,
			    uintptr_t number) {
	uint32_t flow = random_below(r, (uint32_t)m->config.flow_count);
	uint32_t bytes = random_between(r, 18, 2000);
	struct waiting w = {number, bytes, bytes + random_between(r, 6, 17)};
	enum scheduler_verdict expected = model_enqueue(m, flow, w);

	assert_int_equal(scheduler_enqueue(s, flow, (void *)w.packet, w.bytes, w.channel_bytes),
			 expected);
}

static void compare_dequeue(struct model *m, struct scheduler *s, struct random *r, uint64_t now) {
	struct scheduler_grant grants[MAX_WAITING], expected;
	unsigned wanted = random_below(r, MAX_WAITING), n;

	n = scheduler_dequeue(s, now, grants, wanted);
	for (unsigned i = 0; i < n; i++) {
		assert_true(model_dequeue(m, now, &expected));
		assert_ptr_equal(grants[i].packet, expected.packet);
		assert_int_equal(grants[i].flow, expected.flow);
		assert_int_equal(grants[i].channel, expected.channel);
		assert_int_equal(grants[i].sequence, expected.sequence);
	}
	if (n < wanted)
		assert_false(model_dequeue(m, now, &expected));
}

/* Each packet comes out once, of no flow out of order. */
static void compare_drain(struct model *m, struct scheduler *s) {
	void *packets[MAX_WAITING];
	unsigned n = scheduler_drain(s, packets, MAX_WAITING);

	assert_int_equal(n, model_held(m));
	for (unsigned i = 0; i < n; i++) {
		bool found = false;

		for (size_t f = 0; f < m->config.flow_count && !found; f++) {
			struct model_flow *state = &m->state[f];

			if (state->count == 0 || state->list[0].packet != (uintptr_t)packets[i])
				continue;
			memmove(state->list, state->list + 1,
				--state->count * sizeof(state->list[0]));
			found = true;
		}
		assert_true(found);
	}
}

static uint64_t time_passes(struct random *r, uint64_t now) {
	switch (random_below(r, 8)) {
	case 0: return now + random_below(r, 2000000); /* beyond the lead */
	case 1: return now + random_below(r, 10) * NS_PER_S;
	case 2: return now;
	default: return now + random_between(r, 1, 50000);
	}
}

static void agrees_with_the_model(void **state) {
	struct random r = {20260101};
	struct model *m = test_malloc(sizeof(*m));

	(void)state;
	for (int round = 0; round < 400; round++) {
		struct scheduler *s;
		uint64_t now = 0;
		uintptr_t number = 0;

		model_make(m, &r);
		s = scheduler_create(&m->config);
		assert_non_null(s);
		for (int step = 0; step < 600; step++) {
			for (uint32_t n = random_below(&r, 6); n > 0; n--)
				compare_enqueue(m, s, &r, ++number);
			if (random_below(&r, 2))
				compare_dequeue(m, s, &r, now);
			assert_int_equal(scheduler_held(s), model_held(m));
			now = time_passes(&r, now);
		}
		compare_drain(m, s);
		assert_int_equal(scheduler_held(s), 0);
		scheduler_free(s);
	}
	test_free(m);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
