/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that no modem or channel takes, of a service group that changes: they wait until it is known
 * whether that was changed at the server before they came.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define HELD_MOST 4096 /* a power of two; what comes beyond is judged at once */

struct held {
	struct rte_mbuf *frames[HELD_MOST]; /* a ring, in the order in which they came */
	uint64_t since[HELD_MOST]; /* TSC */
	uint32_t first, count;
};

/* Takes a frame over that came at TSC `since`. Returns whether there was room. */
bool held_put(struct held *h, struct rte_mbuf *frame, uint64_t since);

/* The first of them where it came before TSC `before`, which is the caller's then, and when it came; NULL:
 * it did not, or there is none. */
struct rte_mbuf *held_get(struct held *h, uint64_t before, uint64_t *since);

/* Frees them all. */
void held_free(struct held *h);
