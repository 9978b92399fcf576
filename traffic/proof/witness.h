/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps packets for an independent decoder, which shares no code with this program and the data plane and
 * reads them after the run. They are kept in windows of WITNESS_WINDOW consecutive packets, as DOCSIS
 * frames span packets. Windows begin at random and cover the whole run. Used by one thread.
 */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>

#define WITNESS_WINDOW 16
#define WITNESS_MAX 100000 /* packets per direction */

/* Of one direction of one service group. */
struct witness {
	uint32_t skip; /* packets to skip before the next one is kept */
	struct witness_store *store; /* NULL: keeps nothing */
};

/* Keeps about `packets` packets of at most `size` bytes; 0: none. Returns 0, or -1 if memory is
 * short. The caller frees it with witness_free() in either case. */
int witness_create(struct witness *w, uint32_t packets, uint32_t size, uint64_t seed);
void witness_free(struct witness *w);

/* Slow path of witness_pass(). */
void witness_copy(struct witness *w, struct rte_mbuf *const *packets, unsigned n);

/* Passes `n` consecutive packets that follow those of the last call. Copies the packets that it
 * keeps. `w` may be NULL: keeps nothing. */
static inline void witness_pass(struct witness *w, struct rte_mbuf *const *packets, unsigned n) {
	if (w == NULL || w->store == NULL)
		return;
	if (likely(n <= w->skip))
		w->skip -= n;
	else
		witness_copy(w, packets, n);
}

/* Of a service group. */
struct witness_pair {
	struct witness downstream, upstream;
};

/*
 * Writes all windows as pcapng: an interface for each direction of each group, "downstream 0" for the first
 * of `groups`. The comment of each packet is the number of its window, such as "7". Returns 0, or -1 after
 * a message.
 */
int witness_write(const struct witness_pair *groups, unsigned count, const char *path);
