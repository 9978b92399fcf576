/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles of the batches of a run. */
#pragma once

#include <stdint.h>

#include "pipeline.h"

/* In reference cycles. */
struct batch {
	uint64_t order; /* 1/1024 cycles per packet; the first member, for middle_half() */
	uint64_t packets;
	uint64_t cycles;
	uint64_t stages[BENCH_MAX_LISTS][PIPELINE_MAX_STAGES];
};

/* Sets the batch's `stages` of a list to the cycles of the accounts, adds them to `cycles`, and resets the
 * accounts. */
void batch_add_accounts(struct batch *b, unsigned list, struct pipeline *p);

/* Adds the mean cycles per packet of the middle half of the batches to the zeroed `cycles` and, unless NULL,
 * to the zeroed `stages`. Reorders the batches. */
void batches_mean(struct batch *batches, unsigned count, double *cycles,
		  double (*stages)[PIPELINE_MAX_STAGES]);
