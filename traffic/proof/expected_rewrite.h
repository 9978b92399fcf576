/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts how the data plane rewrites a packet, from the settings of its service flow.
 *
 * A generation is a state of these settings between two live changes. The server applies a change
 * before the traffic knows it, while packets are under way. So a packet may show any generation
 * from the one in which it was made to the newest. The traffic may apply two changes of the server
 * as one: the packet may then show the generation between them.
 *
 *     generation       1          between    2          3, the newest
 *     made in 1        may show   may show   may show   may show
 *     made in 2                              may show   may show
 *
 * A stage that rewrites other bytes adds its settings to struct rewrite, rewrite_of(),
 * rewrite_same() and rewrite_apply().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/group/flows.h"

/* The settings of a service flow that change bytes of its packets. All zero: it changes none. */
struct rewrite {
	bool overwrites_tos;
	struct tos_masks tos; /* if overwrites_tos */
};

struct rewrite rewrite_of(bool overwrites_tos, const struct tos_masks *tos);

bool rewrite_same(const struct rewrite *a, const struct rewrite *b);

/* The rewrite of a stream in a generation in which the traffic made no packets. */
struct rewrite_between {
	uint32_t stream;
	struct rewrite rewrite;
};

/* A generation, of all streams of one direction. */
struct rewrites {
	struct rewrite *of; /* by stream */
	struct rewrite_between *between; /* since the older generation */
	uint32_t between_count;
	uint32_t magic; /* lowest magic in the tags of its packets */
	const struct rewrites *older; /* packets under way may show it; NULL: none */
};

/* Creates a generation without rewrites. Returns false if memory is short. The caller frees it with
 * rewrites_free() in either case. */
bool rewrites_create(struct rewrites *r, uint32_t streams, uint32_t magic);

void rewrites_free(struct rewrites *r);

/* Copies the generations in between. Returns false if memory is short. */
bool rewrites_add_between(struct rewrites *r, const struct rewrite_between *between,
			  uint32_t count);

/* Applies `next` as the newest generation, for packets from `magic` on. `next` then contains the
 * previous one and must stay valid as long as packets may show it. */
void rewrites_apply(struct rewrites *newest, struct rewrites *next, uint32_t magic);

/*
 * Whether a generation that may apply explains the bytes `from` to `size` of a received frame.
 * `sent` has the first `size` bytes of the packet as sent on `stream` with `magic`, including the
 * whole IP header.
 */
bool expected_rewrite(const struct rewrites *newest, uint32_t magic, uint32_t stream,
		      const uint8_t *sent, const uint8_t *frame, size_t from, size_t size);
