/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of the R-PHY device to its port: closed packets that are pending, and a stock of buffers. */
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

/* Buffers; at least those that one round fills (static_assert in uplink.c). */
#define UPLINK_STOCK 256
/* Maximum entries (struct uplink_ended) per L2TPv3 packet; the session then closes the packet. */
#define UPLINK_OPEN_ENDED 16
#define UPLINK_SESSIONS_MAX (3 * SG_MAX_UPSTREAM_CHANNELS)
/* Packets that can be closed before the output is ready again: one per buffer of the stock, and the open ones. */
#define UPLINK_CLOSED (UPLINK_STOCK + UPLINK_SESSIONS_MAX)
/* The same with faulty copies, or with duplicates and delayed packets by impairments. */
#define UPLINK_PENDING (12 * UPLINK_CLOSED)

/* Offset of the first segment: after the longest headers and segment table. */
#define UPLINK_SEGMENTS_AT \
	(RTE_PKTMBUF_HEADROOM + DEPI_ENCAP_MAX + PSP_HEADER_FIXED + PSP_COUNT_MAX * PSP_ENTRY_SIZE)

struct uplink_refused;
struct uplink_session;

struct uplink_packet {
	struct rte_mbuf *m;
	uint32_t ended; /* number of its entries in `uplink_output.ended` */
	uint32_t session; /* L2TPv3 session ID; 0: must not be reordered */
};

struct uplink_output {
	struct rte_mempool *pool;
	struct rte_mempool *own_pool; /* the same pool if this output owns it, or NULL */
	uint16_t port;
	uint16_t vlan; /* of the group on this port; 0: none */
	uint8_t family; /* IP family */
	/* bytes from the Ethernet header to the end of the session ID, without VLAN tag */
	uint32_t headers_size;
	uint32_t capacity; /* maximum bytes after the session ID, by the MTU */
	bool drop; /* drop packets that the port refuses; they count in neither `packets` nor `bytes` */
	struct witness *witness; /* or NULL */
	/* Makes a faulty copy of `m`, which the CMTS must drop. The output sends the copy after `m`. Returns NULL if
	 * none is due. `headers` is `headers_size`. A NULL pointer is not called. */
	struct rte_mbuf *(*make_faulty)(struct uplink_refused *r, struct rte_mbuf *m,
					uint32_t headers, struct rte_mempool *pool);
	struct uplink_refused *refused; /* context of `make_faulty` */
	uint64_t flush; /* TSC cycles after its opening at which an open packet is closed */
	struct depi_encap encap;

	struct rte_mbuf *stock[UPLINK_STOCK];
	unsigned stock_count;
	/* sessions with an open packet, whose headers are not written yet */
	struct uplink_session *open[UPLINK_SESSIONS_MAX];
	unsigned open_count;
	/* closed, not yet accepted by the port */
	struct uplink_packet pending[UPLINK_PENDING];
	unsigned pending_count;
	unsigned pending_sent;
	/* entries of the pending packets, in the order of `pending` */
	struct uplink_ended ended[UPLINK_CLOSED * UPLINK_OPEN_ENDED];
	unsigned ended_count;
	unsigned ended_sent;

	struct random random;
	/* a packet is swapped with the next of its session with probability 1 in so many; 0: never */
	uint32_t reorder_every;
	uint64_t reordered; /* packets sent after a later one: one per swap */
	uint64_t segments; /* PSP segments in all packets */
	uint64_t packets; /* accepted by the port */
	uint64_t bytes;
	uint64_t backpressure; /* bursts that the port accepted only in part */
};

/* Creates the buffers for packets of `groups` uplinks (1 or more) with at most this MTU (IP header and payload).
 * Returns NULL after a message. A process can have one such pool at a time, as DPDK needs unique names. The caller
 * frees it with rte_mempool_free(). */
struct rte_mempool *uplink_output_pool(unsigned groups, uint32_t mtu);

/* `o` must be zeroed. `pool`: from uplink_output_pool(), must outlive `o`; NULL: creates the process's only pool.
 * The owner may then set `drop`, `witness`, `make_faulty` with `refused`, and `reorder_every` with `random`.
 * Returns 0, or -1 after a message. The caller frees it with uplink_output_free() in either case. */
int uplink_output_create(struct uplink_output *o, const struct service_group *sg, uint16_t port,
			 struct rte_mempool *pool);

/* Also frees pending packets. uplink_sessions_discard() must free the open ones before. */
void uplink_output_free(struct uplink_output *o);

/* Sets the counts from `reordered` on to 0. Pending and open packets stay. */
void uplink_output_restart(struct uplink_output *o);

/* Fills the stock if no packet is pending. Returns false if one is or, without a message, if the pool has too few
 * buffers. */
bool uplink_output_ready(struct uplink_output *o);

/* Adds a closed packet, and copies the entries of the packets that end in it, UPLINK_OPEN_ENDED or fewer. Takes
 * ownership of `m`. Without a check: after uplink_output_ready() returned true, at most UPLINK_CLOSED packets with
 * entries and UPLINK_PENDING in total may be added. */
void uplink_output_put(struct uplink_output *o, struct rte_mbuf *m,
		       const struct uplink_ended *ended, unsigned ended_count);

/* Hands pending packets to the port. Returns how many it accepted; with `drop` it frees the others, which then
 * count here as accepted. Sets `ended` to their `ended_count` entries, in the order of these packets. They are
 * valid until the next packet is put. */
unsigned uplink_output_transmit(struct uplink_output *o, const struct uplink_ended **ended,
				unsigned *ended_count);
