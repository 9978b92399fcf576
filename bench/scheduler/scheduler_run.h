/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scheduler under load, in rounds: a burst arrives, a burst is asked for, and time goes on by what a
 * burst takes at the load. What is timed are the calls of the scheduler alone.
 *
 * The time is a simulated one: a round's work is then the same on any machine, and on one that
 * takes the core away in the middle. rte_sched reads the TSC itself, which sees less time pass, or
 * more, than the simulation. That changes nothing of what it does here: its clock also goes on by the
 * bytes that it sends, whichever is more, its buckets are all so large that they never bind, and how
 * much it may send is told to it, as by a NIC's queue, with the same lead that our channels have.
 * With `real_time` no round begins before its time on the TSC, to see that this is so.
 */
#pragma once

#include "scheduler_packets.h"

/* Sums over some rounds. Cycles are reference cycles. */
struct tally {
	uint64_t order; /* by cycles a packet */
	uint64_t enqueue_cycles, dequeue_cycles; /* of calls that moved packets */
	uint64_t idle_cycles; /* of dequeue calls that did not, though they were allowed to */
	uint64_t idle_calls;
	uint64_t offered, dropped, sent; /* packets */
	uint64_t offered_bytes, sent_bytes;
	uint64_t ns; /* simulated */
};

struct drive {
	const struct scheduler_subject *subject;
	void *state;
	struct packets *packets;
	double now; /* ns, simulated */
	double wire_free; /* ns: when the wire will have sent what it was given */
	double step; /* ns a round */
	double ns_per_byte; /* of the wire */
	double overhead; /* bytes a packet */
	double mean; /* bytes of a packet */
	uint64_t held; /* packets */
	bool real_time;
	uint64_t tsc_start; /* at now = 0 */
};

/* `load` is in percent of what the case's channels carry. Returns 0, or -1 after a message. */
int drive_create(struct drive *d, const struct scheduler_subject *subject,
		 const struct bench_case *c, unsigned load, struct rte_mempool *pool);

/* Empties and frees. May be called when drive_create() has failed. */
void drive_free(struct drive *d);

/* Runs until as much leaves as comes. Returns 0, or -1 after a message. */
int drive_settle(struct drive *d, const struct bench_case *c);

/*
 * Runs for about `milliseconds` of the machine's time, after a warm-up; `out` has the middle half of
 * the batches in which that was measured. Returns 0, or -1 after a message.
 */
int drive_run(struct drive *d, unsigned milliseconds, struct tally *out);
