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
#include "rphy/uplink_output.h"
#include "rphy/uplink_slot.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

struct impair_session;
struct shadow_burst;
struct uplink_session;

/* Makes packets of a session go wrong (impairments/). */
struct session_impairer {
	/* A PSP segment of `s->shadow` was put into the open packet. */
	void (*segment)(struct uplink_session *s, bool begin, bool end);
	/* The packet with this number was closed, and is to be put out. */
	void (*packet)(struct uplink_session *s, struct rte_mbuf *m, uint16_t number);
};

struct uplink_session {
	const struct session_impairer *impairer; /* NULL: nothing goes wrong */
	struct impair_session *impair; /* the impairer's */
	struct shadow_burst *shadow; /* likewise: whose PSP segments come next */
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

/* Frees the packets that are open. */
void uplink_sessions_discard(struct uplink_output *o);

/* Makes a session by its L2TPv3 session ID. */
void uplink_session_create(struct uplink_session *s, const struct uplink_output *o, uint32_t id);

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

/* Closes the packets that have waited long enough, or all. */
void uplink_sessions_flush(struct uplink_output *o, uint64_t now, bool all);
