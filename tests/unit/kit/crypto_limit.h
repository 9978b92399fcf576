/* SPDX-License-Identifier: BSD-3-Clause */
/* A crypto provider that takes no more than a test lets it, or fails at what it takes. */
#pragma once

#include <string.h>

#include "crypto/crypto.h"

static struct {
	struct crypto_provider *provider;
	const struct crypto_functions *real;
	struct crypto_functions limited;
	unsigned room; /* frames that are still taken */
	unsigned fails; /* of those that come back, the first ones */
	bool slow; /* nothing comes back */
	struct rte_mbuf *late[1024]; /* a circle of what will */
	uint32_t first, end;
} crypto_limit;

/* What is done already, though nobody is told. */
static inline void crypto_limit_keep(struct crypto_queue *q) {
	struct rte_mbuf *good[CRYPTO_BURST];
	struct crypto_failed failed[CRYPTO_BURST];
	uint32_t late = crypto_limit.end - crypto_limit.first;
	uint16_t failures = 0, n;

	q->pending -= late;
	n = crypto_limit.real->collect(q, good, failed, &failures);
	q->pending += late + n;
	for (uint16_t i = 0; i < n; i++)
		crypto_limit.late[crypto_limit.end++ % 1024] = good[i];
}

static inline uint16_t crypto_limit_submit(struct crypto_queue *q,
					   const struct crypto_frame *frames, uint16_t n) {
	uint16_t most = (uint16_t)(n < crypto_limit.room ? n : crypto_limit.room);
	uint32_t late = crypto_limit.end - crypto_limit.first;
	uint16_t taken;

	q->pending -= late;
	taken = most == 0 ? 0 : crypto_limit.real->submit(q, frames, most);
	q->pending += late;
	crypto_limit.room -= taken;
	while (crypto_limit.slow && q->pending > crypto_limit.end - crypto_limit.first)
		crypto_limit_keep(q);
	return taken;
}

static inline uint16_t crypto_limit_collect(struct crypto_queue *q, struct rte_mbuf **good,
					    struct crypto_failed *failed, uint16_t *failures) {
	uint16_t n = 0, bad;

	while (!crypto_limit.slow && n < CRYPTO_BURST && crypto_limit.first < crypto_limit.end)
		good[n++] = crypto_limit.late[crypto_limit.first++ % 1024];
	q->pending -= n;
	if (crypto_limit.slow || n > 0)
		return n;
	n = crypto_limit.real->collect(q, good, failed, failures);
	bad = (uint16_t)(n < crypto_limit.fails ? n : crypto_limit.fails);

	for (uint16_t i = 0; i < bad; i++)
		failed[(*failures)++] = (struct crypto_failed){good[i], CRYPTO_FAILED};
	memmove(good, good + bad, (n - bad) * sizeof(good[0]));
	crypto_limit.fails -= bad;
	return (uint16_t)(n - bad);
}

static inline void crypto_limit_begin(struct crypto_provider *p, unsigned room, unsigned fails) {
	crypto_limit.provider = p;
	crypto_limit.real = p->functions;
	crypto_limit.limited = *p->functions;
	crypto_limit.limited.submit = crypto_limit_submit;
	crypto_limit.limited.collect = crypto_limit_collect;
	crypto_limit.room = room;
	crypto_limit.fails = fails;
	p->functions = &crypto_limit.limited;
}

static inline void crypto_limit_end(void) {
	crypto_limit.provider->functions = crypto_limit.real;
}
