/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast scheduler and the model side by side. The model follows the fast one's grants: each must
 * be one that the rules allow at that moment, and where the fast one stops, nothing may be left that
 * the rules would let go. So their states never part, and whatever the contract tells exactly is
 * compared exactly: verdicts, order, numbers, counts. What may differ:
 *
 * - LOCKSTEP_SLOP_NS: what waits for its time (a bucket, the end of a rest) may go so much later;
 * - a pass: how far its horizon is away cannot be seen from outside. Something may go over a channel
 *   that has work for no more than the lead, and must when it is no more than SCHEDULER_REST_NS, or
 *   when another of its cluster goes over one with as much;
 * - LOCKSTEP_SLACK: a bucket may be so much fuller than the model's when something goes, and a 64th of
 *   a nanosecond for each packet since it was full: fractions are cut off somewhere;
 * - the end of a channel's work may lie LOCKSTEP_TIE_NS beside the model's, and as much for each packet
 *   since it was idle (both in bytes, where a rate changes);
 * - turns among equals: over any time in which two both could go, their bytes (by weight) are within
 *   three turns and two packets: one turn that one of them has had already, one in which each stands,
 *   and what each may have taken too much.
 */
#pragma once

#include "random.h"
#include "scheduler/report.h"
#include "scheduler_model.h"

#define LOCKSTEP_SLOP_NS 4100
#define LOCKSTEP_TIE_NS 8
#define LOCKSTEP_SLACK MODEL_BYTE
#define LOCKSTEP_CALLS 1000 /* that one time takes at most */
#define LOCKSTEP_BATCHES 32 /* packets: so late the account may be seen */

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
	uint32_t longest; /* packets come up to this */
};

struct lockstep_pair {
	int64_t ahead; /* bytes by weight that one of two had more than the other */
	bool both; /* both could go all the time since it was 0 */
};

/* A column that could go. */
struct lockstep_wait {
	uint64_t bytes; /* of its cluster's account that surely came together meanwhile */
	uint64_t others; /* packets of other lower columns that went meanwhile */
};

struct lockstep {
	struct lockstep_config c;
	struct scheduler *s;
	struct model *m;
	struct random r;
	uint64_t seed, step, now;
	uintptr_t packets;
	uint64_t drops[MODEL_FLOWS][SCHEDULER_VERDICTS];
	uint64_t account[MODEL_GROUPS]; /* the most that its cluster may have sent above others */
	struct lockstep_wait starved[MODEL_GROUPS][MODEL_COLUMNS];
	struct lockstep_pair flows[MODEL_FLOWS][MODEL_FLOWS];
	struct lockstep_pair modems[MODEL_GROUPS][SCHEDULER_PRIORITIES][MODEL_MODEMS][MODEL_MODEMS];
	bool hasty; /* calls that leave work are not always followed by another at the same time */
	bool changed; /* while it ran: what depends on the first configuration is not judged */
};

/* Numbers that differ also for seeds that are neighbours. */
struct random lockstep_random(uint64_t seed);

void lockstep_random_config(struct lockstep_config *c, struct random *r, unsigned features);
void lockstep_random_flow(struct lockstep_config *c, struct random *r, unsigned features,
			  struct scheduler_flow *f);
void lockstep_random_group(struct lockstep_config *c, struct random *r, uint32_t group);
void lockstep_random_channel(struct random *r, unsigned features, struct scheduler_channel *c);
uint32_t lockstep_random_bytes(const struct lockstep_config *c, struct random *r);
uint64_t lockstep_random_rate(struct random *r, uint64_t low, unsigned doublings);
uint64_t lockstep_random_peak(struct random *r, uint64_t sustained);

/* Makes both of a random configuration that has some of the features, and frees them. */
struct lockstep *lockstep_open(uint64_t seed, unsigned features);
void lockstep_close(struct lockstep *l);

/* Up to MODEL_WAITING packets, to which it gives numbers. Both must say the same of each. */
void lockstep_arrive(struct lockstep *l, struct scheduler_arrival *in, unsigned n);

/* Takes up to `wanted`, in as many calls as the scheduler asks for, and judges them. Returns how many
 * came. While groups move after a change, what depends on who competes with whom is not judged. */
unsigned lockstep_dequeue(struct lockstep *l, unsigned wanted);

/* The fast one's report of itself against what was counted here. */
void lockstep_reports(struct lockstep *l);

/* To be called after a change: comparisons over time begin anew. */
void lockstep_changed(struct lockstep *l);

/* Empties both; each packet must come once, of no flow out of order. Of one flow: up to `n` packets. */
void lockstep_drain(struct lockstep *l);
void lockstep_drain_flow(struct lockstep *l, uint32_t flow, unsigned n);

/* A time in the style of `now`: near, far, the same, back, or what scheduler_next() names. */
uint64_t lockstep_random_time(struct lockstep *l);

/* How far the end of a line's work may be beside the model's: ns. */
uint64_t judge_tie(const struct model *m, const struct model_line *l);

/* Fails with the seed and the step. */
void lockstep_fail(const struct lockstep *l, const char *what, uint64_t a, uint64_t b);

/* The judge: why this grant is none that may be given now; NULL where it may. */
const char *judge_grant(const struct model *m, const struct scheduler_grant *g);

/* Fails where its column is not the one whose turn it is. */
void judge_columns(struct lockstep *l, uint32_t flow, uint32_t channel, uint32_t bytes);

/* The flow that could go but was left; -1 where there is none. */
int judge_left(const struct model *m);

/* Whether the first packet of a flow surely may go, of its own and its modem's rates. */
bool judge_ready(const struct model *m, uint32_t flow);

/* The column in which a flow surely stands that has a channel which will have sent its work in `ns`,
 * and the highest in which it may stand; -1: none. */
int judge_surely(const struct model *m, uint32_t flow, uint64_t ns);
int judge_perhaps(const struct model *m, uint32_t flow);
