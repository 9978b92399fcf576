/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a scheduler under load, in rounds: a burst arrives, a burst is dequeued, and time advances by the
 * burst's duration at the load. Only the scheduler's calls are timed.
 *
 * Time is simulated, so that a round's work is the same on any machine, and not affected by preemption.
 * rte_sched reads the TSC itself, on which less or more time passes than in the simulation. This has no
 * effect here. Its clock also advances by the bytes sent, whichever is more; its buckets never limit; and
 * the caller limits what it may send, as a NIC's queue would, with the same lead as our channels have. With
 * `real_time`, no round begins before its time on the TSC, to verify this.
 */
#pragma once

#include "scheduler_packets.h"

/* Sums over rounds. Cycles are reference cycles. */
struct tally {
	uint64_t order; /* sort key of middle_half(), which needs it first */
	uint64_t enqueue_cycles, dequeue_cycles; /* of calls that moved packets */
	/* of dequeue calls that returned no packets although they were allowed to */
	uint64_t idle_cycles;
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
	double wire_free; /* ns: time at which the wire has sent all its packets */
	double step; /* ns per round */
	double ns_per_byte; /* of the wire */
	double overhead; /* bytes per packet */
	double mean; /* bytes of a packet */
	uint64_t queued; /* packets in the scheduler */
	bool real_time;
	uint64_t tsc_start; /* at now = 0 */
};

/* `load` is in percent of the capacity of the case's channels. Returns 0, or -1 after a message. */
int drive_create(struct drive *d, const struct scheduler_subject *subject,
		 const struct bench_case *c, unsigned load, struct rte_mempool *pool);

/* Drains the scheduler and frees. May be called if drive_create() failed. */
void drive_free(struct drive *d);

/* Runs until the sent rate equals the arriving rate. Returns 0, or -1 after a message. */
int drive_settle(struct drive *d, const struct bench_case *c);

/* Runs for about `milliseconds` of real time, after a warm-up; `out` gets the sums of the middle
 * half of the measured batches. Returns 0, or -1 after a message. */
int drive_run(struct drive *d, unsigned milliseconds, struct tally *out);
