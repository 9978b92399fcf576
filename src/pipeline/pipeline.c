/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/pipeline.h"

#include <string.h>

#include <rte_cycles.h>

/*
 * Calls a stage with the `n` packets of the burst, or with those of its queue. Returns whether it
 * was called.
 *
 * Sets `n` to the number of returned packets, and `moved` to the larger of input and output.
 */
static inline bool stage_call(struct pipeline *p, const struct stage *s, struct rte_mbuf **pkts,
			      uint16_t *n, unsigned *moved) {
	const struct queue *output_queue = &p->queues[s->output_queue];
	uint32_t before = output_queue->count;
	uint16_t in = *n;

	if (s->input_queue != 0 && !s->pulls_input)
		in = queue_remove_burst(&p->queues[s->input_queue], pkts, PIPELINE_BURST);
	if (in == 0 && !s->polls)
		return false;
	*n = s->run(stage_context(s, p->ctx), pkts, in);
	*moved = RTE_MAX((unsigned)in, *n + (output_queue->count - before));
	return true;
}

static unsigned run_plain(struct pipeline *p) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	unsigned work = 0, moved;
	uint16_t n = 0;

	for (unsigned i = 0; i < p->count; i++) {
		if (stage_call(p, &p->stages[i], pkts, &n, &moved))
			work += moved;
	}
	return work;
}

static unsigned run_accounted(struct pipeline *p) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint64_t start = rte_rdtsc();
	unsigned work = 0, moved;
	uint16_t n = 0;

	for (unsigned i = 0; i < p->count; i++) {
		struct stage_account *a = &p->accounts[i];
		uint64_t end;

		if (!stage_call(p, &p->stages[i], pkts, &n, &moved))
			continue;
		end = rte_rdtsc();
		if (moved == 0) {
			p->idle_cycles += end - start;
		} else {
			a->cycles += end - start;
			a->packets += moved;
			a->calls++;
			work += moved;
		}
		start = end;
	}
	return work;
}

void pipeline_tap_enqueued(const struct pipeline *p, const struct tap_list *t, unsigned queue,
			   struct rte_mbuf *m) {
	for (unsigned at = 0; at < p->count; at++) {
		if (p->stages[at].output_queue == queue && (t->out >> at & 1) != 0)
			t->tap->passed(t->tap, tap_boundary(t->first + at, TAP_OUT), &m, 1);
	}
}

/* As stage_call(), with captures. A queue shows its own packets. */
static bool stage_call_tapped(struct pipeline *p, unsigned at, const struct tap_list *t,
			      struct rte_mbuf **pkts, uint16_t *n, unsigned *moved) {
	const struct stage *s = &p->stages[at];
	const struct queue *output_queue = &p->queues[s->output_queue];
	uint32_t before = output_queue->count, stage = t->first + at;
	uint16_t in = *n;

	if (s->input_queue != 0 && !s->pulls_input)
		in = queue_remove_burst(&p->queues[s->input_queue], pkts, PIPELINE_BURST);
	if (in == 0 && !s->polls)
		return false;
	if (in > 0 && (t->in >> at & 1) != 0)
		t->tap->passed(t->tap, tap_boundary(stage, TAP_IN), pkts, in);
	*t->tap->stage = stage;
	*n = s->run(stage_context(s, p->ctx), pkts, in);
	*moved = RTE_MAX((unsigned)in, *n + (output_queue->count - before));
	if (*n > 0 && (t->out >> at & 1) != 0)
		t->tap->passed(t->tap, tap_boundary(stage, TAP_OUT), pkts, *n);
	return true;
}

/* The cycles include those of captures. */
static __rte_noinline unsigned run_tapped(struct pipeline *p, const struct tap_list *t) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint64_t start = rte_rdtsc(), end;
	unsigned work = 0, moved;
	uint16_t n = 0;

	for (unsigned i = 0; i < p->count; i++) {
		struct stage_account *a = &p->accounts[i];

		if (!stage_call_tapped(p, i, t, pkts, &n, &moved))
			continue;
		end = rte_rdtsc();
		work += moved;
		if (moved == 0) {
			p->idle_cycles += p->accounting ? end - start : 0;
		} else if (p->accounting) {
			a->cycles += end - start;
			a->packets += moved;
			a->calls++;
		}
		start = end;
	}
	*t->tap->stage = TAP_NO_STAGE;
	return work;
}

void pipeline_init(struct pipeline *p, const struct stage_list *list, void *ctx) {
	*p = (struct pipeline){
		.stages = list->stages,
		.count = list->count,
		.ctx = ctx,
		.accounting = true,
		.due = list->due,
	};
}

uint64_t pipeline_due_never(const void *ctx) {
	(void)ctx;
	return UINT64_MAX;
}

void pipeline_account(struct pipeline *p, bool on) {
	if (on && !p->accounting) {
		memset(p->accounts, 0, sizeof(p->accounts));
		p->idle_cycles = 0;
	}
	p->accounting = on;
}

void account_span_switch(struct account_span *span, bool was, bool on, uint64_t counted) {
	if (on && !was)
		span->from = counted;
	else if (was && !on)
		span->to = counted;
}

uint64_t account_span_packets(const struct account_span *span, bool on, uint64_t counted) {
	return (on ? counted : span->to) - span->from;
}

unsigned pipeline_run(struct pipeline *p) {
	const struct tap_list *tap = __atomic_load_n(&p->tap, __ATOMIC_ACQUIRE);

	if (unlikely(tap != NULL))
		return run_tapped(p, tap);
	return p->accounting ? run_accounted(p) : run_plain(p);
}
