/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unresolved frames of a service group that changes: no modem or channel accepts them, or their bytes
 * match no known generation. They wait until the server's events tell whether a change came before
 * them. Frames of a stream keep their order: frames behind an unresolved one wait too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define UNRESOLVED_MAX 4096 /* capacity, a power of two; further frames get their verdict at once */
#define UNRESOLVED_NO_STREAM UINT32_MAX

struct unresolved_stream {
	uint32_t count; /* unresolved frames of the stream */
	uint32_t pass; /* the pass in which a frame of it was put last */
};

struct unresolved {
	struct rte_mbuf *frames[UNRESOLVED_MAX]; /* ring in order of arrival */
	uint64_t since[UNRESOLVED_MAX]; /* arrival, TSC */
	uint32_t stream[UNRESOLVED_MAX]; /* or UNRESOLVED_NO_STREAM */
	uint32_t first, count;
	struct unresolved_stream *streams;
	uint32_t pass;
};

/* Allocates for `streams` streams. Returns false if memory is short. The caller must call unresolved_free() in
 * either case. A zeroed struct accepts only frames with UNRESOLVED_NO_STREAM. */
bool unresolved_create(struct unresolved *h, uint32_t streams);

/* Takes ownership of a frame received at TSC `since`. Returns false if the ring is full. */
bool unresolved_put(struct unresolved *h, struct rte_mbuf *frame, uint64_t since, uint32_t stream);

/* Removes the oldest frame if it arrived before TSC `before`; the caller then owns it. `since` gets
 * its arrival. Returns NULL if there is none. */
struct rte_mbuf *unresolved_get(struct unresolved *h, uint64_t before, uint64_t *since);

/* Begins a pass over all frames: each is got once, and may be put again. */
void unresolved_pass(struct unresolved *h);

/* Whether a frame of the stream must wait behind an unresolved one. `again`: this pass got the frame. */
bool unresolved_precedes(const struct unresolved *h, uint32_t stream, bool again);

/* Frees all frames. */
void unresolved_free(struct unresolved *h);
