/* SPDX-License-Identifier: BSD-3-Clause */
/* A scheduler to measure. Packets are mbufs without data; their length includes the CRC. */
#pragma once

#include <stdbool.h>

#include <rte_mbuf.h>

#include "scheduler_case.h"

#define SUBJECT_BURST 64

struct scheduler_subject {
	const char *name;
	/* Returns only packets that the channels can send now. For other schedulers the caller limits the
	 * requests. */
	bool shapes;
	/* Creates it for packets of `mean` bytes. Returns NULL after a message. */
	void *(*create)(const struct bench_case *c, double mean);
	void (*free)(void *s);
	/* Writes the flow's identification into the first cache line of the mbuf, for enqueue(). */
	void (*mark)(void *s, struct rte_mbuf *m, uint32_t flow);
	/* Enqueues SUBJECT_BURST packets at the time `now` (ns); frees those that it drops. Returns the number of enqueued
	 * packets. */
	unsigned (*enqueue)(void *s, uint64_t now, struct rte_mbuf **packets);
	/* Dequeues at most SUBJECT_BURST packets. Returns their number. */
	unsigned (*dequeue)(void *s, uint64_t now, struct rte_mbuf **packets, unsigned n);
};

extern const struct scheduler_subject subject_vcmts; /* src/scheduler, flows share by weight */
/* the same, half of the flows by priority */
extern const struct scheduler_subject subject_priorities;
extern const struct scheduler_subject subject_rte_sched; /* DPDK's librte_sched */
/* the same, with short quanta per pipe */
extern const struct scheduler_subject subject_rte_sched_quanta;

/* src/scheduler in two settings, and rte_sched in two. */
#define SUBJECTS 4
extern const struct scheduler_subject *const scheduler_subjects[SUBJECTS];
