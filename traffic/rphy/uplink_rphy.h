/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending half of the R-PHY device: sends bursts of modems as UEPI on the sessions of their channels
 * (docs/uepi-formats.md).
 *
 *     session      | header | payload .. | trailer | header | ..     SC-QAM: a packet holds parts of
 *                                                                    one burst only; OFDMA: of several
 *     ranging      the same, RNG-REQ only
 *     requests     | record | record | ..
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/service_group.h"
#include "rphy/uplink_session.h"
#include "rphy/uplink_slot.h"
#include "wire/uepi.h"

struct uplink_channel {
	enum uepi_format format;
	uint32_t session_id, request_session_id, ranging_session_id; /* L2TPv3; 0: none */
	/* first minislot of the latest burst of a MAP; without MAPs, of the next burst */
	uint32_t minislot;
	uint32_t burst_id;
	bool has_requests;
	bool has_ranging;
	struct uplink_session data;
	struct uplink_session requests;
	struct uplink_session ranging;
};

struct uplink_rphy {
	struct uplink_output output;
	struct uplink_channel *channels;
	uint64_t bursts;
	uint64_t segments; /* bursts with a segment header */
	uint64_t request_records;
};

/* A burst as the device has received it. */
struct uplink_burst {
	uint16_t sid; /* SID of the grant */
	bool segment_header;
	bool unused; /* nothing was sent in the grant */
	struct uplink_slot slot; /* the MAP's grant */
	const uint8_t *payload; /* copied during the call */
	uint32_t size; /* bytes of `payload` */
	struct shadow_burst *shadow; /* with impairments, else NULL */
	uint32_t truncated; /* last bytes of `size` that are not sent */
	uint32_t trailer_damage; /* mask of wrong bits in the trailer's burst ID; OFDMA only */
	uint16_t foreign_sid; /* replaces `sid` in the UEPI header; 0: `sid` is sent */
	bool header_damage; /* of the UEPI header: wrong version (OFDMA), or one byte less (SC-QAM) */
	struct uplink_ended ended; /* packets whose last byte is in the burst */
	struct uepi_request request; /* kind, size and cluster; size 0: no request */
};

/* `r` must be zeroed. `pool`: from uplink_output_pool(), must outlive `r`; NULL: creates the process's only pool.
 * Returns 0, or -1 after a message. The caller frees it with uplink_rphy_free() in either case. */
int uplink_rphy_create(struct uplink_rphy *r, const struct service_group *sg, uint16_t port,
		       struct rte_mempool *pool);

/* Sets the channels by index in the group, 0 .. `count` - 1. Slots with session 0 are free and not changed.
 * Sessions with the same ID continue; others begin a new sequence. */
void uplink_rphy_set_channels(struct uplink_rphy *r, const struct upstream_channel *channels,
			      uint32_t count);

void uplink_rphy_free(struct uplink_rphy *r);

/* Sets all counts to 0. Sequence numbers, burst IDs and minislots continue. */
void uplink_rphy_restart(struct uplink_rphy *r);

/*
 * These functions add a burst at TSC `now` to the open packet of a session, which uplink_sessions_flush()
 * closes at the latest. uplink_output_ready() must have been true at the start of the round.
 */

/* Sends a data burst on channel `channel`. Before it, sends the record of its request if the channel has a
 * session for records. */
void uplink_rphy_data(struct uplink_rphy *r, uint32_t channel, const struct uplink_burst *b,
		      uint64_t now);

/* Sends the contents of a request opportunity: `b->request` as a record if the channel has a
 * session for records, otherwise the payload as a burst. */
void uplink_rphy_request(struct uplink_rphy *r, uint32_t channel, const struct uplink_burst *b,
			 uint64_t now);

/* Sends a RNG-REQ. The channel must have a session for ranging (`has_ranging`). */
void uplink_rphy_ranging(struct uplink_rphy *r, uint32_t channel, const struct uplink_burst *b,
			 uint64_t now);
