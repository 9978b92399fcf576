/* SPDX-License-Identifier: BSD-3-Clause */
/* Injects faults into a DPDK crypto device: replaces its enqueue and dequeue functions by wrappers, which delay,
 * reorder, refuse, fail or lose operations. The device itself processes the operations correctly. */
#pragma once

#include <rte_cryptodev.h>

#include "random.h"
#include "test.h"

/* The test sets these at any time. */
static struct faults {
	unsigned max_delay; /* longest delay of an operation, in polls */
	unsigned fail_one_in; /* one of this many operations fails; 0: none */
	unsigned lose_one_in; /* one of this many is not returned before this is 0; 0: none */
	bool reorders; /* returns operations in random order */
	bool accepts_part; /* accepts a random part of a burst */
	bool accepts_none;
	bool returns_none;
} faults;

struct faulty_counts {
	unsigned failed; /* operations, since faulty_attach() */
	unsigned pending; /* operations completed and not returned */
};

#define QUEUE_PAIRS 8
#define OPS 2048

struct delayed_op {
	struct rte_crypto_op *op;
	unsigned polls;
	bool lost;
};

struct queue_pair {
	void *qp; /* the queue pair of the device */
	struct delayed_op ops[OPS]; /* completed, not returned */
	unsigned count;
};

static struct rte_crypto_fp_ops device_functions;
static struct queue_pair queue_pairs[QUEUE_PAIRS];
static struct random random_state;
static unsigned failed;

static inline struct queue_pair *find_queue_pair(void *qp) {
	struct queue_pair *p = queue_pairs;

	while (p->qp != NULL && p->qp != qp)
		p++;
	assert_true(p < queue_pairs + QUEUE_PAIRS);
	p->qp = qp;
	return p;
}

/* True with a probability of 1 / n; never for 0. */
static inline bool one_in(unsigned n) {
	return n != 0 && random_below(&random_state, n) == 0;
}

static inline uint16_t enqueue(void *qp, struct rte_crypto_op **ops, uint16_t n) {
	if (faults.accepts_none)
		return 0;
	if (faults.accepts_part)
		n = (uint16_t)random_between(&random_state, 0, n);
	return device_functions.enqueue_burst(qp, ops, n);
}

/* Dequeues all completed operations of the device, and decides on their faults. */
static inline void dequeue_completed(struct queue_pair *p) {
	uint16_t n;

	do {
		struct rte_crypto_op *ops[64];

		n = device_functions.dequeue_burst(p->qp, ops, RTE_DIM(ops));
		for (uint16_t i = 0; i < n; i++) {
			assert_true(p->count < OPS);
			p->ops[p->count++] = (struct delayed_op){
				ops[i], random_between(&random_state, 0, faults.max_delay),
				one_in(faults.lose_one_in)};
			if (!one_in(faults.fail_one_in))
				continue;
			ops[i]->status = RTE_CRYPTO_OP_STATUS_ERROR;
			failed++;
		}
	} while (n > 0);
}

static inline bool ready(struct delayed_op *w) {
	if (w->lost && faults.lose_one_in != 0)
		return false;
	if (w->polls > 0)
		w->polls--;
	return w->polls == 0;
}

static inline uint16_t dequeue(void *qp, struct rte_crypto_op **ops, uint16_t capacity) {
	struct queue_pair *p = find_queue_pair(qp);
	unsigned kept = 0;
	uint16_t n = 0;

	dequeue_completed(p);
	if (faults.returns_none)
		return 0;
	for (unsigned i = 0; i < p->count; i++) {
		struct delayed_op *w = &p->ops[i];

		if (n < capacity && ready(w) &&
		    (faults.reorders || kept == 0 || faults.lose_one_in != 0))
			ops[n++] = w->op;
		else
			p->ops[kept++] = *w;
	}
	p->count = kept;
	for (unsigned i = n; faults.reorders && i > 1; i--) {
		unsigned other = random_below(&random_state, i);
		struct rte_crypto_op *op = ops[other];

		ops[other] = ops[i - 1];
		ops[i - 1] = op;
	}
	return n;
}

/* Wraps the device of that name until it is stopped, without faults at first. */
static inline void faulty_attach(const char *name) {
	int id = rte_cryptodev_get_dev_id(name);

	assert_true(id >= 0);
	memset(&faults, 0, sizeof(faults));
	memset(queue_pairs, 0, sizeof(queue_pairs));
	random_state.state = 3;
	failed = 0;
	device_functions = rte_crypto_fp_ops[id];
	rte_crypto_fp_ops[id].enqueue_burst = enqueue;
	rte_crypto_fp_ops[id].dequeue_burst = dequeue;
}

static inline struct faulty_counts faulty_counts(void) {
	struct faulty_counts c = {.failed = failed};

	for (unsigned i = 0; i < QUEUE_PAIRS; i++)
		c.pending += queue_pairs[i].count;
	return c;
}

/* Overwrites the buffers of all operations that were not returned, as a device may. */
static inline void faulty_overwrite_pending(void) {
	for (unsigned i = 0; i < QUEUE_PAIRS; i++) {
		for (unsigned k = 0; k < queue_pairs[i].count; k++) {
			struct rte_mbuf *m = queue_pairs[i].ops[k].op->sym->m_src;

			memset(m->buf_addr, 0xee, m->buf_len);
		}
	}
}

/* Call it when the device is closed: forgets operations that were not returned. */
static inline void faulty_detach(void) {
	memset(queue_pairs, 0, sizeof(queue_pairs));
}
