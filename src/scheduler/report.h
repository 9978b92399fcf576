/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of a scheduler. Another thread may read them while it works: each number is then
 * consistent, but two numbers may be of different times. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "scheduler/scheduler.h"

struct scheduler_flow_report {
	uint64_t packets, bytes; /* granted */
	uint64_t drops[SCHEDULER_VERDICTS]; /* packets, by verdict; [SCHEDULER_QUEUED] is 0 */
	uint32_t waiting_packets, waiting_bytes;
	uint32_t drop_probability; /* of DOCSIS-PIE, in 1/2^32 */
};

struct scheduler_channel_report {
	uint64_t packets;
	uint64_t bytes; /* including DEPI, as charged to the channel's rate */
	uint64_t busy_until; /* ns: when all its work is sent */
};

/* How long receivers keep packets of bonded flows, to restore their order, until those of lower
 * numbers arrive. */
struct scheduler_group_report {
	uint64_t packets; /* granted */
	uint64_t early_packets; /* of these, packets that arrive early */
	uint64_t skew_ns; /* sum of their waits */
	uint64_t max_skew_ns;
};

/* Delay from enqueue to dequeue. Bucket b starts at scheduler_delay_floor(b). It is at most an
 * eighth of that wide, but at least 256 ns. */
#define SCHEDULER_DELAY_BUCKETS 240
struct scheduler_delay_report {
	uint64_t packets;
	uint64_t sum_ns;
	uint64_t buckets[SCHEDULER_DELAY_BUCKETS];
};

void scheduler_report_flow(const struct scheduler *s, uint32_t flow,
			   struct scheduler_flow_report *out);
void scheduler_report_channel(const struct scheduler *s, uint32_t channel,
			      struct scheduler_channel_report *out);
void scheduler_report_group(const struct scheduler *s, uint32_t group,
			    struct scheduler_group_report *out);
void scheduler_report_delay(const struct scheduler *s, unsigned priority,
			    struct scheduler_delay_report *out);

/* The shortest delay of bucket b, ns. For SCHEDULER_DELAY_BUCKETS: the end of the last bucket. */
uint64_t scheduler_delay_floor(unsigned bucket);

/* The delay, in ns, that `permille` of the packets did not exceed: the upper edge of its bucket.
 * 0 without packets. */
uint64_t scheduler_delay_quantile(const struct scheduler_delay_report *r, unsigned permille);
