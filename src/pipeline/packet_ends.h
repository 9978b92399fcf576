/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet sources and sinks: a queue of a port, or a ring to the port owner.
 *
 * A group with a port of its own polls the port. A group on a shared port has a ring instead
 * (src/sharing), perhaps with a queue beside it. Its stages are the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

/* One thread receives from a source. */
struct packet_source {
	struct rte_ring *ring; /* NULL: the port; else a ring with one consumer */
	/* NULL: the ring alone. Else a function that receives from the ring and other queues, as
	 * packet_source_burst(). */
	uint16_t (*receive)(void *context, struct rte_mbuf **pkts, uint16_t max);
	void *context;
	/* With a ring: how often the port owner found its port empty, after it had put all
	 * earlier packets into the rings. Only the port owner writes it. */
	const uint64_t *emptied;
	uint16_t port;
	uint16_t queue;
};

/* The destination of one thread's packets. No other thread transmits on its queue. A zeroed sink
 * accepts no packet. */
struct packet_sink {
	/* NULL: the port; else a ring for the producers that it was created for */
	struct rte_ring *ring;
	bool has_port; /* false in a zeroed sink, as 0 is a valid port */
	uint16_t port;
	uint16_t queue;
	bool shut; /* closed, for now or for ever: the caller drops its packets with `reason` */
	uint16_t reason; /* enum drop_reason, while `shut` */
};

static inline struct packet_sink packet_sink_port(uint16_t port) {
	return (struct packet_sink){.has_port = true, .port = port};
}

static inline bool packet_sink_is_set(const struct packet_sink *s) {
	return s->ring != NULL || s->has_port;
}

/* Receives at most `max` packets. Returns their number; fewer if the source has no more. */
static inline uint16_t packet_source_burst(const struct packet_source *s, struct rte_mbuf **pkts,
					   uint16_t max) {
	if (likely(s->ring == NULL))
		return rte_eth_rx_burst(s->port, s->queue, pkts, max);
	if (s->receive != NULL)
		return s->receive(s->context, pkts, max);
	return (uint16_t)rte_ring_sc_dequeue_burst(s->ring, (void **)pkts, max, NULL);
}

/* Read it before the burst. 0 if the source is a port. */
static inline uint64_t packet_source_emptied(const struct packet_source *s) {
	return likely(s->emptied == NULL) ? 0 : __atomic_load_n(s->emptied, __ATOMIC_ACQUIRE);
}

/* Transmits packets. Returns how many of them, from the first, were accepted; the caller keeps
 * the others. */
static inline uint16_t packet_sink_burst(const struct packet_sink *s, struct rte_mbuf **pkts,
					 uint16_t n) {
	if (s->ring != NULL)
		return (uint16_t)rte_ring_enqueue_burst(s->ring, (void **)pkts, n, NULL);
	return likely(s->has_port) ? rte_eth_tx_burst(s->port, s->queue, pkts, n) : 0;
}
