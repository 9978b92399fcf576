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
#include "sharing/keys.h"

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

/* Whether nothing is to be asked of the port. */
static inline bool share_is_closed(const struct port_share *s) {
	return __atomic_load_n(&s->closed, __ATOMIC_ACQUIRE);
}
