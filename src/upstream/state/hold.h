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

enum hold_kind {
	HOLD_PACKETS, /* PSP packets behind a gap */
	HOLD_SEGMENTS, /* segments behind a gap */
	HOLD_BURST, /* a burst without its trailer */
	HOLD_FRAME, /* an incomplete frame */
	HOLD_FRAGMENTS, /* fragments of a frame */
	HOLD_KINDS,
};

/* The pool that the buffers come from. */
enum hold_pool {
	HOLD_POOL_PACKETS, /* of the R-PHY port: packets, bursts, segments */
	HOLD_POOL_FRAMES, /* frames, fragments */
	HOLD_POOLS,
};

/* Buffers, and the sum of their sizes. */
struct hold_size {
	uint32_t buffers;
	uint32_t bytes;
};

#define HOLD_NOBODY UINT32_MAX /* the modem is unknown */

/* What one reorder queue or reassembly keeps; a member of the record that owns the buffers. */
struct hold {
	TAILQ_ENTRY(hold) link; /* in the list of its class while it has bytes */
	TAILQ_ENTRY(hold) of_modem; /* in the list of its modem */
	uint64_t since; /* ns, when the wait began */
	struct hold_size size;
	uint32_t modem; /* index or HOLD_NOBODY */
	enum hold_kind kind;
};

TAILQ_HEAD(hold_list, hold);

struct modem_holds {
	struct hold_list list; /* oldest first */
	uint64_t bytes;
	TAILQ_ENTRY(modem_holds) link; /* in `above_limit` of struct holds */
	bool above_limit; /* the modem is in that list */
};

TAILQ_HEAD(modem_holds_list, modem_holds);

/* Kinds with the same timeout and pool. */
enum hold_class {
	HOLD_CLASS_PACKETS,
	HOLD_CLASS_SEGMENTS,
	HOLD_CLASS_BURSTS,
	HOLD_CLASS_FRAMES, /* also fragments */
	HOLD_CLASSES,
};

/* All pending buffers of an upstream. */
struct holds {
	struct hold_list lists[HOLD_CLASSES]; /* oldest first */
	uint64_t timeouts[HOLD_CLASSES]; /* ns */
	uint32_t buffers[HOLD_POOLS];
	uint32_t limits[HOLD_POOLS]; /* buffers */
	uint64_t modem_limit; /* bytes */
	struct modem_holds *modems;
	struct modem_holds_list above_limit; /* modems that were above it at the last addition */
};

/* The record that contains `hold`. */
#define HOLD_OF(type, member, hold) ((type *)(void *)((char *)(hold) - offsetof(type, member)))

/* Counts the buffers of a chain. */
static inline struct hold_size hold_size(const struct rte_mbuf *m) {
	struct hold_size size = {0};

	for (; m != NULL; m = m->next) {
		size.buffers++;
		size.bytes += m->buf_len;
	}
	return size;
}

/* Empties the lists. Returns 0, or -1 without memory. The caller frees `all` with holds_free(). */
int holds_init(struct holds *all, uint32_t modems);
void holds_free(struct holds *all);

void hold_init(struct hold *h, enum hold_kind kind, uint32_t modem);

/* Adds buffers, or bytes alone. The first bytes start the timer at `now`. */
void hold_add(struct holds *all, struct hold *h, struct hold_size size, uint64_t now);

/* Removes buffers. The timer stops with the last byte. */
void hold_remove(struct holds *all, struct hold *h, struct hold_size size);

/* Removes all buffers of `h`. Harmless if there are none. */
void hold_end(struct holds *all, struct hold *h);

/* Restarts the timer at `now`, because the gap that it ran for is closed. */
void hold_renew(struct holds *all, struct hold *h, uint64_t now);

/* When the first timer expires, ns; UINT64_MAX if none runs. */
uint64_t holds_deadline(const struct holds *all);

/* Counts buffers that a stage uses for other purposes against the limit of the pool. */
static inline void holds_use(struct holds *all, enum hold_pool pool, uint32_t buffers) {
	all->buffers[pool] += buffers;
}

static inline void holds_used(struct holds *all, enum hold_pool pool, uint32_t buffers) {
	all->buffers[pool] -= buffers;
}

/*
 * Returns what must end next, or NULL. First come timers that have expired at `until`; `timeout` is
 * set for these. Then comes the oldest of a modem or pool above its limit.
 *
 * The caller ends it and calls again: it skips missing numbers or drops the incomplete object, so
 * that fewer buffers or none stay pending.
 */
struct hold *holds_excess(struct holds *all, uint64_t until, bool *timeout);

/* Whether a modem or a pool is above its limit, so that the caller must call holds_excess(). */
bool holds_too_much(const struct holds *all);

/* The oldest gap in a sequence of packets or segments; NULL if there is none. */
struct hold *holds_oldest_gap(const struct holds *all);
