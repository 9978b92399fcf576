/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies on their way from one worker to the capture's thread: a ring of bytes, with one who puts in and one who
 * takes out. Who puts in never waits; what does not fit is his to count.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TAP_RING_LINE 64 /* bytes, so that both sides do not write to one cache line */

struct tap_ring {
	uint8_t *bytes;
	uint32_t size; /* a power of two */
	uint64_t head __attribute__((aligned(TAP_RING_LINE))); /* bytes put in so far */
	uint64_t reserved; /* of these to come, with what stays empty at the end */
	uint64_t tail __attribute__((aligned(TAP_RING_LINE))); /* bytes taken out so far */
};

/* `size`: a power of two from 64 on. All of it is touched. Returns 0, or -1 without memory. */
int tap_ring_create(struct tap_ring *r, uint32_t size);
void tap_ring_free(struct tap_ring *r);

/* The largest entry that always fits into an empty ring. */
static inline uint32_t tap_ring_most(const struct tap_ring *r) {
	return r->size / 2 - 8;
}

/* Room for an entry of `size` bytes in one piece, 8-byte aligned; NULL where there is none. It comes out after
 * tap_ring_put(), which may be left out. */
void *tap_ring_room(struct tap_ring *r, uint32_t size);
void tap_ring_put(struct tap_ring *r);

/* The oldest entry, which stays until tap_ring_take(); NULL where the ring is empty. */
const void *tap_ring_first(const struct tap_ring *r, uint32_t *size);
void tap_ring_take(struct tap_ring *r);
