/* SPDX-License-Identifier: BSD-3-Clause */
/* A single-producer, single-consumer ring of bytes from a worker to the capture thread. The
 * producer never waits: if an entry does not fit, the caller drops the packet and counts it (`missed` in
 * struct tap_tally). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TAP_RING_LINE 64 /* bytes of a cache line, so that the two sides write to different ones */

struct tap_ring {
	uint8_t *bytes;
	uint32_t size; /* a power of two */
	uint64_t head __attribute__((aligned(TAP_RING_LINE))); /* bytes written so far */
	/* `head` after the next tap_ring_put(): behind the entry and behind any skipped end of `bytes` */
	uint64_t reserved;
	uint64_t tail __attribute__((aligned(TAP_RING_LINE))); /* bytes read so far */
};

/* `size`: a power of two, at least 64. Touches all pages, so that the worker takes no page fault. Returns
 * 0, or -1 without memory. */
int tap_ring_create(struct tap_ring *r, uint32_t size);
/* Neither side may use the ring. */
void tap_ring_free(struct tap_ring *r);

/* Bytes of the largest entry. It fits an empty ring at any position; tap_ring_reserve() refuses
 * larger ones. */
static inline uint32_t tap_ring_max(const struct tap_ring *r) {
	return r->size / 2 - 8;
}

/* The worker: reserves `size` contiguous bytes, 8-byte aligned. Returns NULL if they do not fit, or exceed
 * tap_ring_max(). tap_ring_put() makes the entry visible; without it, the entry is discarded. */
void *tap_ring_reserve(struct tap_ring *r, uint32_t size);
void tap_ring_put(struct tap_ring *r);

/* The capture thread: the oldest entry, valid until tap_ring_pop(), and the `size` reserved for it. Returns
 * NULL if the ring is empty. */
const void *tap_ring_first(const struct tap_ring *r, uint32_t *size);
void tap_ring_pop(struct tap_ring *r);
