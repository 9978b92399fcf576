/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crypto device that does what none should: it stands between DPDK's functions and a device that works, which does
 * what it is given, and gives back what it likes, when it likes.
 */
#pragma once

#include <rte_cryptodev.h>

#include "random.h"
#include "test.h"

/* Set by the test, at any time. */
static struct faults {
	unsigned late; /* polls that an operation is held back, at most */
	unsigned fails; /* one of so many; 0: none */
	unsigned swallows; /* one of so many is kept until `swallows` is 0; 0: none */
	bool any_order;
	bool takes_part; /* any number of the operations that it is offered */
	bool takes_nothing;
	bool gives_nothing;
} faults;

struct faulty_counts {
	unsigned failed; /* operations, since faulty_attach() */
	unsigned held; /* now */
};

#define PAIRS 8
#define OPS 2048

struct waiting {
	struct rte_crypto_op *op;
	unsigned polls;
	bool swallowed;
};

struct pair {
	void *qp; /* of the device behind */
	struct waiting ops[OPS];
	unsigned count;
};

static struct rte_crypto_fp_ops behind;
static struct pair pairs[PAIRS];
static struct random chance;
static unsigned failed;

static inline struct pair *pair_of(void *qp) {
	struct pair *p = pairs;

	while (p->qp != NULL && p->qp != qp)
		p++;
	assert_true(p < pairs + PAIRS);
	p->qp = qp;
	return p;
}

static inline bool one_of(unsigned many) {
	return many != 0 && random_below(&chance, many) == 0;
}

static inline uint16_t enqueue(void *qp, struct rte_crypto_op **ops, uint16_t n) {
	if (faults.takes_nothing)
		return 0;
	if (faults.takes_part)
		n = (uint16_t)random_between(&chance, 0, n);
	return behind.enqueue_burst(qp, ops, n);
}

/* All that the device behind has done. */
static inline void take_over(struct pair *p) {
	uint16_t n;

	do {
		struct rte_crypto_op *ops[64];

		n = behind.dequeue_burst(p->qp, ops, RTE_DIM(ops));
		for (uint16_t i = 0; i < n; i++) {
			assert_true(p->count < OPS);
			p->ops[p->count++] =
				(struct waiting){ops[i], random_between(&chance, 0, faults.late),
						 one_of(faults.swallows)};
			if (!one_of(faults.fails))
				continue;
			ops[i]->status = RTE_CRYPTO_OP_STATUS_ERROR;
			failed++;
		}
	} while (n > 0);
}

static inline bool ready(struct waiting *w) {
	if (w->swallowed && faults.swallows != 0)
		return false;
	if (w->polls > 0)
		w->polls--;
	return w->polls == 0;
}

static inline uint16_t dequeue(void *qp, struct rte_crypto_op **ops, uint16_t room) {
	struct pair *p = pair_of(qp);
	unsigned kept = 0;
	uint16_t n = 0;

	take_over(p);
	if (faults.gives_nothing)
		return 0;
	for (unsigned i = 0; i < p->count; i++) {
		struct waiting *w = &p->ops[i];

		if (n < room && ready(w) && (faults.any_order || kept == 0 || faults.swallows != 0))
			ops[n++] = w->op;
		else
			p->ops[kept++] = *w;
	}
	p->count = kept;
	for (unsigned i = n; faults.any_order && i > 1; i--) {
		unsigned other = random_below(&chance, i);
		struct rte_crypto_op *op = ops[other];

		ops[other] = ops[i - 1];
		ops[i - 1] = op;
	}
	return n;
}

/* The device of this name is faulty from now on, until it is stopped. No faults yet. */
static inline void faulty_attach(const char *name) {
	int id = rte_cryptodev_get_dev_id(name);

	assert_true(id >= 0);
	memset(&faults, 0, sizeof(faults));
	memset(pairs, 0, sizeof(pairs));
	chance.state = 3;
	failed = 0;
	behind = rte_crypto_fp_ops[id];
	rte_crypto_fp_ops[id].enqueue_burst = enqueue;
	rte_crypto_fp_ops[id].dequeue_burst = dequeue;
}

static inline struct faulty_counts faulty_counts(void) {
	struct faulty_counts c = {.failed = failed};

	for (unsigned i = 0; i < PAIRS; i++)
		c.held += pairs[i].count;
	return c;
}

/* Writes over all that it was given and has not given back, as a device may. */
static inline void faulty_scribble(void) {
	for (unsigned i = 0; i < PAIRS; i++) {
		for (unsigned k = 0; k < pairs[i].count; k++) {
			struct rte_mbuf *m = pairs[i].ops[k].op->sym->m_src;

			memset(m->buf_addr, 0xee, m->buf_len);
		}
	}
}

/* Forgets what it has, when its device is closed. */
static inline void faulty_detach(void) {
	memset(pairs, 0, sizeof(pairs));
}
