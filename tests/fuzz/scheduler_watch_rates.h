/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rates as docs/scheduler.md has them, in times so fine that next to nothing is rounded. What the
 * scheduler rounds is added up, and what it did is held against it only beyond that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fuzz.h"
#include "scheduler/scheduler.h"

#define FINE_PER_NS 1024
#define ROUNDING (FINE_PER_NS / 64) /* of a packet's time */
#define LONGEST_JUMP 3600000000000 /* ns */
#define SAVED ((fine_time)10000000 * FINE_PER_NS) /* of a meter, behind or ahead of its rate */
#define NEAR (4 * FINE_PER_NS) /* channels so near to each other are equally good */

/* Time in 1/1024 ns since the first time that the scheduler was given: wide enough for any clock
 * and any rate, so that nothing is rounded that counts. */
__extension__ typedef __int128 fine_time;

/* A token bucket, as the time at which it will be full. */
struct watch_bucket {
	uint64_t rate, burst;
	fine_time full_at;
	fine_time slack; /* what was rounded since it was full */
};

/* The minimum reserved rate's meter: behind as long as `due` has come. */
struct watch_meter {
	uint64_t rate;
	fine_time due;
	fine_time slack;
};

/* A channel, or the service group's limit. */
struct watch_line {
	uint64_t rate;
	fine_time free_at; /* when it has sent what it was given */
	fine_time slack; /* what was rounded since it had nothing */
};

static inline fine_time later(fine_time a, fine_time b) {
	return a > b ? a : b;
}

/* What bytes take at a rate; 0 is no limit. */
static inline fine_time cost(uint64_t rate, uint64_t bytes) {
	return rate == 0 ? 0 : (fine_time)bytes * 8000000000 * FINE_PER_NS / rate;
}

/* The time of one packet is rounded, and that of one byte to 1/2^22 ns. */
static inline fine_time rounding(uint64_t bytes) {
	return ROUNDING + (fine_time)(bytes >> 12);
}

/* Work, or what a bucket misses, stays as many bytes when the rate changes. */
static inline fine_time rescale(fine_time rest, uint64_t old_rate, uint64_t rate) {
	return old_rate == 0 || rate == 0 ? 0 : later(rest, 0) * old_rate / rate;
}

/* The bucket keeps the bytes that it holds, as far as its burst goes. */
static inline void bucket_set(struct watch_bucket *b, uint64_t rate, uint64_t burst,
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

static inline void line_set(struct watch_line *l, uint64_t rate, fine_time now) {
	l->slack = rescale(l->slack, l->rate, rate) + 2 * ROUNDING;
	if (l->free_at > now)
		l->free_at = now + rescale(l->free_at - now, l->rate, rate);
	l->rate = rate;
}

/* At the least. A packet that became longer than the burst waits until it would hold it. */
static inline bool bucket_holds(const struct watch_bucket *b, uint64_t bytes, fine_time now) {
	fine_time depth = cost(b->rate, b->burst);

	return b->full_at + cost(b->rate, bytes) <=
	       now + depth + (depth >> 15) + b->slack + rounding(bytes);
}

static inline void bucket_take(struct watch_bucket *b, uint64_t bytes, fine_time now) {
	if (b->full_at + b->slack <= now)
		b->slack = 0;
	b->slack += rounding(bytes);
	b->full_at = later(b->full_at, now) + cost(b->rate, bytes);
}

/* What reserved packets leave owing is no more than a burst. */
static inline void debt_limit(struct watch_bucket *b, fine_time now) {
	fine_time most = now + 2 * cost(b->rate, b->burst);

	if (b->full_at > most)
		b->full_at = most;
}

/* It keeps its bytes: those that it is behind, and those that were saved up. */
static inline void meter_set(struct watch_meter *m, uint64_t rate, fine_time now) {
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

/* An idle flow saves nothing up. */
static inline void meter_begin(struct watch_meter *m, fine_time now) {
	if (m->due + m->slack <= now)
		m->slack = 0;
	m->due = later(m->due, now);
}

static inline bool meter_behind(const struct watch_meter *m, fine_time now) {
	return m->rate != 0 && m->due <= now + m->slack;
}

static inline void meter_take(struct watch_meter *m, uint64_t bytes, fine_time now) {
	fine_time least = now - SAVED, most = now + SAVED;

	if (m->due + m->slack <= least || m->due - m->slack >= most)
		m->slack = 0;
	m->slack += rounding(bytes);
	m->due = later(m->due, least);
	m->due = (m->due < most ? m->due : most) + cost(m->rate, bytes);
}

static inline void line_take(struct watch_line *l, uint64_t bytes, fine_time now) {
	CHECK(l->rate == 0 ||
	      l->free_at <= now + (fine_time)SCHEDULER_LEAD_NS * FINE_PER_NS + NEAR + l->slack);
	if (l->free_at + l->slack <= now)
		l->slack = 0;
	l->slack += rounding(bytes);
	l->free_at = later(l->free_at, now) + cost(l->rate, bytes);
}

/* What a bucket owes when it is empty: packets longer than a burst that was lowered left it. */
static inline fine_time debt(const struct watch_bucket *b, fine_time now) {
	return later(b->full_at - now - cost(b->rate, b->burst), 0);
}
