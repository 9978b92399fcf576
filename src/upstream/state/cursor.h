/* SPDX-License-Identifier: BSD-3-Clause */
/* A read position in a segment: a chain of buffers that a stage splits into frames. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_mbuf.h>

#define US_NO_POINTER UINT32_MAX

struct us_stream;

struct us_cursor {
	struct rte_mbuf *segment; /* NULL: the stage processes none */
	struct rte_mbuf *m; /* the buffer at the cursor */
	struct us_stream *stream;
	uint32_t at; /* bytes, offset into its data */
	uint32_t left; /* bytes from the cursor to the end of the segment */
	uint32_t to_pointer; /* bytes to the start of a frame; US_NO_POINTER: passed, or none */
	uint16_t channel; /* index */
	bool framed; /* the segment had a header */
	bool joined; /* joined from fragments */
	bool request; /* from a request opportunity */
	/* a frame may begin here: at the pointer or behind it, or no pointer is needed */
	bool aligned;
	bool used; /* at least one byte belonged to a frame or to padding */
};

/* Contiguous bytes at the cursor. Moves to the next buffer at the end of one. */
static inline uint32_t us_cursor_piece(struct us_cursor *c) {
	while (c->at == c->m->data_len && c->m->next != NULL) {
		c->m = c->m->next;
		c->at = 0;
	}
	return c->m->data_len - c->at;
}

static inline const uint8_t *us_cursor_bytes(const struct us_cursor *c) {
	return rte_pktmbuf_mtod_offset(c->m, const uint8_t *, c->at);
}

/* Advances by `size` bytes, at most `left`. */
static inline void us_cursor_skip(struct us_cursor *c, uint32_t size) {
	c->left -= size;
	if (c->to_pointer != US_NO_POINTER)
		c->to_pointer -= size;
	while (size > 0) {
		uint32_t part = RTE_MIN(size, us_cursor_piece(c));

		c->at += part;
		size -= part;
	}
}

/* Copies the next `size` bytes, at most `left`, and advances. */
static inline void us_cursor_copy(struct us_cursor *c, uint8_t *out, uint32_t size) {
	c->left -= size;
	if (c->to_pointer != US_NO_POINTER)
		c->to_pointer -= size;
	while (size > 0) {
		uint32_t part = RTE_MIN(size, us_cursor_piece(c));

		memcpy(out, us_cursor_bytes(c), part);
		out += part;
		c->at += part;
		size -= part;
	}
}

/* Copies up to `size` bytes without advancing. Returns the number of bytes copied. */
static inline uint32_t us_cursor_peek(const struct us_cursor *c, uint8_t *out, uint32_t size) {
	struct us_cursor copy = *c;

	size = RTE_MIN(size, c->left);
	us_cursor_copy(&copy, out, size);
	return size;
}
