/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream half of an R-PHY device: bursts of modems as UEPI on the sessions of their channels
 * (docs/uepi-formats.md).
 *
 *     session      | header | payload .. | trailer | header | ..     SC-QAM: a packet holds parts of
 *                                                                    one burst only
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
	uint32_t session_id, request_id, ranging_id;
	uint32_t minislot; /* of the next grant */
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

/* A burst as the device received it. */
struct uplink_burst {
	uint16_t sid; /* of the grant */
	bool segment_header;
	bool unused; /* nothing was sent in the grant */
	struct uplink_slot slot;
	const uint8_t *payload;
	uint32_t size;
	struct shadow_burst *shadow; /* of an impaired upstream, else NULL */
	uint32_t cut; /* bytes at its end that did not get here */
	uint32_t trailer_damage; /* wrong bits of the burst ID */
	uint16_t stray_sid; /* in the header instead of `sid`; 0: none */
	bool header_damage;
	struct uplink_ended ended;
	struct uepi_request
		request; /* kind, size, cluster; the device knows the rest. Size 0: none */
};

/* `packets` as in struct uplink_options. Returns 0, or -1 after a message. To be freed by uplink_rphy_free() in either case. */
int uplink_rphy_create(struct uplink_rphy *r, const struct service_group *sg, uint16_t port,
		       struct rte_mempool *packets);

/* The channels by their places in the group, 0 .. `count` - 1; free places have no session. Those whose
 * session is the same go on. */
void uplink_rphy_set_channels(struct uplink_rphy *r, const struct upstream_channel *channels,
			      uint32_t count);

void uplink_rphy_free(struct uplink_rphy *r);

/* All counts are 0; what the CMTS sees goes on. */
void uplink_rphy_restart(struct uplink_rphy *r);

/* Sends a burst of data on channel `channel`, and the record of its request. */
void uplink_rphy_data(struct uplink_rphy *r, uint32_t channel, const struct uplink_burst *b,
		      uint64_t now);

/* Sends what came in a request opportunity: `b->request`, as a record where the channel has a session for them, else
 * the payload as a burst. */
void uplink_rphy_request(struct uplink_rphy *r, uint32_t channel, const struct uplink_burst *b,
			 uint64_t now);

/* Sends a RNG-REQ, where the channel has a session for them. */
void uplink_rphy_ranging(struct uplink_rphy *r, uint32_t channel, const struct uplink_burst *b,
			 uint64_t now);
