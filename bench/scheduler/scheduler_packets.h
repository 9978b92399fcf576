/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets for a scheduler: sizes of the published mix, flows at random, so that a burst finds the
 * state of its flows in no cache on purpose. The same seed, the same sequence of both.
 */
#pragma once

#include "core/mix.h"
#include "scheduler_subject.h"

/* Packets go round through so many mbufs, more than the first cache levels hold; size and flow are
 * written when an mbuf comes back, long before it is used again. */
#define PACKETS_WAITING 16384

struct packets {
	struct rte_mempool *pool;
	const struct scheduler_subject *subject;
	void *state;
	uint32_t flows;
	struct mix mix;
	struct deck deck;
	struct random random;
	uint64_t head, tail; /* of `waiting`; they count up */
	struct rte_mbuf *waiting[PACKETS_WAITING];
	uint16_t sizes[PACKETS_WAITING]; /* of these, to be known without a look at the mbuf */
};

/* Mbufs from `pool`, marked for the subject's `state`. Returns NULL after a message. */
struct packets *packets_create(struct rte_mempool *pool, const struct scheduler_subject *subject,
			       void *state, uint32_t flows, uint64_t seed);

/* Gives the waiting mbufs back; NULL is allowed. */
void packets_free(struct packets *p);

/* The mean packet of the mix with its CRC: bytes. */
double packets_mean(void);

/* The next packets, which become the caller's. Returns their bytes. To be filled up afterwards. */
uint64_t packets_take(struct packets *p, struct rte_mbuf **out, unsigned n);

/* Takes packets back. Returns their bytes. */
uint64_t packets_return(struct packets *p, struct rte_mbuf **packets, unsigned n);

/* Takes as many from the pool as did not come back. Returns 0, or -1 when the pool is empty. */
int packets_fill(struct packets *p);
