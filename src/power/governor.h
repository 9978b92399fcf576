/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frequency each clock domain is to have, from what its workers did. Time and readings are the caller's. Fast up:
 * a wish is granted at once, and a queue that grows takes its domain to the maximum. Slow down: to the highest wish of
 * the hold time, no sooner. docs/power.md derives the floor, and how often to look, from the latency that is allowed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GOVERNOR_MOST 128 /* workers, and domains */
#define GOVERNOR_LOOK_MOST_NS 1000000u
#define GOVERNOR_LOOK_LEAST_NS 100000u
#define GOVERNOR_LOOKS 3 /* after which a load that came at once is seen, at the latest */
#define GOVERNOR_BURST 64 /* packets: fewer are no queue */
#define GOVERNOR_STUCK_NS 100000000u /* a worker that says nothing for so long is not known */

struct governor_policy {
	const char *name;
	unsigned target; /* percent of a worker's time that its load is to take */
	unsigned full; /* percent of busy rounds from where on it may not be able to follow */
	uint64_t hold_ns; /* before a frequency is lowered */
	bool highest; /* always */
};
extern const struct governor_policy governor_performance, governor_balanced, governor_saving;

/* What a domain can have. */
struct governor_range {
	uint32_t min_khz, max_khz; /* where they contradict each other it has the maximum */
	const uint32_t *states; /* ascending, within these; NULL: steps of 100 MHz */
	unsigned state_count;
	uint64_t transition_ns; /* until a change is there */
};

/* What a worker counted so far; what is there now. */
struct governor_reading {
	uint64_t busy, idle; /* cycles of rounds with work, and without */
	uint64_t paused; /* of the latter */
	uint64_t rounds, busy_rounds;
	uint64_t full_polls; /* that brought a whole burst behind another one */
	uint64_t ring; /* packets that wait for it in rings now */
	uint64_t backlog; /* .. in the scheduler */
};

struct governor_worker {
	unsigned domain;
	struct governor_reading last;
	uint64_t ring_before, backlog_before; /* a reading before that */
	bool was_full, was_saturated;
	uint64_t moved_at; /* ns: when it counted something last */
	uint64_t empty; /* cycles of a round without work */
	unsigned load; /* percent of its time that packets took; others may read it */
};

struct governor_domain {
	struct governor_range range;
	uint32_t floor_khz;
	uint32_t khz; /* decided */
	uint64_t held_since; /* ns */
	uint64_t settled_at; /* ns: from then on what was counted is of this frequency */
	uint32_t peak_khz; /* the highest wish since `held_since` */
	uint64_t transitions, jumps;
};

struct governor {
	const struct governor_policy *policy;
	bool blind; /* to queues: for comparison only */
	uint64_t look_ns;
	uint64_t now; /* of the last look */
	bool began;
	uint64_t stopped; /* looks at which the clock had not moved */
	uint64_t stuck; /* looks at which a worker was not known */
	unsigned domain_count, worker_count;
	struct governor_domain domains[GOVERNOR_MOST];
	struct governor_worker workers[GOVERNOR_MOST];
};

/* How often to look at domains of this range, ns: as seldom as a floor at its minimum allows. */
uint64_t governor_look(const struct governor_range *r, uint64_t latency_ns);

/* The lowest frequency at which a load that comes at once waits no longer than `latency_ns`. */
uint32_t governor_floor(const struct governor_range *r, uint64_t latency_ns, uint64_t look_ns);

/* The lowest frequency of the range that is not below `khz`; the highest where none is. */
uint32_t governor_round(const struct governor_range *r, uint32_t khz);

/* All domains, whose ranges are filled, at their maximum. `domain_of` has a number each worker. */
void governor_start(struct governor *g, const struct governor_policy *policy, uint64_t latency_ns,
		    const unsigned *domain_of, unsigned workers, unsigned domains);

/* Another policy or latency from now on. */
void governor_change(struct governor *g, const struct governor_policy *policy, uint64_t latency_ns);

/* A look at all workers, at the time `now` (ns): their domains' `khz` are what is to be from now on. A clock that does
 * not move, or a worker of which nothing is known, has the maximum. */
void governor_step(struct governor *g, uint64_t now, const struct governor_reading *readings);
