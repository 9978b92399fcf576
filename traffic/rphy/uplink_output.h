/* SPDX-License-Identifier: BSD-3-Clause */
/* What the R-PHY device has for the port: packets that are closed, and buffers for those to come. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "model/service_group.h"
#include "proof/witness.h"
#include "random/random.h"
#include "rphy/uplink_slot.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

#define UPLINK_STOCK 256 /* buffers; more than a round fills */
#define UPLINK_OPEN_ENDED 16 /* bursts with ends of packets in one L2TPv3 packet */
#define UPLINK_SESSIONS_MAX (3 * SG_MAX_UPSTREAM_CHANNELS)
/* Those that are closed in a round, and as many that impairments add. */
#define UPLINK_CLOSED (UPLINK_STOCK + UPLINK_SESSIONS_MAX)
#define UPLINK_PENDING (12 * UPLINK_CLOSED)

/* Where the first segment stands: behind the longest headers and the longest table. */
#define UPLINK_SEGMENTS_AT \
	(RTE_PKTMBUF_HEADROOM + DEPI_ENCAP_MAX + PSP_HEADER_FIXED + PSP_COUNT_MAX * PSP_ENTRY_SIZE)

struct uplink_refused;
struct uplink_session;

struct uplink_packet {
	struct rte_mbuf *m;
	uint32_t ended; /* how many of `ended` belong to it */
	uint32_t session; /* 0: it may not change places */
};

struct uplink_output {
	struct rte_mempool *pool;
	struct rte_mempool *own_pool; /* the same, where nobody else has it; or NULL */
	uint16_t port;
	uint16_t vlan; /* of the group at the port; 0: none */
	uint8_t family; /* of IP */
	uint32_t headers_size; /* Ethernet .. session ID */
	uint32_t capacity; /* bytes behind the session ID */
	bool drop; /* what the port does not take is lost */
	struct witness *witness; /* NULL: none */
	/* A copy of packet `m` with a fault, that is to be dropped and comes behind it; NULL where there is none. `headers`
	 * are its bytes up to the end of the session ID. */
	struct rte_mbuf *(*refuse)(struct uplink_refused *r, struct rte_mbuf *m, uint32_t headers,
				   struct rte_mempool *pool); /* NULL: there are none */
	struct uplink_refused *refused; /* for it */
	uint64_t flush; /* TSC cycles that a packet waits for more */
	struct depi_encap encap;

	struct rte_mbuf *stock[UPLINK_STOCK];
	unsigned stock_count;
	struct uplink_session *open[UPLINK_SESSIONS_MAX];
	unsigned open_count;
	/* closed, not yet taken by the port */
	struct uplink_packet pending[UPLINK_PENDING];
	unsigned pending_count;
	unsigned pending_sent;
	struct uplink_ended ended[UPLINK_CLOSED * UPLINK_OPEN_ENDED];
	unsigned ended_count;
	unsigned ended_sent;

	struct random random;
	uint32_t
		reorder_every; /* of packets of a session that leave together, one in so many goes behind the next; 0: none */
	uint64_t reordered; /* packets that did */
	uint64_t segments; /* of PSP, in all packets */
	uint64_t packets; /* handed to the port */
	uint64_t bytes;
	uint64_t backpressure;
};

/* Buffers for packets of `groups` uplinks with at most this MTU. Returns NULL after a message. */
struct rte_mempool *uplink_output_pool(unsigned groups, uint32_t mtu);

/* Without `packets` (NULL) it makes a pool of its own. Returns 0, or -1 after a message. To be freed by
 * uplink_output_free() in either case. */
int uplink_output_create(struct uplink_output *o, const struct service_group *sg, uint16_t port,
			 struct rte_mempool *packets);

/* Frees what no port has taken. */
void uplink_output_free(struct uplink_output *o);

/* Whether nothing is pending and there are buffers for a round. */
bool uplink_output_ready(struct uplink_output *o);

/* Takes a packet for the port, and what is sent with it. */
void uplink_output_put(struct uplink_output *o, struct rte_mbuf *m,
		       const struct uplink_ended *ended, unsigned ended_count);

/*
 * Hands pending packets to the port. Returns how many it took, or with `drop` all of them; `ended` gets what was sent with them,
 * `ended_count` entries that stay until the next packet is closed.
 */
unsigned uplink_output_transmit(struct uplink_output *o, const struct uplink_ended **ended,
				unsigned *ended_count);
