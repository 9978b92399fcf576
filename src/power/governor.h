/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the frequency of each clock domain from the load of its workers. The caller supplies time and
 * readings. Requests to rise are granted at once, and a growing queue raises its domain to the maximum. A
 * domain falls after the hold time, to its highest request of that time. docs/power.md derives the floor and
 * the sampling interval from the allowed latency.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GOVERNOR_MAX 128 /* workers and domains */
#define GOVERNOR_SAMPLE_MAX_NS 1000000u
#define GOVERNOR_SAMPLE_MIN_NS 100000u
#define GOVERNOR_SAMPLES 3 /* samples until a sudden load is detected, at most */
#define GOVERNOR_BURST 64 /* packets in a queue; fewer do not count as growth */
#define GOVERNOR_STUCK_NS 100000000u /* a worker whose counters stop for so long is stuck */

struct governor_policy {
	const char *name;
	unsigned target; /* target load of a worker, percent */
	unsigned full; /* percent of busy rounds above which a worker may be overloaded */
	uint64_t hold_ns; /* hold time before a frequency is lowered */
	bool highest; /* always the maximum */
};
extern const struct governor_policy governor_performance, governor_balanced, governor_saving;

/* Frequencies of a domain. */
struct governor_range {
	uint32_t min_khz, max_khz; /* if min exceeds max, the domain gets the maximum */
	const uint32_t *states; /* ascending, within the range; NULL: steps of 100 MHz */
	unsigned state_count;
	uint64_t transition_ns; /* until a change takes effect */
};

/* Counters of a worker so far, and its current queues. */
struct governor_reading {
	uint64_t busy, idle; /* cycles of rounds with and without work */
	uint64_t paused; /* part of `idle` */
	uint64_t rounds, busy_rounds;
	uint64_t full_polls; /* polls with POLL_FULL packets or more, two in a row */
	uint64_t ring; /* packets in rings that lead to the worker, now */
	uint64_t backlog; /* packets in the scheduler now */
};

struct governor_worker {
	unsigned domain;
	struct governor_reading last;
	uint64_t ring_before, backlog_before; /* the reading before `last` */
	bool was_full, was_saturated;
	uint64_t moved_at; /* ns: last change of its counters */
	uint64_t empty; /* cycles of an empty round */
	unsigned load; /* percent of time that packets took; other threads may read it */
};

struct governor_domain {
	struct governor_range range;
	uint32_t floor_khz;
	uint32_t khz; /* current decision */
	uint64_t hold_start; /* ns */
	uint64_t settled_at; /* ns: until then, counters include time at the former frequency */
	uint32_t peak_khz; /* the highest request since `hold_start` */
	uint64_t transitions, jumps;
};

struct governor {
	const struct governor_policy *policy;
	bool blind; /* ignores queues, for comparison */
	uint64_t sample_ns;
	uint64_t now; /* of the last sample */
	bool began;
	uint64_t stopped; /* samples at which the clock had not advanced */
	uint64_t stuck; /* samples at which a worker was stuck */
	unsigned domain_count, worker_count;
	struct governor_domain domains[GOVERNOR_MAX];
	struct governor_worker workers[GOVERNOR_MAX];
};

/* The sampling interval of a domain, ns: the longest one that allows a floor equal to the
 * minimum. */
uint64_t governor_sample_interval(const struct governor_range *r, uint64_t latency_ns);

/* The lowest frequency at which a sudden load is delayed by at most `latency_ns`. */
uint32_t governor_floor(const struct governor_range *r, uint64_t latency_ns, uint64_t sample_ns);

/* The lowest available frequency that is at least `khz`; the maximum if there is none. */
uint32_t governor_round(const struct governor_range *r, uint32_t khz);

/* Starts all domains, whose ranges the caller has set, at their maximum. `domain_of` has a domain per worker. */
void governor_start(struct governor *g, const struct governor_policy *policy, uint64_t latency_ns,
		    const unsigned *domain_of, unsigned workers, unsigned domains);

/* Changes policy and latency. */
void governor_change(struct governor *g, const struct governor_policy *policy, uint64_t latency_ns);

/* Samples all workers at the time `now` (ns) and updates `khz` of their domains. If the clock does not
 * advance, or a worker is stuck, the maximum applies. */
void governor_step(struct governor *g, uint64_t now, const struct governor_reading *readings);
