/* SPDX-License-Identifier: BSD-3-Clause */
/* Wraps a crypto provider: it accepts a limited number of frames, fails some, or withholds finished frames. */
#pragma once

#include <string.h>

#include "crypto/crypto.h"

static struct {
	struct crypto_provider *provider;
	const struct crypto_functions *real;
	struct crypto_functions limited;
	unsigned capacity; /* frames that submit() still accepts */
	unsigned to_fail; /* frames that collect() still reports as failed */
	bool stalled; /* while set, collect() returns nothing */
	struct rte_mbuf *withheld[1024]; /* a ring: frames that the provider finished meanwhile */
	uint32_t first, end;
} crypto_limit;

/* Moves finished frames into the ring; they stay pending for the caller. */
static inline void crypto_limit_withhold(struct crypto_queue *q) {
	struct rte_mbuf *good[CRYPTO_BURST];
	struct crypto_failed failed[CRYPTO_BURST];
	uint32_t withheld = crypto_limit.end - crypto_limit.first;
	uint16_t failures = 0, n;

	q->pending -= withheld;
	n = crypto_limit.real->collect(q, good, failed, &failures);
	q->pending += withheld + n;
	for (uint16_t i = 0; i < n; i++)
		crypto_limit.withheld[crypto_limit.end++ % 1024] = good[i];
}

static inline uint16_t crypto_limit_submit(struct crypto_queue *q,
					   const struct crypto_frame *frames, uint16_t n) {
	uint16_t limit = (uint16_t)(n < crypto_limit.capacity ? n : crypto_limit.capacity);
	uint32_t withheld = crypto_limit.end - crypto_limit.first;
	uint16_t accepted;

	q->pending -= withheld;
	accepted = limit == 0 ? 0 : crypto_limit.real->submit(q, frames, limit);
	q->pending += withheld;
	crypto_limit.capacity -= accepted;
	while (crypto_limit.stalled && q->pending > crypto_limit.end - crypto_limit.first)
		crypto_limit_withhold(q);
	return accepted;
}

static inline uint16_t crypto_limit_collect(struct crypto_queue *q, struct rte_mbuf **good,
					    struct crypto_failed *failed, uint16_t *failures) {
	uint16_t n = 0, bad;

	while (!crypto_limit.stalled && n < CRYPTO_BURST && crypto_limit.first < crypto_limit.end)
		good[n++] = crypto_limit.withheld[crypto_limit.first++ % 1024];
	q->pending -= n;
	if (crypto_limit.stalled || n > 0)
		return n;
	n = crypto_limit.real->collect(q, good, failed, failures);
	bad = (uint16_t)(n < crypto_limit.to_fail ? n : crypto_limit.to_fail);

	for (uint16_t i = 0; i < bad; i++)
		failed[(*failures)++] = (struct crypto_failed){good[i], CRYPTO_FAILED};
	memmove(good, good + bad, (n - bad) * sizeof(good[0]));
	crypto_limit.to_fail -= bad;
	return (uint16_t)(n - bad);
}

/* One provider at a time. submit() accepts `capacity` frames; the first `to_fail` collected frames fail. */
static inline void crypto_limit_begin(struct crypto_provider *p, unsigned capacity,
				      unsigned to_fail) {
	crypto_limit.provider = p;
	crypto_limit.real = p->functions;
	crypto_limit.limited = *p->functions;
	crypto_limit.limited.submit = crypto_limit_submit;
	crypto_limit.limited.collect = crypto_limit_collect;
	crypto_limit.capacity = capacity;
	crypto_limit.to_fail = to_fail;
	p->functions = &crypto_limit.limited;
}

static inline void crypto_limit_end(void) {
	crypto_limit.provider->functions = crypto_limit.real;
}
