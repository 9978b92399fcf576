/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where packets come from and go to: a queue of a port, or a ring to who owns the port. A service group
 * that has its port for itself asks the port; one that shares it has a ring in its place (src/sharing), maybe with
 * a queue beside it, and its stages are the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

/* One thread receives from it. */
struct packet_source {
	struct rte_ring *ring; /* NULL: the port; else with one consumer */
	/* NULL: the ring alone; else what takes from the ring and more, as packet_source_burst() does. */
	uint16_t (*take)(void *taker, struct rte_mbuf **pkts, uint16_t most);
	void *taker;
	/* With a ring: how often who fills it has found its port empty, with all that came before in the
	 * rings. That thread alone writes it. */
	const uint64_t *emptied;
	uint16_t port;
	uint16_t queue;
};

/* What a thread sends to; of a port's queue it is the only one. A zeroed sink is none: it takes no packet. */
struct packet_sink {
	struct rte_ring *ring; /* NULL: the port; else with as many producers as it was made for */
	bool has_port; /* false in a zeroed sink, since 0 is the number of a port */
	uint16_t port;
	uint16_t queue;
	bool shut; /* it takes nothing for now, or ever: what is sent ends under the next */
	uint16_t reason; /* enum drop_reason, while it is shut */
};

static inline struct packet_sink packet_sink_port(uint16_t port) {
	return (struct packet_sink){.has_port = true, .port = port};
}

static inline bool packet_sink_there(const struct packet_sink *s) {
	return s->ring != NULL || s->has_port;
}

/* Returns how many packets came, at most `most`; fewer where there were no more. */
static inline uint16_t packet_source_burst(const struct packet_source *s, struct rte_mbuf **pkts,
					   uint16_t most) {
	if (likely(s->ring == NULL))
		return rte_eth_rx_burst(s->port, s->queue, pkts, most);
	if (s->take != NULL)
		return s->take(s->taker, pkts, most);
	return (uint16_t)rte_ring_sc_dequeue_burst(s->ring, (void **)pkts, most, NULL);
}

/* To be read before the burst that it is asked for. 0 where the source is a port. */
static inline uint64_t packet_source_emptied(const struct packet_source *s) {
	return likely(s->emptied == NULL) ? 0 : __atomic_load_n(s->emptied, __ATOMIC_ACQUIRE);
}

/* Returns how many packets were taken, from the first on; the others remain the caller's. */
static inline uint16_t packet_sink_burst(const struct packet_sink *s, struct rte_mbuf **pkts,
					 uint16_t n) {
	if (s->ring != NULL)
		return (uint16_t)rte_ring_enqueue_burst(s->ring, (void **)pkts, n, NULL);
	return likely(s->has_port) ? rte_eth_tx_burst(s->port, s->queue, pkts, n) : 0;
}
