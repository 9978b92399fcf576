/* SPDX-License-Identifier: BSD-3-Clause */
/* A kit for tests of the downstream scheduler under a simulated clock, with loads that are too
 * large or too long for the model. Sources keep the queues filled, and each step of the clock
 * dequeues and counts packets. */
#pragma once

#include "test.h"

#include <math.h>

#include "random.h"
#include "scheduler/report.h"
#include "scheduler/scheduler.h"

#define KIT_MBPS(mbps) ((uint64_t)(mbps) * 1000000)
#define KIT_MS UINT64_C(1000000)
#define KIT_S UINT64_C(1000000000)
#define KIT_STEP_NS 10000

struct kit_flow {
	uint32_t smallest, largest; /* bytes per packet, all sizes equally likely */
	uint32_t backlog; /* packets that the source keeps queued; 0: no source */
	uint64_t number, latest; /* of the last packet enqueued and dequeued */
	uint16_t sequence;
	uint64_t verdicts[SCHEDULER_VERDICTS]; /* since the start */
	/* since the mark */
	uint64_t packets, bytes;
};

struct kit {
	/* Settings of the scheduler. A test may change rate_limit, packet_limit and seed. */
	struct scheduler_config config;
	struct scheduler_channel *channels;
	struct scheduler_group *groups;
	struct scheduler_modem *modems;
	struct scheduler_flow *settings; /* of the flows */

	struct random random;

	struct scheduler *s;
	uint64_t now, mark; /* ns */
	uint64_t next; /* of scheduler_next(); 0 after an arrival */
	uint64_t queued; /* packets */
	struct kit_flow *flows;
	double *sent_ns; /* per channel: time that the work sent before the mark took */
};

#define UNLIMITED_BUFFER (16u << 20)
#define BATCH 32
/* A packet pointer is the packet's number in its flow and, below that, its size. */
#define BYTES_BITS 14

/* An empty kit: 10 us per step, at most 200,000 packets. */
static inline struct kit kit_init(void) {
	return (struct kit){
		.config = {.packet_limit = 200000, .seed = 1},
		.random = {12345},
	};
}

/* Returns the list with space for one more element behind `count`. */
static inline void *grow(void *list, size_t count, size_t size) {
	if ((count & (count - 1)) == 0)
		list = realloc(list, (count == 0 ? 1 : 2 * count) * size);
	assert_non_null(list);
	return list;
}

/* Add an object and return its index. Rates are in bit/s, 0 for no limit; bursts in bytes. Required fields of a flow
 * that are 0 get a default. */
static inline uint32_t kit_add_channel(struct kit *k, uint64_t rate) {
	size_t n = k->config.channel_count++;

	k->channels = grow(k->channels, n, sizeof(*k->channels));
	k->channels[n] = (struct scheduler_channel){.rate = rate};
	return (uint32_t)n;
}

static inline uint32_t kit_add_group(struct kit *k, const uint32_t *channels, size_t count) {
	size_t n = k->config.group_count++;
	uint32_t *copy = calloc(count, sizeof(*copy));

	assert_non_null(copy);
	for (size_t i = 0; i < count; i++)
		copy[i] = channels[i];
	k->groups = grow(k->groups, n, sizeof(*k->groups));
	k->groups[n] = (struct scheduler_group){copy, count};
	return (uint32_t)n;
}

static inline uint32_t kit_add_group_range(struct kit *k, uint32_t first, uint32_t count) {
	uint32_t list[SCHEDULER_MAX_CHANNELS];

	for (uint32_t i = 0; i < count; i++)
		list[i] = first + i;
	return kit_add_group(k, list, count);
}

static inline uint32_t kit_add_modem(struct kit *k, uint64_t rate, uint64_t burst) {
	size_t n = k->config.modem_count++;

	k->modems = grow(k->modems, n, sizeof(*k->modems));
	k->modems[n] = (struct scheduler_modem){{rate, burst}};
	return (uint32_t)n;
}

static inline uint32_t kit_add_flow(struct kit *k, struct scheduler_flow f) {
	size_t n = k->config.flow_count++;

	if (f.weight == 0)
		f.weight = 1;
	if (f.max_buffer == 0)
		f.min_buffer = f.buffer = f.max_buffer = UNLIMITED_BUFFER;
	k->settings = grow(k->settings, n, sizeof(*k->settings));
	k->settings[n] = f;
	return (uint32_t)n;
}

