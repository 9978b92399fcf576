/* SPDX-License-Identifier: BSD-3-Clause */
/* A place in a segment that is being taken apart: the bytes of a chain of buffers, in order. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_mbuf.h>

#define US_NO_POINTER UINT32_MAX

struct us_stream;

struct us_cut {
	struct rte_mbuf *segment; /* NULL: none is in work */
	struct rte_mbuf *m; /* the buffer in which the place is */
	struct us_stream *stream;
	uint32_t at; /* bytes into its data */
	uint32_t left; /* bytes behind the place in the whole segment */
	uint32_t
		to_pointer; /* bytes to where the first frame begins; US_NO_POINTER: past, or none */
	uint16_t channel; /* index */
	bool framed; /* it had a segment header */
	bool joined; /* from fragments */
	bool request; /* of an opportunity for requests */
	bool begun; /* a frame may begin here: the pointer was reached, or none is needed */
	bool used; /* a byte of it belonged to a frame, or was padding */
};

/* Bytes that stand in one piece at the place. */
static inline uint32_t us_cut_piece(struct us_cut *c) {
	while (c->at == c->m->data_len && c->m->next != NULL) {
		c->m = c->m->next;
		c->at = 0;
	}
	return c->m->data_len - c->at;
}

static inline const uint8_t *us_cut_bytes(const struct us_cut *c) {
	return rte_pktmbuf_mtod_offset(c->m, const uint8_t *, c->at);
}

/* Goes on by `size` bytes, at most `left`. */
static inline void us_cut_pass(struct us_cut *c, uint32_t size) {
	c->left -= size;
	if (c->to_pointer != US_NO_POINTER)
		c->to_pointer -= size;
	while (size > 0) {
		uint32_t part = RTE_MIN(size, us_cut_piece(c));

		c->at += part;
		size -= part;
	}
}

/* Copies the next `size` bytes, at most `left`, and goes on. */
static inline void us_cut_copy(struct us_cut *c, uint8_t *out, uint32_t size) {
	c->left -= size;
	if (c->to_pointer != US_NO_POINTER)
		c->to_pointer -= size;
	while (size > 0) {
		uint32_t part = RTE_MIN(size, us_cut_piece(c));

		memcpy(out, us_cut_bytes(c), part);
		out += part;
		c->at += part;
		size -= part;
	}
}

/* Copies up to `size` bytes and stays. Returns how many there were. */
static inline uint32_t us_cut_peek(const struct us_cut *c, uint8_t *out, uint32_t size) {
	struct us_cut copy = *c;

	size = RTE_MIN(size, c->left);
	us_cut_copy(&copy, out, size);
	return size;
}
