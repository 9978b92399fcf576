/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port that several service groups share, or that one group uses by a VLAN. One worker owns it
 * and runs two stage lists:
 *
 *     port -> receive -> tell_apart -> a ring per group -> the group's `receive`
 *     the groups' `transmit` -> one ring -> send -> port
 *
 * The second list is used if several workers send and the port has no transmit queue for each.
 *
 * If the NIC steers a group's packets to a queue, the group polls it in addition to its ring
 * (struct share_queue). Packets of other groups in this queue go back to the owner:
 *
 *     port, queue of the group -> the group's `receive`
 *                              -> one ring -> receive -> tell_apart ..
 *
 * VLAN tags are removed on reception; the groups add them.
 *
 * Invariants:
 *
 *     received = handed to rings + steered + share_misdirected() + other drops
 *     handed + steered = received by the groups + share_pending_in() + `port_stopped`
 *     frames enqueued to the ring to the port = sent + share_pending_out() + `port_unsent`
 *
 * A packet for a full ring is dropped and counted. A frame for a full ring waits at its sender.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

#include "pipeline/counters.h"
#include "pipeline/packet_ends.h"
#include "pipeline/pipeline.h"
#include "sharing/keys.h"

/* Whether a group with a queue reads its ring. It reads the queue in each of these states. */
enum share_gate {
	SHARE_OPEN,
	SHARE_SHUT, /* the ring is not read */
	SHARE_SHUT_UNTIL_EMPTY, /* the ring is not read until the queue is empty */
};

/*
 * A receive queue of the port for one group, in addition to its ring. The group's worker reads
 * both, the ring first. It checks packets of the queue as the port owner does, and writes the
 * counters.
 */
struct share_queue {
	struct port_share *share;
	uint8_t group;
	bool has_mac; /* on the network side */
	uint8_t mac[6];
	uint16_t vlan;
	uint16_t id; /* 0: none, only the ring */
	/* Written by the control thread; the group's worker ends the pause. */
	uint64_t opens_at; /* value of the port's `emptied` from which the queue is read; 0: now */
	enum share_gate ring;
	/* Periods in which ring and queue were empty, as in packet_source. `began` is the port's
	 * `emptied` at the start of the current one. */
	uint64_t emptied, began;
	bool was_empty; /* the queue, in the current period */
	uint64_t received, received_bytes, steered, misdirected_count, misdirected_dropped;
};

/* A group of the port. */
struct share_member {
	struct rte_ring *ring; /* NULL: the number is free */
	uint64_t handed; /* packets enqueued since it was opened */
	uint64_t full; /* packets dropped because the ring was full */
	uint16_t staged_count; /* 0 outside of tell_apart */
	struct rte_mbuf *staged[PIPELINE_BURST];
	struct share_queue queue __rte_cache_aligned;
} __rte_cache_aligned;

/* Transmission to the port. */
struct share_send {
	struct rte_ring *ring; /* NULL: not in use */
	struct packet_sink to;
	struct rte_mbuf *waiting[PIPELINE_BURST]; /* not yet taken by the port */
	uint16_t first, count;
};

struct share_change;

struct port_share {
	const char *name;
	enum share_side side;
	struct packet_source from;
	bool closed; /* no worker polls the port; set by the control thread */
	bool was_empty; /* at the latest poll of the port */
	bool was_full;
	uint64_t full_polls; /* as in struct poll_stats */
	struct share_table *table; /* may be replaced by another thread */
	struct share_change *changes; /* the oldest first, until they end; control thread only */
	struct share_member members[SHARE_MAX_GROUPS];
	struct rte_ring *misdirected; /* from the groups' queues to the owner; NULL: no queues */
	uint64_t misdirected_dequeued; /* packets dequeued from that ring */
	uint64_t spare; /* bit per queue without a group; the owner polls them in rotation */
	unsigned last_spare;
	struct share_send send;
	struct pipeline receiving, sending;
	struct counters counters; /* of the owner; share_counters() has all */
	struct share_queue closed_queues; /* sums over closed queues */
	uint64_t emptied __rte_cache_aligned; /* as in packet_source; other threads read it */
};

/* Whether the port must not be polled. */
static inline bool share_is_closed(const struct port_share *s) {
	return __atomic_load_n(&s->closed, __ATOMIC_ACQUIRE);
}