/* Creates the scheduler from the objects that were added. */
static inline void kit_start(struct kit *k) {
	struct scheduler_config *c = &k->config;
	const char *why = NULL;

	if (c->modem_count == 0)
		kit_add_modem(k, 0, 0);
	c->channels = k->channels;
	c->groups = k->groups;
	c->modems = k->modems;
	c->flows = k->settings;
	k->s = scheduler_create(c, &why);
	if (k->s == NULL)
		fail_msg("no scheduler: %s", why);
	k->flows = calloc(c->flow_count, sizeof(*k->flows));
	k->sent_ns = calloc(c->channel_count, sizeof(*k->sent_ns));
	assert_true(k->flows != NULL && k->sent_ns != NULL);
}

static inline struct scheduler_arrival make_packet(struct kit *k, uint32_t flow, uint32_t bytes) {
	uintptr_t number = ++k->flows[flow].number << BYTES_BITS;

	return (struct scheduler_arrival){
		(void *)(number | (bytes & SCHEDULER_PACKET_MAX)),
		flow,
		bytes,
	};
}

static inline struct scheduler_arrival next_packet(struct kit *k, uint32_t flow) {
	const struct kit_flow *f = &k->flows[flow];
	uint32_t bytes = f->smallest == f->largest
				 ? f->smallest
				 : random_between(&k->random, f->smallest, f->largest);

	return make_packet(k, flow, bytes);
}

/* Returns the verdict on the last packet. */
static inline enum scheduler_verdict enqueue_burst(struct kit *k,
						   const struct scheduler_arrival *in, unsigned n) {
	enum scheduler_verdict verdicts[BATCH] = {SCHEDULER_QUEUED};
	unsigned queued = scheduler_enqueue(k->s, k->now, in, n, verdicts), counted = 0;

	for (unsigned i = 0; i < n; i++) {
		k->flows[in[i].flow].verdicts[verdicts[i]]++;
		counted += verdicts[i] == SCHEDULER_QUEUED;
	}
	assert_int_equal(queued, counted);
	k->queued += queued;
	k->next = 0;
	return verdicts[n == 0 ? 0 : n - 1];
}

/* Enqueues one packet now. */
static inline enum scheduler_verdict kit_enqueue(struct kit *k, uint32_t flow, uint32_t bytes) {
	const struct scheduler_arrival in = make_packet(k, flow, bytes);

	return enqueue_burst(k, &in, 1);
}

/* Keeps `backlog` packets of these sizes queued from now on. */
static inline void kit_feed(struct kit *k, uint32_t flow, uint32_t smallest, uint32_t largest,
			    uint32_t backlog) {
	struct kit_flow *f = &k->flows[flow];

	f->smallest = smallest;
	f->largest = largest;
	f->backlog = backlog;
	for (uint32_t i = 0; i < backlog; i++) {
		const struct scheduler_arrival in = next_packet(k, flow);

		enqueue_burst(k, &in, 1);
	}
}

/* The same for all flows, with as many packets as one call dequeues. */
static inline void kit_feed_all(struct kit *k, uint32_t smallest, uint32_t largest) {
	for (uint32_t i = 0; i < k->config.flow_count; i++)
		kit_feed(k, i, smallest, largest, BATCH);
}

/* Counts a packet, which must be the next one of its flow. */
static inline void count_grant(struct kit *k, const struct scheduler_grant *g) {
	struct kit_flow *f = &k->flows[g->flow];
	const uintptr_t packet = (uintptr_t)g->packet;
	const uint32_t bytes = packet & SCHEDULER_PACKET_MAX;

	if (packet >> BYTES_BITS <= f->latest || g->sequence != f->sequence++)
		fail_msg("flow %u: packet %llu with number %u behind packet %llu", g->flow,
			 (unsigned long long)(packet >> BYTES_BITS), g->sequence,
			 (unsigned long long)f->latest);
	f->latest = packet >> BYTES_BITS;
	f->packets++;
	f->bytes += bytes;
	k->queued--;
}

/* Dequeues up to `n` packets. None may leave before scheduler_next(). */
static inline unsigned dequeue_burst(struct kit *k, struct scheduler_grant *grants, unsigned n) {
	n = scheduler_dequeue(k->s, k->now, grants, n);
	if (n > 0 && k->next > k->now)
		fail_msg("a packet left %llu ns before scheduler_next()",
			 (unsigned long long)(k->next - k->now));
	for (unsigned i = 0; i < n; i++)
		count_grant(k, &grants[i]);
	k->next = scheduler_next(k->s);
	if (k->queued == 0)
		assert_true(k->next == UINT64_MAX);
	return n;
}

