/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resequencing at a modem: restores the order of a DSID's packets over several channels by their 16-bit
 * sequence numbers. It gives up a missing packet after a bounded time, or when too many packets wait for it
 * (MULPI, downstream sequencing).
 *
 *     arrives    0   2   3   1               0   2   3   (18 ms)       5
 *     delivered  0           1 2 3           0           2 3           (waits for 4)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_prefetch.h>

#define RESEQUENCER_DEPTH 1024 /* sequence numbers; a power of two */
#define RESEQUENCER_TIMER_MS 18

/* A packet with the fields that order needs; its contents have been checked. */
struct arrived {
	uint64_t tsc; /* when it was made */
	uint32_t stream;
	uint32_t sequence; /* in its stream */
	uint16_t bytes;
	uint16_t channel; /* downstream: channel index */
	/* false: the header was valid but a check failed; it only uses its sequence number */
	bool valid;
	bool counted; /* only the header was checked: tsc and sequence are unknown */
	bool earlier; /* made before a change, so its path may differ from that of later packets */
	bool released; /* it was unresolved: its delivery says nothing of rates and delays */
};

struct resequencer {
	uint16_t next;
	uint32_t passed; /* numbers before next since the DSID started */
	bool started;
	uint16_t buffered;
	uint32_t gap_index; /* index in `gaps` of struct resequencers */
	uint64_t since; /* TSC at which the oldest gap opened */
	struct buffered_packet *ring; /* RESEQUENCER_DEPTH entries, allocated on first use */
	uint64_t used[RESEQUENCER_DEPTH /
		      64]; /* bitmap of numbers before next: set if received, not given up */
};

/* Receives a valid packet at TSC `now`: in the order of its DSID, or late if its number was given up. `packet` is valid
 * during the call. */
typedef void (*deliver_fn)(void *ctx, const struct arrived *packet, uint64_t now);

/* All DSIDs of a service group, and the list of those with a gap. */
struct resequencers {
	struct resequencer *all;
	uint32_t count;
	uint32_t *gaps;
	uint32_t gap_count;
	uint64_t timeout; /* TSC cycles */
	deliver_fn deliver;
	void *ctx;
	uint64_t resequenced; /* packets that waited for an earlier one */
	uint64_t given_up; /* sequence numbers */
	uint64_t counted_late; /* packets that are only counted, received after a later one */
	uint32_t deepest; /* maximum span of numbers in one DSID's window */
};

enum resequencer_verdict {
	/* delivered or buffered; a number given up before is delivered late; an invalid packet at most uses its number */
	RESEQUENCER_ACCEPTED,
	RESEQUENCER_DUPLICATE, /* the same packet is already buffered */
	RESEQUENCER_CONFLICT, /* another packet with this number is buffered */
	RESEQUENCER_USED, /* a packet with this number was delivered before; this one is not */
	RESEQUENCER_EARLIER, /* only counted, from before the DSID started; not delivered */
};

/* Creates `count` DSIDs, whose indexes are 0 and up. Returns 0, or -1 if memory is short; `r` is then empty. The caller
 * frees it with resequencers_free(). */
int resequencers_create(struct resequencers *r, uint32_t count, uint64_t tsc_hz, deliver_fn deliver,
			void *ctx);

void resequencers_free(struct resequencers *r);

/* Restarts every DSID with its next valid packet and sets all counts to 0. No packet may be
 * buffered, as after resequencers_flush(). */
void resequencers_restart(struct resequencers *r);

/* Restarts a DSID with its next valid packet, because it was removed and added. Delivers the
 * buffered packets first. */
void resequencers_begin(struct resequencers *r, uint32_t index, uint64_t now);

/*
 * Processes a packet with `number` on DSID `index` at TSC `now`. Invalid packets are never delivered. A
 * DSID starts with its first valid packet, so that stream sequence 0 is delivered first: packets of a
 * stream and numbers of its DSID advance together. Packets that are only counted do not start it.
 */
enum resequencer_verdict resequencers_put(struct resequencers *r, uint32_t index, uint16_t number,
					  const struct arrived *packet, uint64_t now);

/* Prefetches what resequencers_put() needs for `number` of DSID `index`. */
static inline void resequencers_prefetch(const struct resequencers *r, uint32_t index,
					 uint16_t number) {
	const struct resequencer *q = &r->all[index];

	rte_prefetch0(q);
	rte_prefetch0(&q->used[number % RESEQUENCER_DEPTH / 64]);
}

/* Whether the DSID has started; only then packets can be counted by their numbers. */
static inline bool resequencers_started(const struct resequencers *r, uint32_t index) {
	return r->all[index].started;
}

/* Gives up gaps older than RESEQUENCER_TIMER_MS. Must be called often. */
void resequencers_expire(struct resequencers *r, uint64_t now);

/* Gives up all gaps. */
void resequencers_flush(struct resequencers *r, uint64_t now);
