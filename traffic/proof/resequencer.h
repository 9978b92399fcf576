/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a modem does with the packets of a DSID that come over several channels: it puts them back
 * into the order of their 16-bit sequence numbers, and gives up a missing one after a bounded time
 * or when too many wait for it (MULPI, downstream sequencing).
 *
 *     arrives    0   2   3   1               0   2   3   (18 ms)       5
 *     delivered  0           1 2 3           0           2 3           (waits for 4)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define RESEQUENCER_DEPTH 1024 /* sequence numbers; a power of two */
#define RESEQUENCER_WAIT_MS 18

/* A packet as far as order is concerned: its contents have been checked before. */
struct arrived {
	uint64_t tsc; /* when it was made */
	uint32_t stream;
	uint32_t sequence; /* in its stream */
	uint16_t bytes;
	uint16_t channel; /* downstream: its index */
	bool valid; /* false: came with a good header but failed a check, and only takes its place */
	bool counted; /* nobody looked behind its header: tsc and sequence are not known */
	bool earlier; /* made before a change: it may have gone another way than what follows */
};

struct resequencer {
	uint16_t next;
	uint32_t passed; /* numbers before next, since it started */
	bool started;
	uint16_t held;
	uint32_t waiting_at; /* index in the list of those that wait */
	uint64_t since; /* TSC at which the oldest gap opened */
	struct held_packet *ring; /* RESEQUENCER_DEPTH entries, made when first needed */
	uint64_t used[RESEQUENCER_DEPTH /
		      64]; /* bits of the numbers before next: came, not given up */
};

typedef void (*deliver_fn)(void *ctx, const struct arrived *packet, uint64_t now);

/* All DSIDs of a service group, and those among them that wait for something. */
struct resequencers {
	struct resequencer *all;
	uint32_t count;
	uint32_t *waiting;
	uint32_t waiting_count;
	uint64_t timeout; /* TSC cycles */
	deliver_fn deliver;
	void *ctx;
	uint64_t resequenced; /* packets that had to wait for an earlier one */
	uint64_t given_up; /* sequence numbers */
	uint64_t counted_late; /* of the packets that are only counted: behind a later one */
	uint32_t deepest; /* most numbers that one DSID's window spanned */
};

enum resequencer_verdict {
	RESEQUENCER_TAKEN, /* delivered or held; what had been given up is delivered late */
	RESEQUENCER_DUPLICATE, /* the same packet waits here already */
	RESEQUENCER_CONFLICT, /* another packet waits under this number */
	RESEQUENCER_USED, /* a packet with this number was delivered before; this one is not */
	RESEQUENCER_EARLIER, /* only counted, and of before the DSID started; it is not delivered */
};

/* Returns 0, or -1 when memory is short. */
int resequencers_create(struct resequencers *r, uint32_t count, uint64_t tsc_hz, deliver_fn deliver,
			void *ctx);

void resequencers_free(struct resequencers *r);

/* Every DSID starts with its next valid packet, and all counts are 0. To be called when nothing waits,
 * as after resequencers_flush(). */
void resequencers_restart(struct resequencers *r);

/* A DSID starts with its next valid packet, as it was given up and came again. Nothing waits there after. */
void resequencers_begin(struct resequencers *r, uint32_t index, uint64_t now);

/*
 * Takes a packet with `number` on DSID `index` at TSC `now`. Invalid packets are never delivered.
 * A DSID starts with its first valid packet, so that the packet of stream sequence 0 is the first
 * that is delivered: the packets of one stream and the numbers of its DSID count alike. Packets that
 * are only counted do not start it.
 */
enum resequencer_verdict resequencers_take(struct resequencers *r, uint32_t index, uint16_t number,
					   const struct arrived *packet, uint64_t now);

/* Whether the DSID has started: only from then on packets can be counted by their numbers. */
static inline bool resequencers_started(const struct resequencers *r, uint32_t index) {
	return r->all[index].started;
}

/* Gives up what was waited for longer than RESEQUENCER_WAIT_MS. To be called often. */
void resequencers_expire(struct resequencers *r, uint64_t now);

/* Gives up all that is waited for. */
void resequencers_flush(struct resequencers *r, uint64_t now);
