/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * L2TPv3 packets of the R-PHY device: on each session PSP segments are gathered in one buffer, behind
 * room for the headers. When the packet is closed, headers and segment table go right in front.
 *
 *     | headroom | .. | Ethernet, IP, session ID | PSP, table | segment | segment | ..
 *                       ^ where the packet begins, by the length of the table
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "model/service_group.h"
#include "modems/uplink_flow.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

#define UPLINK_STOCK 256 /* buffers; more than a round fills */
#define UPLINK_OPEN_ENDED 16 /* bursts with ends of packets in one L2TPv3 packet */
#define UPLINK_SESSIONS_MAX (3 * SG_MAX_UPSTREAM_CHANNELS)
/* Those that are closed in a round, and as many that impairments add. */
#define UPLINK_CLOSED (UPLINK_STOCK + UPLINK_SESSIONS_MAX)
#define UPLINK_PENDING (12 * UPLINK_CLOSED)

struct impair_session;
struct shadow_burst;

struct uplink_session {
	struct impair_session *impair; /* NULL: nothing goes wrong */
	struct shadow_burst *shadow; /* whose PSP segments come next */
	struct rte_mbuf *open; /* the packet in the making; NULL: none */
	uint64_t opened; /* TSC */
	uint16_t sequence;
	uint16_t count; /* segments in it */
	uint16_t ended_count;
	uint16_t place; /* among the open ones */
	uint8_t headers[DEPI_ENCAP_MAX];
	uint8_t table[PSP_COUNT_MAX * PSP_ENTRY_SIZE];
	struct uplink_ended ended[UPLINK_OPEN_ENDED];
};

struct uplink_packet {
	struct rte_mbuf *m;
	uint32_t ended; /* how many of `ended` belong to it */
};

struct uplink_output {
	struct rte_mempool *pool;
	uint16_t port;
	uint8_t family; /* of IP */
	uint32_t headers_size; /* Ethernet .. session ID */
	uint32_t capacity; /* bytes behind the session ID */
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

	uint64_t packets; /* handed to the port */
	uint64_t bytes;
	uint64_t backpressure;
};

/* Returns 0, or -1 after a message. To be freed by uplink_output_free() in either case. */
int uplink_output_create(struct uplink_output *o, const struct service_group *sg, uint16_t port);

/* Frees what no port has taken. */
void uplink_output_free(struct uplink_output *o);

/* Makes a session by its L2TPv3 session ID. */
void uplink_session_create(struct uplink_session *s, const struct uplink_output *o, uint32_t id);

/* Whether nothing is pending and there are buffers for a round. */
bool uplink_output_ready(struct uplink_output *o);

/* Adds a PSP segment that stays in one packet. */
void uplink_session_unit(struct uplink_output *o, struct uplink_session *s, bool begin, bool end,
			 const uint8_t *bytes, uint32_t size, uint64_t now);

/* Adds payload, in as many segments and packets as it takes. */
void uplink_session_payload(struct uplink_output *o, struct uplink_session *s, const uint8_t *bytes,
			    uint32_t size, uint64_t now);

/* Notes which packets are sent with the packet that is open now. */
void uplink_session_ended(struct uplink_output *o, struct uplink_session *s,
			  const struct uplink_ended *ended);

/* Closes the open packet, where there is one. */
void uplink_session_close(struct uplink_output *o, struct uplink_session *s);

/* Takes a packet for the port, and what is sent with it. */
void uplink_output_put(struct uplink_output *o, struct rte_mbuf *m,
		       const struct uplink_ended *ended, unsigned ended_count);

/* Closes the packets that have waited long enough, or all. */
void uplink_output_flush(struct uplink_output *o, uint64_t now, bool all);

/*
 * Hands pending packets to the port. Returns how many it took; `ended` gets what was sent with them,
 * `ended_count` entries that stay until the next packet is closed.
 */
unsigned uplink_output_transmit(struct uplink_output *o, const struct uplink_ended **ended,
				unsigned *ended_count);
