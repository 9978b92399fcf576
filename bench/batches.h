/* SPDX-License-Identifier: BSD-3-Clause */
/* What the batches of a run have cost. */
#pragma once

#include <stdint.h>

#include "pipeline.h"

/* Reference cycles. */
struct batch {
	uint64_t order; /* by cycles a packet */
	uint64_t packets;
	uint64_t cycles;
	uint64_t stages[BENCH_MAX_LISTS][PIPELINE_MAX_STAGES];
};

/* Takes the accounts of a list's stages into the batch and begins them anew. */
void batch_take_accounts(struct batch *b, unsigned list, struct pipeline *p);

/*
 * Adds the mean packet of the middle half of the batches to the zeroed `cycles` and, unless NULL, to
 * the zeroed `stages`: reference cycles. Changes the order of the batches.
 */
void batches_mean(struct batch *batches, unsigned count, double *cycles,
		  double (*stages)[PIPELINE_MAX_STAGES]);
