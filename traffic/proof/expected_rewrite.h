/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the data plane makes of the bytes of a packet, by the settings of its service flow.
 *
 * A generation is a state of these settings between two live changes. The server applies a change before the traffic
 * knows it, and packets are under way meanwhile. So a packet may show any generation from the one in which it was made
 * to the newest, also one that the server had only between two changes that the traffic took as one:
 *
 *     generation       1          between    2          3, the newest
 *     made in 1        may show   may show   may show   may show
 *     made in 2                              may show   may show
 *
 * A stage that rewrites other bytes adds its settings to struct rewrite, rewrite_of(), rewrite_same() and rewrite_apply().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/group/flows.h"

/* The settings of a service flow that change bytes of its packets. All zero: it changes none. */
struct rewrite {
	bool overwrites_tos;
	struct tos_masks tos; /* where so */
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
	uint32_t magic; /* of the tags of its first packets; those of later ones are larger */
	const struct rewrites *older; /* that packets under way may show; NULL: none */
};

/* Returns whether there is memory; nothing is rewritten yet. To be freed by rewrites_free() in either case. */
bool rewrites_create(struct rewrites *r, uint32_t streams, uint32_t magic);

void rewrites_free(struct rewrites *r);

/* Notes generations in between, which are copied. Returns whether there is memory. */
bool rewrites_add_between(struct rewrites *r, const struct rewrite_between *between,
			  uint32_t count);

/* `next` is the newest generation, from packets with `magic` on; it then has the one before, which is its older one. */
void rewrites_take(struct rewrites *newest, struct rewrites *next, uint32_t magic);

/*
 * Compares the bytes `from` to `size` of a received frame with what they must be. `sent` are the headers of the packet
 * as it was sent on `stream` with `magic`, `size` bytes that hold the whole IP header. Returns whether a generation
 * that may apply makes the one of the other.
 */
bool expected_rewrite(const struct rewrites *newest, uint32_t magic, uint32_t stream,
		      const uint8_t *sent, const uint8_t *frame, size_t from, size_t size);
