/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scheduler under a simulated clock: sources keep its queues filled, each step of the clock takes out
 * what may go, and what went is counted. These are loads that are too large or too long for the model;
 * whether a single grant is one that the rules allow is judged beside that (scheduler_lockstep.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"
#include "scheduler/report.h"
#include "scheduler/scheduler.h"

#define KIT_BPS(mbps) ((uint64_t)(mbps) * 1000000)
#define KIT_MS UINT64_C(1000000)
#define KIT_S UINT64_C(1000000000)
#define KIT_STEP_NS 10000

struct kit_flow {
	uint32_t smallest, largest; /* bytes of a packet; between them all are as likely */
	uint32_t backlog; /* packets that the source keeps waiting; 0: it sends none */
	uint64_t number, latest; /* of the last packet put in and taken out */
	uint16_t sequence;
	uint64_t verdicts[SCHEDULER_VERDICTS]; /* since the start */
	/* since the mark */
	uint64_t packets, bytes;
};

struct kit {
	/* what the scheduler is made of; rate_limit, packet_limit and seed may be set at will */
	struct scheduler_config config;
	struct scheduler_channel *channels;
	struct scheduler_group *groups;
	struct scheduler_modem *modems;
	struct scheduler_flow *settings; /* of the flows */

	struct random random;

	struct scheduler *s;
	uint64_t now, mark;
	uint64_t next; /* what scheduler_next() said; 0 after an arrival */
	uint64_t inside; /* packets */
	struct kit_flow *flows;
	double *sent_ns; /* of each channel: work that it had sent at the mark */
};

/* Nothing yet; 10 us a step, at most 200,000 packets. */
struct kit kit_make(void);

/* Each returns the index. What is 0 in a flow and may not be, or buffers, get values that limit nothing. */
uint32_t kit_channel(struct kit *k, uint64_t rate);
uint32_t kit_group(struct kit *k, const uint32_t *channels, size_t count);
uint32_t kit_group_range(struct kit *k, uint32_t first, uint32_t count);
uint32_t kit_modem(struct kit *k, uint64_t rate, uint64_t burst);
uint32_t kit_flow(struct kit *k, struct scheduler_flow f);

void kit_start(struct kit *k);

/* From now on `backlog` packets of these sizes wait. */
void kit_feed(struct kit *k, uint32_t flow, uint32_t smallest, uint32_t largest, uint32_t backlog);

/* The same for all flows, with as many as one call of scheduler_dequeue() takes. */
void kit_feed_all(struct kit *k, uint32_t smallest, uint32_t largest);

/* One packet, now. */
enum scheduler_verdict kit_put(struct kit *k, uint32_t flow, uint32_t bytes);

/* Takes out what may go now; kit_take() takes out up to n and refills nothing. Returns packets. */
void kit_send(struct kit *k);
unsigned kit_take(struct kit *k, unsigned n);

/* Steps until `ns` from now have passed. */
void kit_run(struct kit *k, uint64_t ns);

/* Runs for so long, sets the mark, and runs for `ns` that are measured. */
void kit_measure(struct kit *k, uint64_t before_ns, uint64_t ns);

/* Bits per second of flows first .. first + count - 1, over the time since the mark. */
double kit_rate_sum(const struct kit *k, uint32_t first, uint32_t count);

/* Fails unless `measured` is within `part` of `expected`; `what` and `index` tell of what. */
void kit_expect(const char *what, size_t index, double measured, double expected, double part);

/* All channels had something to send for more than 99.5 % of the time since the mark. */
void kit_expect_filled(const struct kit *k);

/* 1 where all are equal (Jain, Chiu, Hawe 1984). */
double kit_jain(const double *x, size_t n);

/* Proves that the reports agree with what was counted and that every packet comes out, frees all. */
void kit_end(struct kit *k);

/* Frees all, whatever is inside: for tests that take packets out themselves. */
void kit_free(struct kit *k);
