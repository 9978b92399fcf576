/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/pipeline.h"

#include <rte_cycles.h>

static unsigned run_plain(struct pipeline *p) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	unsigned work = 0;
	uint16_t n = 0;

	for (unsigned i = 0; i < p->count; i++) {
		const struct stage *s = &p->stages[i];
		uint16_t in = n;

		if (n == 0 && !s->polls)
			continue;
		n = s->run(p->ctx, pkts, n);
		work += RTE_MAX(in, n);
	}
	return work;
}

static unsigned run_accounted(struct pipeline *p) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint64_t start = rte_rdtsc();
	unsigned work = 0;
	uint16_t n = 0;

	for (unsigned i = 0; i < p->count; i++) {
		const struct stage *s = &p->stages[i];
		struct stage_account *a = &p->accounts[i];
		uint16_t in = n;
		uint64_t end;

		if (n == 0 && !s->polls)
			continue;
		n = s->run(p->ctx, pkts, n);
		end = rte_rdtsc();
		if (in == 0 && n == 0) {
			p->idle_cycles += end - start;
		} else {
			a->cycles += end - start;
			a->packets += RTE_MAX(in, n);
			a->calls++;
			work += RTE_MAX(in, n);
		}
		start = end;
	}
	return work;
}

void pipeline_init(struct pipeline *p, const struct stage_list *list, void *ctx) {
	*p = (struct pipeline){
		.stages = list->stages,
		.count = list->count,
		.ctx = ctx,
		.accounting = true,
	};
}

unsigned pipeline_run(struct pipeline *p) {
	return p->accounting ? run_accounted(p) : run_plain(p);
}