/* Dequeues up to `n` packets and refills no source. Returns how many. */
static inline unsigned kit_dequeue(struct kit *k, unsigned n) {
	struct scheduler_grant grants[BATCH];
	unsigned count = 0, got = 1;

	while (count < n && (got > 0 || scheduler_has_more(k->s))) {
		got = dequeue_burst(k, grants, n - count < BATCH ? n - count : BATCH);
		count += got;
	}
	return count;
}

/* Dequeues all that may be sent now, and refills the sources. */
static inline void kit_dequeue_all(struct kit *k) {
	struct scheduler_grant grants[BATCH];
	struct scheduler_arrival in[BATCH];
	unsigned n;

	do {
		unsigned refilled = 0;

		n = dequeue_burst(k, grants, BATCH);
		for (unsigned i = 0; i < n; i++) {
			if (k->flows[grants[i].flow].backlog > 0)
				in[refilled++] = next_packet(k, grants[i].flow);
		}
		if (refilled > 0)
			enqueue_burst(k, in, refilled);
	} while (n == BATCH || scheduler_has_more(k->s));
}

/* Runs until `ns` from now, step by step. */
static inline void kit_run(struct kit *k, uint64_t ns) {
	const uint64_t end = k->now + ns;

	while (k->now < end) {
		k->now = k->now + KIT_STEP_NS < end ? k->now + KIT_STEP_NS : end;
		kit_dequeue_all(k);
	}
}

/* The time that the channel's work took, except for what is still ahead. */
static inline double sent_ns(const struct kit *k, uint32_t channel) {
	struct scheduler_channel_report r;
	double ahead;

	scheduler_report_channel(k->s, channel, &r);
	ahead = r.busy_until > k->now ? (double)(r.busy_until - k->now) : 0;
	return 8e9 * (double)r.bytes / (double)k->channels[channel].rate - ahead;
}

/* Runs for `before_ns`, sets the mark, and runs for `ns`. */
static inline void kit_measure(struct kit *k, uint64_t before_ns, uint64_t ns) {
	kit_run(k, before_ns);
	k->mark = k->now;
	for (size_t i = 0; i < k->config.flow_count; i++)
		k->flows[i].packets = k->flows[i].bytes = 0;
	for (uint32_t i = 0; i < k->config.channel_count; i++)
		k->sent_ns[i] = sent_ns(k, i);
	kit_run(k, ns);
}

/* Bits per second of `count` flows from `first` on, since the mark. */
static inline double kit_rate_sum(const struct kit *k, uint32_t first, uint32_t count) {
	uint64_t bytes = 0;

	for (uint32_t i = first; i < first + count; i++)
		bytes += k->flows[i].bytes;
	return 8e9 * (double)bytes / (double)(k->now - k->mark);
}

/* Fails unless `measured` is within `part` of `expected`. */
static inline void kit_check_near(const char *what, size_t index, double measured, double expected,
				  double part) {
	if (fabs(measured - expected) > part * expected)
		fail_msg("%s %zu: %.7g where %.7g is expected", what, index, measured, expected);
}

/* All channels were busy for more than 99.5 % of the time since the mark. */
static inline void kit_check_busy(const struct kit *k) {
	for (uint32_t i = 0; i < k->config.channel_count; i++) {
		double part = (sent_ns(k, i) - k->sent_ns[i]) / (double)(k->now - k->mark);

		if (part < 0.995 || part > 1.0001)
			fail_msg("channel %u was busy for %.4f of the time", i, part);
	}
}

/* Frees the kit, whatever is queued. */
static inline void kit_free(struct kit *k) {
	scheduler_free(k->s);
	for (size_t i = 0; i < k->config.group_count; i++)
		free((void *)(uintptr_t)k->groups[i].channels);
	free(k->channels);
	free(k->groups);
	free(k->modems);
	free(k->settings);
	free(k->flows);
	free(k->sent_ns);
}

/* Compares the reports with the counts, drains all packets, and frees the kit. */
static inline void kit_close(struct kit *k) {
	void *packets[64];
	unsigned n;

	for (uint32_t i = 0; i < k->config.flow_count; i++) {
		const uint64_t *verdicts = k->flows[i].verdicts;
		struct scheduler_flow_report r;

		scheduler_report_flow(k->s, i, &r);
		assert_int_equal(r.packets + r.waiting_packets, verdicts[SCHEDULER_QUEUED]);
		for (int v = SCHEDULER_QUEUED + 1; v < SCHEDULER_VERDICTS; v++)
			assert_int_equal(r.drops[v], verdicts[v]);
	}
	assert_int_equal(scheduler_queued(k->s), k->queued);
	while ((n = scheduler_drain(k->s, packets, 64)) > 0)
		k->queued -= n;
	assert_int_equal(k->queued, 0);
	kit_free(k);
}
