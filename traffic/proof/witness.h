/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets for an independent decoder, which reads them when the run ends: what this program and the data plane have in
 * common, it has not. They are kept in windows of WITNESS_WINDOW packets that follow each other, as DOCSIS frames lie
 * across packets. Windows begin by chance, and are spread over the run however long it is. One thread.
 */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>

#define WITNESS_WINDOW 16
#define WITNESS_MOST 100000 /* packets of a direction */

/* Of one direction of one service group. */
struct witness {
	uint32_t skip; /* packets that pass before the next one is kept */
	struct witness_room *room;
};

/* Keeps up to about `packets` of at most `size` bytes each; 0: none. Returns 0, or -1 when memory is short. To be freed by
 * witness_free() in either case. */
int witness_create(struct witness *w, uint32_t packets, uint32_t size, uint64_t seed);
void witness_free(struct witness *w);

/* For witness_see(). */
void witness_look(struct witness *w, struct rte_mbuf *const *packets, unsigned n);

/* These passed, one behind the other and behind those before. What is kept is copied. `w`: NULL keeps nothing. */
static inline void witness_see(struct witness *w, struct rte_mbuf *const *packets, unsigned n) {
	if (w == NULL || w->room == NULL)
		return;
	if (likely(n <= w->skip))
		w->skip -= n;
	else
		witness_look(w, packets, n);
}

/* Of a service group. */
struct witness_pair {
	struct witness downstream, upstream;
};

/* Writes all windows as pcapng: an interface for each direction of each group, "downstream 0" of the first of
 * `groups`, and its number for a comment at each packet of a window, "7". Returns 0, or -1 after a message. */
int witness_write(const struct witness_pair *groups, unsigned count, const char *path);
