/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets for a scheduler: sizes of the mix `imix`, and random flows, as the state of a real burst's
 * flows is rarely in a cache. The same seed gives the same sequence. */
#pragma once

#include "core/mix.h"
#include "scheduler_subject.h"

/* Number of mbufs in rotation, more than the first cache levels can store. Size and flow are written when an mbuf
 * returns, long before its next use. */
#define PACKETS_WAITING 16384

struct packets {
	struct rte_mempool *pool;
	const struct scheduler_subject *subject;
	void *state; /* of the subject, for its mark() */
	uint32_t flows;
	struct mix mix;
	struct deck deck;
	struct random random;
	/* positions in `waiting` of the next packet, and after the last; they never wrap */
	uint64_t head, tail;
	struct rte_mbuf *waiting[PACKETS_WAITING];
	/* bytes with CRC of the waiting packets, so that the mbuf need not be read */
	uint16_t sizes[PACKETS_WAITING];
};

/* Allocates PACKETS_WAITING mbufs from `pool`; `subject` marks them for its `state`. All three must outlive it. Returns
 * NULL after a message. */
struct packets *packets_create(struct rte_mempool *pool, const struct scheduler_subject *subject,
			       void *state, uint32_t flows, uint64_t seed);

/* Frees the waiting mbufs; accepts NULL. */
void packets_free(struct packets *p);

/* Bytes of the mix's mean packet, including CRC. */
double packets_mean(void);

/* Takes the next `n` packets, which the caller then owns. Returns their bytes with CRC. At least `n`
 * packets must wait; after packets_create() and packets_fill(), PACKETS_WAITING do. */
uint64_t packets_next(struct packets *p, struct rte_mbuf **out, unsigned n);

/* Puts sent packets back with new sizes and flows, and frees those beyond PACKETS_WAITING. Returns the bytes of
 * all `n` with CRC, by the sizes with which they were sent. */
uint64_t packets_recycle(struct packets *p, struct rte_mbuf **packets, unsigned n);

/* Allocates mbufs for packets that the scheduler kept or dropped, until PACKETS_WAITING wait. Returns 0, or -1 if
 * the pool is empty. */
int packets_fill(struct packets *p);
