/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted in a run: for each service flow, and for each group of senders. Times in ns. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hdr_histogram.h>

#include "scheduler/report.h"
#include "scheduler/scheduler.h"

/* What one sample interval of a service flow saw. */
struct sample {
	uint64_t packets, bytes; /* granted */
	uint64_t delay_sum, delay_max; /* of these in the queue */
	uint64_t drops;
	uint32_t waiting_bytes; /* at its end */
	double probability; /* of a drop by DOCSIS-PIE, at its end; above 1 for small packets' sake */
};

/* A service flow. All but the samples counts from the end of the warm-up on. */
struct flow_measure {
	struct hdr_histogram *delay; /* in the queue, us/16 */
	uint64_t packets, bytes; /* granted */
	uint64_t drops[SCHEDULER_VERDICTS];
	double capacity; /* bytes that its sustained rate would have let pass */
	struct sample *samples;
	size_t sample_count, sample_room;
	struct sample current;
};

/* A group of senders, from the end of the warm-up on. */
struct group_measure {
	struct hdr_histogram *delay; /* as above */
	uint64_t packets, bytes; /* delivered */
	uint64_t drops;
};

/* Delays are recorded to 1/16 us: up to 4.8 hours, to three digits. */
#define MEASURE_UNIT 16000. /* in a ms */

struct hdr_histogram *measure_histogram(void);
void measure_delay(struct hdr_histogram *h, uint64_t delay);

/* A packet left the queue of the flow. */
void measure_grant(struct flow_measure *m, uint32_t bytes, uint64_t delay, bool counts);

void measure_drop(struct flow_measure *m, enum scheduler_verdict why, bool counts);

/* The interval ends. Returns false where memory is short. */
bool measure_sample(struct flow_measure *m, const struct scheduler_flow_report *r);
