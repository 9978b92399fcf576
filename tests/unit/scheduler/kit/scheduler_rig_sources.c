/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets, where they come from, and the clock's steps. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "scheduler_rig.h"

#define BATCH 32
#define BLOCK 4096

static struct rig_packet *packet_make(struct rig *r, uint32_t flow, uint32_t bytes) {
	struct rig_packet *p;

	if (r->free_packets == NULL) {
		struct rig_packet *block = calloc(BLOCK, sizeof(*block));

		r->blocks = realloc(r->blocks, (r->block_count + 1) * sizeof(struct rig_packet *));
		assert_true(block != NULL && r->blocks != NULL);
		r->blocks[r->block_count++] = block;
		for (size_t i = 0; i < BLOCK; i++)
			block[i].next = i + 1 < BLOCK ? &block[i + 1] : NULL;
		r->free_packets = block;
	}
	p = r->free_packets;
	r->free_packets = p->next;
	*p = (struct rig_packet){NULL, ++r->flows[flow].serial, r->now, flow, bytes, true};
	return p;
}

struct batch {
	struct scheduler_arrival in[BATCH];
	unsigned n;
};

/* Returns how many were queued. */
static unsigned batch_put(struct rig *r, struct batch *b) {
	enum scheduler_verdict verdicts[BATCH];
	unsigned queued = scheduler_enqueue(r->s, r->epoch + r->now, b->in, b->n, verdicts), n = 0;

	for (unsigned i = 0; i < b->n; i++) {
		struct rig_packet *p = b->in[i].packet;

		r->flows[p->flow].verdicts[verdicts[i]]++;
		if (verdicts[i] == SCHEDULER_QUEUED) {
			n++;
			continue;
		}
		p->inside = false;
		p->next = r->free_packets;
		r->free_packets = p;
	}
	assert_int_equal(queued, n);
	r->inside += n;
	r->next = 0;
	b->n = 0;
	return n;
}

static void batch_add(struct rig *r, struct batch *b, uint32_t flow, uint32_t bytes) {
	b->in[b->n++] = (struct scheduler_arrival){packet_make(r, flow, bytes), flow, bytes};
	if (b->n == BATCH)
		batch_put(r, b);
}

enum scheduler_verdict rig_put(struct rig *r, uint32_t flow, uint32_t bytes) {
	struct rig_packet *p = packet_make(r, flow, bytes);
	const struct scheduler_arrival in = {p, flow, bytes};
	enum scheduler_verdict verdict;
	unsigned queued = scheduler_enqueue(r->s, r->epoch + r->now, &in, 1, &verdict);

	assert_int_equal(queued, verdict == SCHEDULER_QUEUED);
	r->flows[flow].verdicts[verdict]++;
	r->inside += queued;
	r->next = 0;
	if (verdict != SCHEDULER_QUEUED) {
		p->inside = false;
		p->next = r->free_packets;
		r->free_packets = p;
	}
	return verdict;
}

static uint32_t size_of_next(struct rig *r, const struct rig_source *s) {
	return s->smallest == s->largest ? s->smallest
					 : random_between(&r->random, s->smallest, s->largest);
}

void rig_feed(struct rig *r, uint32_t flow, struct rig_source source) {
	struct rig_flow *f = &r->flows[flow];
	struct batch b = {.n = 0};
	size_t kept = 0;

	for (size_t i = 0; i < r->timed_count; i++) {
		if (r->timed[i] != flow)
			r->timed[kept++] = r->timed[i];
	}
	r->timed_count = kept;
	if (source.backlog == 0)
		source.backlog = BATCH;
	f->source = source;
	f->next_at = (double)r->now;
	if (source.kind > RIG_BACKLOGGED)
		r->timed[r->timed_count++] = flow;
	if (source.kind != RIG_BACKLOGGED)
		return;
	for (uint32_t i = 0; i < source.backlog; i++)
		batch_add(r, &b, flow, size_of_next(r, &source));
	batch_put(r, &b);
}

void rig_feed_always(struct rig *r, uint32_t flow, uint32_t smallest, uint32_t largest) {
	rig_feed(r, flow,
		 (struct rig_source){
			 .kind = RIG_BACKLOGGED, .smallest = smallest, .largest = largest});
}

/* Moves the source on by one packet of `bytes`. */
static void source_advance(struct rig *r, struct rig_flow *f, uint32_t bytes) {
	const struct rig_source *s = &f->source;
	double gap = 8e9 * bytes / (double)s->rate;

	if (s->kind == RIG_POISSON)
		gap *= -log((random_next(&r->random) + 0.5) / 4294967296.0);
	f->next_at += gap;
	if (s->kind == RIG_ON_OFF) {
		double period = (double)(s->on_ns + s->off_ns);
		double phase = fmod(f->next_at, period);

		if (phase >= (double)s->on_ns)
			f->next_at += period - phase;
	}
}

static void sources_put(struct rig *r) {
	struct batch b = {.n = 0};

	for (size_t i = 0; i < r->timed_count; i++) {
		struct rig_flow *f = &r->flows[r->timed[i]];

		while (f->next_at <= (double)r->now) {
			uint32_t bytes = size_of_next(r, &f->source);

			batch_add(r, &b, r->timed[i], bytes);
			source_advance(r, f, bytes);
		}
	}
	if (b.n > 0)
		batch_put(r, &b);
}

static unsigned take(struct rig *r, struct scheduler_grant *grants, unsigned n) {
	n = scheduler_dequeue(r->s, r->epoch + r->now, grants, n);
	if (n > 0 && r->next > r->epoch + r->now)
		fail_msg("something goes %llu ns before scheduler_next() said so",
			 (unsigned long long)(r->next - r->epoch - r->now));
	for (unsigned i = 0; i < n; i++)
		rig_judge(r, &grants[i]);
	r->next = scheduler_next(r->s);
	if (r->inside == 0)
		assert_true(r->next == UINT64_MAX);
	return n;
}

unsigned rig_take(struct rig *r, unsigned n) {
	struct scheduler_grant grants[BATCH];
	unsigned taken = 0, got = 1;

	while (taken < n && (got > 0 || scheduler_has_more(r->s))) {
		got = take(r, grants, n - taken < BATCH ? n - taken : BATCH);
		taken += got;
	}
	return taken;
}

uint64_t rig_send(struct rig *r) {
	struct scheduler_grant grants[BATCH];
	struct batch b = {.n = 0};
	uint64_t total = 0;
	unsigned n;

	do {
		n = take(r, grants, BATCH);
		total += n;
		for (unsigned i = 0; i < n; i++) {
			const struct rig_source *s = &r->flows[grants[i].flow].source;

			if (s->kind == RIG_BACKLOGGED)
				batch_add(r, &b, grants[i].flow, size_of_next(r, s));
		}
		if (b.n > 0)
			batch_put(r, &b);
	} while (n == BATCH || scheduler_has_more(r->s));
	return total;
}

void rig_run(struct rig *r, uint64_t ns) {
	uint64_t end = r->now + ns;

	while (r->now < end) {
		uint64_t step = r->irregular
					? random_between(&r->random, 1, 2 * (uint32_t)r->step_ns)
					: r->step_ns;

		r->now = r->now + step < end ? r->now + step : end;
		sources_put(r);
		rig_send(r);
	}
}
