/* SPDX-License-Identifier: BSD-3-Clause */
/* Sustained, peak and reserved rates. */
#include "scheduler/maps/lists.h"

#define PEAK_BURST 1522 /* bytes at once of the peak rate (MULPI, C.2.2.5.10) */
#define BURST_MIN 1522 /* of the sustained rate */

/* The longest MAP interval of the flow's channels. */
static uint64_t longest_map(const struct maps *m, const struct maps_flow *s) {
	uint64_t longest = 0;

	for (size_t i = 0; i < s->cluster_count; i++) {
		for (size_t j = 0; j < s->clusters[i].count; j++) {
			uint32_t length = m->channels[s->clusters[i].sids[j].channel].length;

			longest = length > longest ? length : longest;
		}
	}
	return longest;
}

/* The depth of a bucket. It covers a quantum and the bytes of a MAP interval, or the rate could
 * not be reached. */
static uint64_t depth(uint64_t rate, uint64_t length, uint64_t min) {
	uint64_t bytes = QUANTUM + rate * length / BYTE_TOKENS;

	bytes = bytes > min ? bytes : min;
	return bytes < MAPS_BURST_MAX ? bytes : MAPS_BURST_MAX;
}

void rates_set(struct maps *m, uint32_t flow, const struct maps_flow *s) {
	uint64_t length = longest_map(m, s);
	uint64_t burst = s->sustained_burst > BURST_MIN ? s->sustained_burst : BURST_MIN;
	struct limits *l = &m->limits[flow];
	struct flow *f = &m->flows[flow];

	if (s->sustained != 0) {
		f->limits |= LIMIT_SUSTAINED;
		f->sustained = bucket_of(s->sustained, depth(s->sustained, length, burst), m->now);
	}
	if (s->peak != 0) {
		f->limits |= LIMIT_PEAK;
		l->peak = bucket_of(s->peak, depth(s->peak, length, PEAK_BURST), m->now);
	}
	if (s->reserved != 0) {
		uint64_t saved = s->reserved * RESERVED_SAVED / BYTE_TOKENS;

		f->limits |= LIMIT_RESERVED;
		l->reserved = bucket_of(s->reserved, depth(s->reserved, length, saved), m->now);
	}
}

/* Both are filled up to the present, whichever lacks bytes. */
void rates_wait(struct maps *m, uint32_t flow, uint32_t bytes) {
	struct flow *f = &m->flows[flow];
	struct bucket *peak = &m->limits[flow].peak;
	uint64_t until = 0;

	if (f->limits & LIMIT_SUSTAINED && !bucket_has(&f->sustained, m->now, bytes))
		until = bucket_when(&f->sustained, bytes);
	if (f->limits & LIMIT_PEAK && !bucket_has(peak, m->now, bytes))
		until = bucket_when(peak, bytes) > until ? bucket_when(peak, bytes) : until;
	flow_park(m, flow, until);
}

uint32_t rate_reserved(struct maps *m, uint32_t flow) {
	struct bucket *b = &m->limits[flow].reserved;
	uint32_t needs = lesser(m->flows[flow].owed_here, QUANTUM);

	bucket_fill(b, m->now);
	if (bucket_bytes(b) >= needs)
		return lesser(m->flows[flow].owed_here, lesser(QUANTUM, bucket_bytes(b)));
	reserved_leave(m, flow);
	timers_set(&m->timers, timer_of(m, TIMER_RESERVED, flow), bucket_when(b, needs));
	return 0;
}

void rates_charge(struct maps *m, uint32_t flow, uint32_t bytes) {
	struct limits *l = &m->limits[flow];

	if (m->flows[flow].limits & LIMIT_PEAK)
		bucket_spend(&l->peak, m->now, bytes);
	if (m->flows[flow].limits & LIMIT_RESERVED)
		bucket_spend(&l->reserved, m->now, bytes);
}
