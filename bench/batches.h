/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles of the batches of a run. */
#pragma once

#include <stdint.h>

#include "pipeline.h"

/* In reference cycles. */
struct batch {
	uint64_t order; /* sort key: cycles per packet */
	uint64_t packets;
	uint64_t cycles;
	uint64_t stages[BENCH_MAX_LISTS][PIPELINE_MAX_STAGES];
};

/* Adds the accounts of a list's stages to the batch and resets them. */
void batch_add_accounts(struct batch *b, unsigned list, struct pipeline *p);

/* Adds the mean packet of the middle half of the batches to the zeroed `cycles` and, unless NULL,
 * to the zeroed `stages`, in reference cycles. Reorders the batches. */
void batches_mean(struct batch *batches, unsigned count, double *cycles,
		  double (*stages)[PIPELINE_MAX_STAGES]);
