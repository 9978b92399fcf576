/* SPDX-License-Identifier: BSD-3-Clause */
/* src/scheduler as a subject, with all work that its caller does for a burst of mbufs. */
#include "scheduler_subject.h"

static void *create_weights(const struct bench_case *c, double mean) {
	return case_scheduler(c, mean, 0);
}

static void *create_priorities(const struct bench_case *c, double mean) {
	return case_scheduler(c, mean, CASE_STRICT);
}

static void destroy(void *s) {
	scheduler_free(s);
}

static void mark(void *s, struct rte_mbuf *m, uint32_t flow) {
	(void)s;
	m->hash.usr = flow;
}

static unsigned enqueue(void *s, uint64_t now, struct rte_mbuf **packets) {
	struct scheduler_arrival in[SUBJECT_BURST];
	enum scheduler_verdict verdicts[SUBJECT_BURST];
	unsigned queued;

	for (unsigned i = 0; i < SUBJECT_BURST; i++)
		in[i] = (struct scheduler_arrival){packets[i], packets[i]->hash.usr,
						   packets[i]->pkt_len};
	queued = scheduler_enqueue(s, now, in, SUBJECT_BURST, verdicts);
	for (unsigned i = 0; queued < SUBJECT_BURST && i < SUBJECT_BURST; i++) {
		if (verdicts[i] != SCHEDULER_QUEUED)
			rte_pktmbuf_free(packets[i]);
	}
	return queued;
}

static unsigned dequeue(void *s, uint64_t now, struct rte_mbuf **packets, unsigned n) {
	struct scheduler_grant grants[SUBJECT_BURST];
	unsigned granted = scheduler_dequeue(s, now, grants, n);

	for (unsigned i = 0; i < granted; i++)
		packets[i] = grants[i].packet;
	return granted;
}

const struct scheduler_subject subject_vcmts = {
	.name = "vcmts",
	.shapes = true,
	.create = create_weights,
	.free = destroy,
	.mark = mark,
	.enqueue = enqueue,
	.dequeue = dequeue,
};

const struct scheduler_subject subject_priorities = {
	.name = "priorities",
	.shapes = true,
	.create = create_priorities,
	.free = destroy,
	.mark = mark,
	.enqueue = enqueue,
	.dequeue = dequeue,
};
