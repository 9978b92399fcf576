/* SPDX-License-Identifier: BSD-3-Clause */
#include "batches.h"

#include <string.h>

#include "middle.h"

void batch_add_accounts(struct batch *b, unsigned list, struct pipeline *p) {
	for (unsigned s = 0; s < p->count; s++)
		b->stages[list][s] = p->accounts[s].cycles;
	/* A list of one stage handles requests, not packets, so all of its calls count as idle. */
	if (p->count == 1)
		b->stages[list][0] += p->idle_cycles;
	for (unsigned s = 0; s < p->count; s++)
		b->cycles += b->stages[list][s];
	memset(p->accounts, 0, sizeof(p->accounts));
	p->idle_cycles = 0;
}

void batches_mean(struct batch *batches, unsigned count, double *cycles,
		  double (*stages)[PIPELINE_MAX_STAGES]) {
	uint64_t packets = 0;
	struct middle half;

	for (unsigned i = 0; i < count; i++)
		batches[i].order = batches[i].packets == 0
					   ? UINT64_MAX
					   : (batches[i].cycles << 10) / batches[i].packets;
	half = middle_half(batches, count, sizeof(*batches));
	for (unsigned i = half.first; i < half.end; i++)
		packets += batches[i].packets;
	for (unsigned i = half.first; i < half.end && packets > 0; i++) {
		*cycles += (double)batches[i].cycles / (double)packets;
		for (unsigned l = 0; stages != NULL && l < BENCH_MAX_LISTS; l++) {
			for (unsigned s = 0; s < PIPELINE_MAX_STAGES; s++)
				stages[l][s] += (double)batches[i].stages[l][s] / (double)packets;
		}
	}
}
