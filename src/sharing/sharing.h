/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port that several service groups have, or one group by a VLAN. One worker owns it and runs two lists:
 *
 *     port -> receive -> tell_apart -> a ring a group -> the group's own `receive`
 *     the groups' own `transmit` -> one ring -> send -> port
 *
 * The second is there where others send than the owner and the port has no transmit queue for each of them.
 * Tags of VLANs are taken off on the way in; the groups put them on.
 *
 * At all times, packets received = those handed to rings + drops, and those handed = those that the groups
 * received + share_held_in() + `port_stopped`. Likewise, frames that the ring to the port took = those sent +
 * share_held_out() + `port_unsent`. A packet for a ring that is full is
 * dropped and counted, as by a port whose queue is full; on the way out it waits with who sends it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

#include "pipeline/counters.h"
#include "pipeline/pipeline.h"
#include "platform/packet_ends.h"
#include "sharing/table.h"

/* The way to a group. */
struct share_lane {
	struct rte_ring *ring; /* NULL: the number is free */
	uint64_t handed; /* packets, since it was opened */
	uint64_t full; /* packets that the ring did not take */
	uint16_t staged_count; /* between two calls of tell_apart 0 */
	struct rte_mbuf *staged[PIPELINE_BURST];
} __rte_cache_aligned;

/* The way out. */
struct share_send {
	struct rte_ring *ring; /* NULL: nobody sends by it */
	struct packet_sink to;
	struct rte_mbuf *waiting[PIPELINE_BURST]; /* the port has not taken them yet */
	uint16_t first, count;
};

struct share_change;

struct port_share {
	const char *name;
	enum share_side side;
	struct packet_source from;
	bool closed; /* nothing more is received */
	bool was_empty; /* the port, when it was last asked */
	struct share_table *table; /* another thread may replace it */
	struct share_change
		*changes; /* that are under way, the last one first; the control thread's */
	struct share_lane lanes[SHARE_MAX_GROUPS];
	struct share_send send;
	struct pipeline receiving, sending;
	struct counters counters;
	uint64_t emptied __rte_cache_aligned; /* as packet_source has it, which others read */
};

struct share_config {
	const char *name; /* of the port, in messages; outlives the share */
	enum share_side side;
	struct packet_source from; /* a queue of the port */
	struct packet_sink to;
	bool sends_by_ring; /* for who is not alone on a transmit queue */
	/* packets of a group's ring, and frames of the one to the port; they take the place of the port's queue */
	unsigned ring_size;
	/* by their numbers on the port; NULL where a number is free. Read during the call only. */
	const struct service_group *const *groups;
	unsigned group_count; /* up to SHARE_MAX_GROUPS */
	FILE *errors; /* takes why groups cannot be told apart; NULL: stderr */
};

/* The lists: receive and tell_apart; send. */
#define SHARE_LISTS 2
extern const struct stage_list share_lists[SHARE_LISTS];

/* Returns NULL after a message. To be freed by share_free(). */
struct port_share *share_create(const struct share_config *c);

/* Frees it; what its rings hold is freed without being counted: share_stop() comes first. */
void share_free(struct port_share *s);

/* Where the group of that number receives. */
struct packet_source share_source(const struct port_share *s, unsigned group);

/* Where the groups send: the ring, or the port where there is none. */
struct packet_sink share_sink(const struct port_share *s);

/* What is in its rings, and what waits for the port. May be called while workers run. */
uint64_t share_held_in(const struct port_share *s);
uint64_t share_held_out(const struct port_share *s);

/* Whether all that came in was handed or dropped. To be asked when no worker runs. */
bool share_balanced(const struct port_share *s);

/* Receives no more, so that what is in its rings can come out. */
void share_close(struct port_share *s);

/* Ends all that is still held, under `port_stopped` and `port_unsent`. No worker may be running. */
void share_stop(struct port_share *s);

/*
 * For changes while workers run. A group comes: share_lane_open(), then a table with it. It goes: a table
 * without it, and when the owner's worker has passed that, share_lane_close(), after which the group must
 * not ask its source any more.
 */

/* Makes the ring to the port where there is none, for those that are to send by it from now on. Returns 0 or -1
 * after a message. */
int share_send_open(struct port_share *s, unsigned ring_size);

/* Frees it again, where nobody was told of it. */
void share_send_close(struct port_share *s);

/* Makes the ring of a number that is free. Returns 0 or -1 after a message. */
int share_lane_open(struct port_share *s, unsigned group, unsigned ring_size);

/* Ends up to `most` packets of a ring that no table leads to, by the owner's worker. Returns whether that was all. */
bool share_lane_empty(struct port_share *s, unsigned group, unsigned most);

/* Ends what the ring holds, as share_stop() does, and frees the number. Not beside a worker that runs the
 * lists of the share. */
void share_lane_close(struct port_share *s, unsigned group);

/* Puts another table in the place of the present one. Returns that: it may be freed when the owner's worker
 * has passed. */
struct share_table *share_table_replace(struct port_share *s, struct share_table *table);
