/* SPDX-License-Identifier: BSD-3-Clause */
/* A scheduler that is measured. Packets are mbufs without data; their length counts the CRC. */
#pragma once

#include <stdbool.h>

#include <rte_mbuf.h>

#include "scheduler_case.h"

#define SUBJECT_BURST 64

struct scheduler_subject {
	const char *name;
	/* Gives only what the channels can send now. Of others no more may be asked for than that. */
	bool shapes;
	/* For packets of `mean` bytes. Returns NULL after a message. */
	void *(*create)(const struct bench_case *c, double mean);
	void (*free)(void *s);
	/* Writes into the first cache line of the mbuf what enqueue() finds its flow by. */
	void (*mark)(void *s, struct rte_mbuf *m, uint32_t flow);
	/* SUBJECT_BURST packets. What it does not queue it frees. Returns how many it did. */
	unsigned (*enqueue)(void *s, uint64_t now, struct rte_mbuf **packets);
	/* At most SUBJECT_BURST. Returns how many. */
	unsigned (*dequeue)(void *s, uint64_t now, struct rte_mbuf **packets, unsigned n);
};

extern const struct scheduler_subject subject_vcmts; /* src/scheduler, flows by weight */
extern const struct scheduler_subject subject_priorities; /* the same, half of them by priority */
extern const struct scheduler_subject subject_rte_sched; /* DPDK's librte_sched */
extern const struct scheduler_subject subject_rte_sched_turns; /* the same, pipes in short turns */

/* Ours, and what it is compared with. */
#define SUBJECTS 4
extern const struct scheduler_subject *const scheduler_subjects[SUBJECTS];
