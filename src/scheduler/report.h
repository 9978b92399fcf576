/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be read of a scheduler, also by another thread while it works: single numbers are then
 * whole, but two of them need not be of the same moment.
 */
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
	uint64_t bytes; /* with all that stands around the packets, as counted against its rate */
	uint64_t busy_until; /* ns: when it will have sent what it was given */
};

/* How long receivers wait for the order of bonded flows: a packet that arrives before one of a
 * lower number of its flow waits for that. */
struct scheduler_group_report {
	uint64_t packets; /* granted */
	uint64_t early_packets; /* of these, ones that must wait */
	uint64_t skew_ns; /* their waits, summed */
	uint64_t max_skew_ns;
};

/* From enqueue to dequeue. Bucket b counts delays from scheduler_delay_floor(b) on; its width is at
 * most an eighth of that, and 1.024 us at least. */
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

/* The shortest delay that bucket b counts, ns; for SCHEDULER_DELAY_BUCKETS: where the last one
 * ends. */
uint64_t scheduler_delay_floor(unsigned bucket);

/* The delay that `permille` of the packets did not exceed, ns (upper edge of its bucket); 0
 * where there were none. */
uint64_t scheduler_delay_quantile(const struct scheduler_delay_report *r, unsigned permille);
