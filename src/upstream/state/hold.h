/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waits for missing parts, how long and with how many buffers. Each pool has a limit of its own,
 * in buffers: what waits may not take those that the ports' rings and the stages need. For a modem
 * there is one limit in bytes; a buffer counts with its whole size, whatever part of it is used, as
 * that is what it keeps from others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_mbuf.h>

enum hold_kind {
	HOLD_PACKETS, /* PSP packets that are ahead */
	HOLD_SEGMENTS, /* segments that are ahead */
	HOLD_BURST, /* an open burst */
	HOLD_FRAME, /* an incomplete frame */
	HOLD_FRAGMENTS, /* fragments of a frame */
	HOLD_KINDS,
};

/* Whose buffers they are. */
enum hold_pool {
	HOLD_POOL_PACKETS, /* of the R-PHY port: packets, bursts, segments */
	HOLD_POOL_FRAMES, /* frames, fragments */
	HOLD_POOLS,
};

/* Buffers, and the room in them. */
struct hold_size {
	uint32_t buffers;
	uint32_t bytes;
};

#define HOLD_NOBODY UINT32_MAX /* it is not known whose it is */

/* One place where something waits; part of whatever it belongs to. */
struct hold {
	TAILQ_ENTRY(hold) link; /* in its list while it holds bytes */
	TAILQ_ENTRY(hold) of_modem; /* in its modem's list */
	uint64_t since; /* ns */
	struct hold_size size;
	uint32_t modem; /* index or HOLD_NOBODY */
	enum hold_kind kind;
};

TAILQ_HEAD(hold_list, hold);

struct modem_holds {
	struct hold_list list; /* by time */
	uint64_t bytes;
	TAILQ_ENTRY(modem_holds) link; /* in `above_limit` of all */
	bool above_limit; /* is in that list */
};

TAILQ_HEAD(modem_holds_list, modem_holds);

/* Those that wait equally long at most, in buffers of one pool. */
enum hold_class {
	HOLD_CLASS_PACKETS,
	HOLD_CLASS_SEGMENTS,
	HOLD_CLASS_BURSTS,
	HOLD_CLASS_FRAMES, /* and fragments */
	HOLD_CLASSES,
};

/* All of it. */
struct holds {
	struct hold_list lists[HOLD_CLASSES]; /* by time */
	uint64_t timeouts[HOLD_CLASSES]; /* ns */
	uint32_t buffers[HOLD_POOLS];
	uint32_t limits[HOLD_POOLS]; /* buffers */
	uint64_t modem_limit; /* bytes */
	struct modem_holds *modems;
	struct modem_holds_list above_limit; /* modems that were when something was added */
};

/* What a hold is part of. */
#define HOLD_OF(type, member, hold) ((type *)(void *)((char *)(hold) - offsetof(type, member)))

/* All buffers of the chain. */
static inline struct hold_size hold_size(const struct rte_mbuf *m) {
	struct hold_size size = {0};

	for (; m != NULL; m = m->next) {
		size.buffers++;
		size.bytes += m->buf_len;
	}
	return size;
}

/* Empties the lists. Returns 0, or -1 when memory is short. To be freed by holds_free(). */
int holds_init(struct holds *all, uint32_t modems);
void holds_free(struct holds *all);

void hold_init(struct hold *h, enum hold_kind kind, uint32_t modem);

/* Adds buffers, or bytes alone; the first bytes begin the wait at `now`. */
void hold_add(struct holds *all, struct hold *h, struct hold_size size, uint64_t now);

/* Takes buffers away; with the last bytes the wait is over. */
void hold_remove(struct holds *all, struct hold *h, struct hold_size size);

/* Takes all away; harmless where there is nothing. */
void hold_end(struct holds *all, struct hold *h);

/* The wait begins again at `now`: part of it has come to its end. */
void hold_renew(struct holds *all, struct hold *h, uint64_t now);

/* When the first of them will have waited too long, ns; UINT64_MAX where nothing waits. */
uint64_t holds_deadline(const struct holds *all);

/* Buffers that wait for nothing, but are in use besides: they count against the limit. */
static inline void holds_use(struct holds *all, enum hold_pool pool, uint32_t buffers) {
	all->buffers[pool] += buffers;
}

static inline void holds_used(struct holds *all, enum hold_pool pool, uint32_t buffers) {
	all->buffers[pool] -= buffers;
}

/*
 * A wait that is to end: one that had lasted too long at the time `until` (then `timeout` is set), else the oldest of a
 * modem or of a pool of which too much waits. NULL where there is none. Whoever asks ends it, and asks again: missing
 * numbers are passed over, incomplete things are dropped, so that it holds less, or nothing.
 */
struct hold *holds_excess(struct holds *all, uint64_t until, bool *timeout);

/* Whether a modem or a pool may have more waiting than its limit: holds_excess() is to be asked. */
bool holds_too_much(const struct holds *all);

/* The oldest of those that wait for packets or segments; NULL where none does. */
struct hold *holds_oldest_gap(const struct holds *all);
