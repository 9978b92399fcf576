/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pending buffers: their number, and how long they wait for missing parts.
 *
 * Each pool has a limit in buffers, so that pending buffers leave enough for the ports' rings and
 * the stages. Each modem has a limit in bytes. A buffer counts with its whole size even if little
 * of it is used, as nothing else can use the rest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_mbuf.h>

enum pending_kind {
	PENDING_PACKETS, /* PSP packets behind a gap */
	PENDING_SEGMENTS, /* segments behind a gap */
	PENDING_BURST, /* a burst without its trailer */
	PENDING_FRAME, /* an incomplete frame */
	PENDING_FRAGMENTS, /* fragments of a frame */
	PENDING_KINDS,
};

/* The pool that the buffers come from. */
enum pending_pool {
	PENDING_POOL_PACKETS, /* of the R-PHY port: packets, bursts, segments */
	PENDING_POOL_FRAMES, /* frames, fragments */
	PENDING_POOLS,
};

/* Buffers, and the sum of their sizes. */
struct pending_size {
	uint32_t buffers;
	uint32_t bytes;
};

#define PENDING_NO_MODEM UINT32_MAX /* the modem is unknown */

/* The pending buffers of one reorder queue or reassembly; a member of the record that owns them. */
struct pending {
	TAILQ_ENTRY(pending) link; /* in the list of its class while it has bytes */
	TAILQ_ENTRY(pending) of_modem; /* in the list of its modem */
	uint64_t since; /* ns, when the wait began */
	struct pending_size size;
	uint32_t modem; /* index or PENDING_NO_MODEM */
	enum pending_kind kind;
};

TAILQ_HEAD(pending_list, pending);

struct modem_pending {
	struct pending_list list; /* oldest first */
	uint64_t bytes;
	TAILQ_ENTRY(modem_pending) link; /* in `above_limit` of struct pending_set */
	bool above_limit; /* the modem is in that list */
};

TAILQ_HEAD(modem_pending_list, modem_pending);

/* Kinds with the same timeout and pool. */
enum pending_class {
	PENDING_CLASS_PACKETS,
	PENDING_CLASS_SEGMENTS,
	PENDING_CLASS_BURSTS,
	PENDING_CLASS_FRAMES, /* also fragments */
	PENDING_CLASSES,
};

/* All pending buffers of an upstream. */
struct pending_set {
	struct pending_list lists[PENDING_CLASSES]; /* oldest first */
	uint64_t timeouts[PENDING_CLASSES]; /* ns */
	uint32_t buffers[PENDING_POOLS];
	uint32_t limits[PENDING_POOLS]; /* buffers */
	uint64_t modem_limit; /* bytes */
	struct modem_pending *modems;
	struct modem_pending_list above_limit; /* modems that were above it at the last addition */
};

/* The record that contains `pending`. */
#define PENDING_OF(type, member, pending) \
	((type *)(void *)((char *)(pending) - offsetof(type, member)))

/* Counts the buffers of a chain. */
static inline struct pending_size pending_size(const struct rte_mbuf *m) {
	struct pending_size size = {0};

	for (; m != NULL; m = m->next) {
		size.buffers++;
		size.bytes += m->buf_len;
	}
	return size;
}

/* Empties the lists. Returns 0, or -1 without memory. The caller frees `all` by
 * pending_set_free(). */
int pending_set_init(struct pending_set *all, uint32_t modems);
void pending_set_free(struct pending_set *all);

void pending_init(struct pending *h, enum pending_kind kind, uint32_t modem);

/* Adds buffers, or bytes alone. The first bytes start the timer at `now`. */
void pending_add(struct pending_set *all, struct pending *h, struct pending_size size,
		 uint64_t now);

/* Removes buffers. The timer stops with the last byte. */
void pending_remove(struct pending_set *all, struct pending *h, struct pending_size size);

/* Removes all buffers of `h`. Harmless if there are none. */
void pending_clear(struct pending_set *all, struct pending *h);

/* Restarts the timer at `now`, because the gap that it ran for is closed. */
void pending_restart(struct pending_set *all, struct pending *h, uint64_t now);

/* When the first timer expires, ns; UINT64_MAX if none runs. */
uint64_t pending_deadline(const struct pending_set *all);

/* Counts buffers that a stage uses for other purposes against the limit of the pool. */
static inline void pending_reserve(struct pending_set *all, enum pending_pool pool,
				   uint32_t buffers) {
	all->buffers[pool] += buffers;
}

static inline void pending_release(struct pending_set *all, enum pending_pool pool,
				   uint32_t buffers) {
	all->buffers[pool] -= buffers;
}

/*
 * Returns the pending buffers that must expire next, or NULL. First come those whose timer has
 * expired at `until`; `timeout` is set for these. Then come the oldest of a modem or pool above its
 * limit.
 *
 * The caller skips their missing numbers or drops their incomplete object, so that fewer buffers
 * stay pending, and calls again.
 */
struct pending *pending_excess(struct pending_set *all, uint64_t until, bool *timeout);

/* Whether a modem or a pool is above its limit, so that the caller must call pending_excess(). */
bool pending_exceeded(const struct pending_set *all);

/* The oldest gap in a sequence of packets or segments; NULL if there is none. */
struct pending *pending_oldest_gap(const struct pending_set *all);
