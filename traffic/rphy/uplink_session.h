/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * L2TPv3 packets of the R-PHY device: each session gathers PSP segments in one buffer, after space for the
 * headers. When the packet is closed, headers and segment table are written right before the first segment.
 *
 *     | headroom | .. | Ethernet, IP, session ID | PSP, table | segment | segment | ..
 *                       ^ start of the packet, depends on the length of the table
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

/* Callbacks that damage packets of a session (impairments/). */
struct session_impairer {
	/* A PSP segment of `s->shadow` was put into the open packet. */
	void (*segment)(struct uplink_session *s, bool begin, bool end);
	/* The packet with this number was closed; the impairer sends it. */
	void (*packet)(struct uplink_session *s, struct rte_mbuf *m, uint16_t number);
};

struct uplink_session {
	const struct session_impairer *impairer; /* NULL: no impairments */
	struct impair_session *impair; /* the impairer's state */
	/* the impairer's record of the burst whose PSP segments come next */
	struct shadow_burst *shadow;
	struct rte_mbuf *open; /* packet being filled, or NULL */
	uint64_t opened; /* TSC at which it was opened */
	uint16_t sequence; /* PSP sequence number of the open or next packet */
	uint16_t count; /* segments in the open packet */
	uint16_t ended_count;
	uint16_t index; /* index in uplink_output.open */
	uint8_t headers[DEPI_ENCAP_MAX];
	uint8_t table[PSP_COUNT_MAX * PSP_ENTRY_SIZE];
	struct uplink_ended ended[UPLINK_OPEN_ENDED];
};

/* Frees the open packets of all sessions. */
void uplink_sessions_discard(struct uplink_output *o);

/* Creates a session with L2TPv3 session ID `id` in `s`, which must be zeroed. */
void uplink_session_create(struct uplink_session *s, const struct uplink_output *o, uint32_t id);

/* The functions below open a packet at TSC `now` if none is open. It uses a buffer of the stock, which must
 * not be empty (uplink_output_ready()). */

/* Adds a PSP segment that must not be split. `begin`, `end`: it is the first, last of a burst. */
void uplink_session_unit(struct uplink_output *o, struct uplink_session *s, bool begin, bool end,
			 const uint8_t *bytes, uint32_t size, uint64_t now);

/* Adds payload, split over segments and packets as needed. */
void uplink_session_payload(struct uplink_output *o, struct uplink_session *s, const uint8_t *bytes,
			    uint32_t size, uint64_t now);

/* Adds an entry of packets that end in the open packet, which must exist. Closes it if it is full of entries. */
void uplink_session_ended(struct uplink_output *o, struct uplink_session *s,
			  const struct uplink_ended *ended);

/* Closes the open packet, if any. */
void uplink_session_close(struct uplink_output *o, struct uplink_session *s);

/* Closes the packets that are open for longer than the flush time, or all. */
void uplink_sessions_flush(struct uplink_output *o, uint64_t now, bool all);
