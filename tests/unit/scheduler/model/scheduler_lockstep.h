/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the scheduler and the model in lockstep. The model follows the scheduler's grants: each must
 * be one that the rules allow at that time. When the scheduler stops, no flow that could send may
 * be left. So their states stay equal: verdicts, order, numbers and counts are compared exactly.
 * Tolerances:
 *
 * - LOCKSTEP_SLOP_NS: a bucket or a sleeping group may take effect so much later.
 * - A channel may be used while it has work for at most the lead. It must be used if its work is at
 *   most SCHEDULER_WAKE_NS, or if its cluster uses another channel with as much work.
 * - LOCKSTEP_SLACK: a bucket may be so much fuller than the model's, and 1/64 ns more per packet
 *   since it was full, as the scheduler rounds.
 * - LOCKSTEP_TIE_NS: the end of a channel's work may differ so much, and as much more per packet
 *   since the channel was idle (in bytes when a rate changes).
 * - Round robin: while two could both be served, their bytes (by weight) differ by at most three
 *   quanta and two packets: a quantum already served, one in progress for each, and the excess of
 *   the last packets.
 */
#pragma once

#include "random.h"
#include "scheduler/report.h"
#include "scheduler_model.h"

#define LOCKSTEP_SLOP_NS 4100
#define LOCKSTEP_TIE_NS 8
#define LOCKSTEP_SLACK MODEL_BYTE
#define LOCKSTEP_CALLS 1000 /* limit at one time */
#define LOCKSTEP_BATCHES 32 /* packets of the longest size, by which lower_bytes may be late */

/* What a random configuration may have. */
enum lockstep_feature {
	LOCKSTEP_RATES = 1, /* sustained and peak */
	LOCKSTEP_RESERVED = 2,
	LOCKSTEP_AGGREGATE = 4,
	LOCKSTEP_LIMIT = 8,
	LOCKSTEP_DEPI = 16,
	LOCKSTEP_LONG = 32, /* packets up to SCHEDULER_PACKET_MAX and above */
	LOCKSTEP_ALL = 63,
};

struct lockstep_config {
	struct scheduler_config config; /* points to what follows */
	struct scheduler_channel channels[MODEL_CHANNELS];
	struct scheduler_group groups[MODEL_GROUPS];
	uint32_t lists[MODEL_GROUPS][MODEL_CHANNELS];
	struct scheduler_modem modems[MODEL_MODEMS];
	struct scheduler_flow flows[MODEL_FLOWS];
	uint32_t longest; /* longest packet, bytes */
};

struct lockstep_pair {
	int64_t ahead; /* bytes by weight that the first was served more than the second */
	bool both; /* both could be served since it was 0 */
};

/* A class queue that could be served. */
struct lockstep_starved {
	uint64_t bytes; /* of its cluster's lower_bytes, that surely accrued meanwhile */
	uint64_t other_packets; /* packets of other lower class queues meanwhile */
};

struct lockstep {
	struct lockstep_config c;
	struct scheduler *s;
	struct model *m;
	struct random r;
	uint64_t seed, step, now;
	uintptr_t packets;
	uint64_t drops[MODEL_FLOWS][SCHEDULER_VERDICTS];
	uint64_t lower_bytes[MODEL_GROUPS]; /* upper bound of the scheduler's lower_bytes */
	struct lockstep_starved starved[MODEL_GROUPS][MODEL_CLASS_QUEUES];
	struct lockstep_pair flows[MODEL_FLOWS][MODEL_FLOWS];
	struct lockstep_pair modems[MODEL_GROUPS][SCHEDULER_PRIORITIES][MODEL_MODEMS][MODEL_MODEMS];
	bool skips_calls; /* a call that leaves work is not always followed by another */
	bool changed; /* bounds of the first configuration are not checked */
};

/* The numbers of adjacent seeds differ, too. */
struct random lockstep_random(uint64_t seed);

void lockstep_random_config(struct lockstep_config *c, struct random *r, unsigned features);
void lockstep_random_flow(struct lockstep_config *c, struct random *r, unsigned features,
			  struct scheduler_flow *f);
void lockstep_random_group(struct lockstep_config *c, struct random *r, uint32_t group);
void lockstep_random_channel(struct random *r, unsigned features, struct scheduler_channel *c);
uint32_t lockstep_random_bytes(const struct lockstep_config *c, struct random *r);
uint64_t lockstep_random_rate(struct random *r, uint64_t low, unsigned doublings);
uint64_t lockstep_random_peak(struct random *r, uint64_t sustained);

/* Creates and frees both, with a random configuration that has some of the features. */
struct lockstep *lockstep_open(uint64_t seed, unsigned features);
void lockstep_close(struct lockstep *l);

/* Enqueues up to MODEL_QUEUED packets and numbers them. Both must return the same verdicts. */
void lockstep_arrive(struct lockstep *l, struct scheduler_arrival *in, unsigned n);

/* Dequeues up to `wanted` packets, in as many calls as the scheduler needs, and checks them.
 * Returns how many. While groups move after a change, competition is not checked. */
unsigned lockstep_dequeue(struct lockstep *l, unsigned wanted);

/* Compares the scheduler's reports with the model's counts. */
void lockstep_reports(struct lockstep *l);

/* After a change: restarts comparisons over time. */
void lockstep_changed(struct lockstep *l);

/* Drains all packets, or up to `n` of a flow. Each must leave once, in the order of its flow. */
void lockstep_drain(struct lockstep *l);
void lockstep_drain_flow(struct lockstep *l, uint32_t flow, unsigned n);

/* Draws the next time: near, far, the same, earlier, or scheduler_next(). */
uint64_t lockstep_random_time(struct lockstep *l);

/* Tolerance of the end of a line's work, ns. */
uint64_t end_tolerance(const struct model *m, const struct model_line *l);

/* Fails with the seed and the step. */
void lockstep_fail(const struct lockstep *l, const char *what, uint64_t a, uint64_t b);

/* Returns why the grant is not allowed now, or NULL. */
const char *check_grant(const struct model *m, const struct scheduler_grant *g);

/* Fails if another class queue is to be served. */
void check_class_queue(struct lockstep *l, uint32_t flow, uint32_t channel, uint32_t bytes);

/* A flow that could send but was not granted. -1: none. */
int find_overlooked_flow(const struct model *m);

/* Whether the rates of a flow and of its modem surely admit its first packet. */
bool surely_ready(const struct model *m, uint32_t flow);

/* The class queue in which a flow surely is, if one of its channels sends its work within `ns`, and
 * the highest one in which it may be. -1: none. */
int surely_in_queue(const struct model *m, uint32_t flow, uint64_t ns);
int perhaps_in_queue(const struct model *m, uint32_t flow);
