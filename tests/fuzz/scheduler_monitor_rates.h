/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates after docs/scheduler.md, in times so fine that almost nothing is rounded. What the
 * scheduler rounds is summed up as slack, and only a difference beyond it counts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fuzz.h"
#include "scheduler/scheduler.h"

#define FINE_PER_NS 1024
#define ROUNDING (FINE_PER_NS / 64) /* of a packet's time */
#define LONGEST_JUMP 3600000000000 /* ns */
#define SAVED ((fine_time)10000000 * FINE_PER_NS) /* most that a meter is behind or ahead */
#define NEAR (4 * FINE_PER_NS) /* channels that are free at times so close are equal */

/* Time in 1/1024 ns since the first call: wide enough for any clock and any rate. */
__extension__ typedef __int128 fine_time;

/* A token bucket, as the time at which it will be full. */
struct monitor_bucket {
	uint64_t rate, burst;
	fine_time full_at;
	fine_time slack; /* rounded since it was full */
};

/* The meter of a minimum reserved rate: behind from the time `due` on. */
struct monitor_meter {
	uint64_t rate;
	fine_time due;
	fine_time slack;
};

/* A channel, or the service group's limit. */
struct monitor_line {
	uint64_t rate;
	fine_time free_at; /* when its work is sent */
	fine_time slack; /* rounded since it was idle */
};

static inline fine_time later(fine_time a, fine_time b) {
	return a > b ? a : b;
}

/* The time of `bytes` at a rate. A rate of 0 is no limit. */
static inline fine_time cost(uint64_t rate, uint64_t bytes) {
	return rate == 0 ? 0 : (fine_time)bytes * 8000000000 * FINE_PER_NS / rate;
}

/* The scheduler rounds the time of a packet, and that of a byte to 1/2^22 ns. */
static inline fine_time rounding(uint64_t bytes) {
	return ROUNDING + (fine_time)(bytes >> 12);
}

/* Work, or what a bucket lacks, stays the same in bytes when the rate changes. */
static inline fine_time rescale(fine_time time, uint64_t old_rate, uint64_t rate) {
	return old_rate == 0 || rate == 0 ? 0 : later(time, 0) * old_rate / rate;
}

/* The bucket keeps its bytes, up to the new burst. */
static inline void bucket_set(struct monitor_bucket *b, uint64_t rate, uint64_t burst,
			      fine_time now) {
	fine_time missing = rescale(b->full_at - now, b->rate, rate);

	if (b->rate != 0 && rate != 0) {
		missing += cost(rate, burst) - cost(rate, b->burst);
		b->slack = b->slack * b->rate / rate + 4 * ROUNDING + (cost(rate, b->burst) >> 15);
	}
	if (b->rate == 0 || rate == 0 || missing + b->slack <= 0) /* full in any case */
		b->slack = 0;
	b->full_at = now + later(missing, 0);
	b->rate = rate;
	b->burst = burst;
}

static inline void line_set(struct monitor_line *l, uint64_t rate, fine_time now) {
	l->slack = rescale(l->slack, l->rate, rate) + 2 * ROUNDING;
	if (l->free_at > now)
		l->free_at = now + rescale(l->free_at - now, l->rate, rate);
	l->rate = rate;
}

/* Whether a packet may pass, with all tolerances. One that is longer than the burst may pass when the bucket has been
 * full for the time of the excess. */
static inline bool bucket_admits(const struct monitor_bucket *b, uint64_t bytes, fine_time now) {
	fine_time depth = cost(b->rate, b->burst);

	return b->full_at + cost(b->rate, bytes) <=
	       now + depth + (depth >> 15) + b->slack + rounding(bytes);
}

static inline void bucket_charge(struct monitor_bucket *b, uint64_t bytes, fine_time now) {
	if (b->full_at + b->slack <= now)
		b->slack = 0;
	b->slack += rounding(bytes);
	b->full_at = later(b->full_at, now) + cost(b->rate, bytes);
}

/* Reserved packets leave a debt of at most one burst. */
static inline void debt_limit(struct monitor_bucket *b, fine_time now) {
	fine_time limit = now + 2 * cost(b->rate, b->burst);

	if (b->full_at > limit)
		b->full_at = limit;
}

/* The meter keeps the bytes by which it is behind or ahead. */
static inline void meter_set(struct monitor_meter *m, uint64_t rate, fine_time now) {
	fine_time ahead = later(m->due - now, -SAVED);

	if (m->rate == 0 || rate == 0)
		ahead = m->slack = 0;
	else
		ahead = ahead * m->rate / rate;
	if (m->rate != rate)
		m->slack = rescale(m->slack, m->rate, rate) + later(ahead, -ahead) / (1 << 15);
	m->slack += 4 * ROUNDING;
	m->due = now + ahead;
	m->rate = rate;
}

/* An idle flow saves nothing. */
static inline void meter_begin(struct monitor_meter *m, fine_time now) {
	if (m->due + m->slack <= now)
		m->slack = 0;
	m->due = later(m->due, now);
}

static inline bool meter_behind(const struct monitor_meter *m, fine_time now) {
	return m->rate != 0 && m->due <= now + m->slack;
}

static inline void meter_charge(struct monitor_meter *m, uint64_t bytes, fine_time now) {
	fine_time low_limit = now - SAVED, limit = now + SAVED;

	if (m->due + m->slack <= low_limit || m->due - m->slack >= limit)
		m->slack = 0;
	m->slack += rounding(bytes);
	m->due = later(m->due, low_limit);
	m->due = (m->due < limit ? m->due : limit) + cost(m->rate, bytes);
}

static inline void line_charge(struct monitor_line *l, uint64_t bytes, fine_time now) {
	CHECK(l->rate == 0 ||
	      l->free_at <= now + (fine_time)SCHEDULER_LEAD_NS * FINE_PER_NS + NEAR + l->slack);
	if (l->free_at + l->slack <= now)
		l->slack = 0;
	l->slack += rounding(bytes);
	l->free_at = later(l->free_at, now) + cost(l->rate, bytes);
}

/* The debt of an empty bucket, left by packets longer than a burst that was lowered. */
static inline fine_time debt(const struct monitor_bucket *b, fine_time now) {
	return later(b->full_at - now - cost(b->rate, b->burst), 0);
}
