/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port that several service groups have, or one group by a VLAN. One worker owns it and runs two lists:
 *
 *     port -> receive -> tell_apart -> a ring a group -> the group's own `receive`
 *     the groups' own `transmit` -> one ring -> send -> port
 *
 * Where the card brings a group's packets to a queue of its own, the group reads that beside its ring (struct
 * share_way), and what is there of others goes the way of all others:
 *
 *     port, queue of the group -> the group's own `receive`
 *                              -> one ring -> receive -> tell_apart ..
 *
 * The second is there where others send than the owner and the port has no transmit queue for each of them.
 * Tags of VLANs are taken off on the way in; the groups put them on.
 *
 * At all times, packets received = those handed to rings + those steered + share_held_astray() + drops, and those handed
 * and steered = those that the groups received + share_held_in() + `port_stopped`. Likewise, frames that the ring to the port took = those sent +
 * share_held_out() + `port_unsent`. A packet for a ring that is full is
 * dropped and counted, as by a port whose queue is full; on the way out it waits with who sends it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

#include "pipeline/counters.h"
#include "pipeline/packet_ends.h"
#include "pipeline/pipeline.h"
#include "sharing/table.h"

/* Whether a group takes from its ring. */
enum share_gate {
	SHARE_OPEN,
	SHARE_SHUT, /* its queue comes first */
	SHARE_SHUT_UNTIL_EMPTY, /* that is: nothing more comes to the queue */
};

/*
 * A queue of the port that is one group's, beside its ring. Who runs the group reads both: at first the ring. What the
 * card brought there is looked at like anything else; the numbers are what that thread counts.
 */
struct share_way {
	struct port_share *share;
	uint8_t group;
	bool has_mac; /* on the network side */
	uint8_t mac[6];
	uint16_t vlan;
	uint16_t queue; /* 0: none, the ring is all */
	/* Set by the control thread, in steered.c. */
	uint64_t opens_at; /* the queue is not asked before the port's `emptied` is that */
	enum share_gate ring;
	/* As packet_source has it; a time of which it tells begins when the port's own was `began`. */
	uint64_t emptied, began;
	bool was_empty; /* the queue, since then */
	uint64_t received, received_bytes, steered, strayed, lost;
};

/* The way to a group. */
struct share_lane {
	struct rte_ring *ring; /* NULL: the number is free */
	uint64_t handed; /* packets, since it was opened */
	uint64_t full; /* packets that the ring did not take */
	uint16_t staged_count; /* between two calls of tell_apart 0 */
	struct rte_mbuf *staged[PIPELINE_BURST];
	struct share_way way __rte_cache_aligned;
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
	bool closed; /* nothing more is received; the control thread may say so */
	bool was_empty; /* the port, when it was last asked */
	bool was_full;
	uint64_t full_polls; /* times that it had EFFORT_FULL packets or more, as the time before */
	struct share_table *table; /* another thread may replace it */
	struct share_change
		*changes; /* begun and not ended, the oldest first; the control thread's */
	struct share_lane lanes[SHARE_MAX_GROUPS];
	struct rte_ring *astray; /* what groups found in their queues; NULL: they have none */
	uint64_t astray_taken; /* packets from that ring, by the owner */
	uint64_t
		spare; /* a bit each: queues that no group has now, which the owner reads in turn */
	unsigned last_spare;
	struct share_send send;
	struct pipeline receiving, sending;
	struct counters counters; /* of the owner: share_counters() tells all */
	struct share_way gone; /* the sums of ways that were closed */
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
};

/* Whether nothing is to be asked of the port. */
static inline bool share_is_closed(const struct port_share *s) {
	return __atomic_load_n(&s->closed, __ATOMIC_ACQUIRE);
}

/* The lists: receive and tell_apart; send. */
#define SHARE_LISTS 2
extern const struct stage_list share_lists[SHARE_LISTS];

/* Returns NULL with the reason in `why` where groups cannot be told apart; else after a message, and `why` is empty. To be
 * freed by share_free(). */
struct port_share *share_create(const struct share_config *c, char why[LIVE_LINE]);

/* Frees it; what its rings hold is freed without being counted: share_stop() comes first. */
void share_free(struct port_share *s);

/* Where the group of that number receives. */
struct packet_source share_source(struct port_share *s, unsigned group);

/* Where the groups send: the ring, or the port where there is none. */
struct packet_sink share_sink(const struct port_share *s);

/* What is in the rings of its groups, in that of what went astray, and what waits for the port. May be called while
 * workers run. */
uint64_t share_held_in(const struct port_share *s);
uint64_t share_held_astray(const struct port_share *s);
uint64_t share_held_out(const struct port_share *s);

/* All that is counted of the port. May be called while workers run. */
void share_counters(const struct port_share *s, struct counters *sum);

/* Whether all that came in was handed, steered or dropped. To be asked when no worker runs. */
bool share_balanced(const struct port_share *s);

/* Receives no more, so that what is in its rings can come out. Beside workers it is sure when all have passed. */
void share_close(struct port_share *s);

/* What is in the ring to the port, and comes there, ends under `port_unsent`; or it goes out again. By the owner's worker. */
void share_send_shut(struct port_share *s, bool shut);

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
