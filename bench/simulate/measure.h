/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of a run, for each service flow and each group of senders. Times in ns. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hdr_histogram.h>

#include "scheduler/report.h"
#include "scheduler/scheduler.h"

/* One sample interval of a service flow. */
struct sample {
	uint64_t packets, bytes; /* granted */
	uint64_t delay_sum, delay_max; /* in the queue */
	uint64_t drops;
	uint32_t waiting_bytes; /* at the end of the interval */
	/* drop probability of DOCSIS-PIE at the end; may exceed 1, because it is scaled for small packets */
	double probability;
};

/* A service flow. All members except the samples count from the end of the warm-up. */
struct flow_measure {
	struct hdr_histogram *delay; /* in the queue, us/16 */
	uint64_t packets, bytes; /* granted */
	uint64_t drops[SCHEDULER_VERDICTS];
	double capacity; /* bytes that its sustained rate would have allowed */
	struct sample *samples;
	size_t sample_count, sample_capacity;
	struct sample current;
};

/* A group of senders, from the end of the warm-up. */
struct group_measure {
	struct hdr_histogram *delay; /* in units of MEASURE_UNIT */
	uint64_t packets, bytes; /* delivered */
	uint64_t drops;
};

/* Delays have a resolution of 1/16 us, up to 4.8 hours, with three digits. */
#define MEASURE_UNIT 16000. /* units per ms */

/* Returns NULL if memory is short; the caller closes it. */
struct hdr_histogram *measure_histogram(void);
void measure_delay(struct hdr_histogram *h, uint64_t delay);

/* A packet left the flow's queue after `delay`. `counts`: the warm-up is over; else only the samples count it. */
void measure_grant(struct flow_measure *m, uint32_t bytes, uint64_t delay, bool counts);

void measure_drop(struct flow_measure *m, enum scheduler_verdict why, bool counts);

/* Ends the sample interval, after which the queue is as in `r`. Returns false if memory is short. */
bool measure_sample(struct flow_measure *m, const struct scheduler_flow_report *r);
