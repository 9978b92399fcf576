/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unresolved frames of a service group that changes: no modem or channel accepts them. They wait until the
 * server's events tell whether a change came before them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define UNRESOLVED_MAX 4096 /* capacity, a power of two; further frames get their verdict at once */

struct unresolved {
	struct rte_mbuf *frames[UNRESOLVED_MAX]; /* ring in order of arrival */
	uint64_t since[UNRESOLVED_MAX]; /* arrival, TSC */
	uint32_t first, count;
};

/* Takes ownership of a frame received at TSC `since`. Returns false if the ring is full. */
bool unresolved_put(struct unresolved *h, struct rte_mbuf *frame, uint64_t since);

/*
 * Removes the oldest frame if it arrived before TSC `before`; the caller then owns it. `since` gets its
 * arrival. Returns NULL if there is none.
 */
struct rte_mbuf *unresolved_get(struct unresolved *h, uint64_t before, uint64_t *since);

/* Frees all frames. */
void unresolved_free(struct unresolved *h);
