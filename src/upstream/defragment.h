/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `defragment`: fragments of pre-3.0 modems, until all of a frame are there. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hold;
struct rte_mbuf;
struct us_fragments;
struct upstream;

/* What of it is held; the fragments themselves are with their flows, in tables.h. */
struct us_defragment {
	uint32_t waiting_fragments;
};

/* Ends a wait of fragments (expire.c). */
void us_fragments_expire(struct upstream *u, struct hold *h, bool timeout);

/* Drops the fragments of a flow that goes: they count as dropped, their buffers are for the caller to free. NULL
 * where there are none. */
struct rte_mbuf *us_fragments_remove(struct upstream *u, struct us_fragments *f);
