/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grant: the row behind the requests where the group has an upstream scheduler. Bandwidth requests go to the
 * scheduler (src/scheduler/maps), which makes MAPs when they are due by DOCSIS time; these, and UCDs, go to the lower MAC
 * over the way that the downstream has for them (docs/upstream-scheduler.md).
 */
#pragma once

#include "model/group/grants.h"
#include "pipeline/docsis_clock.h"
#include "pipeline/messages.h"
#include "scheduler/maps/maps.h"
#include "upstream/shared.h"
#include "wire/management.h"

#define US_GRANT_BYTES 60000 /* at most: a minislot may hold a little more than was told of it */
#define US_GRANT_STREAMS (1 + GRANTS_MAP_CHANNELS) /* the MAP pseudowire comes first */

struct service_group;
struct upstream_channel;
struct us_request;
struct upstream_service_flow;

/* An upstream channel as the row knows it. */
struct us_grant_channel {
	uint64_t ucd_at; /* ns: when the next one is due */
	uint8_t *ucd; /* a whole frame, sent as it is */
	uint32_t ucd_size;
	uint16_t burst_minislots; /* of a request in minislots, those that are no data */
	uint16_t minislot_bytes;
	uint16_t streams[US_GRANT_STREAMS];
	uint8_t stream_count;
};

struct us_grant {
	const struct us_resources *r;
	struct counters *counters;
	const struct us_tables *tables;
	struct maps *maps; /* NULL: there is no scheduler, and the row does nothing */
	struct message_path *messages;
	struct us_grant_channel *channels;
	uint32_t channel_count;
	uint8_t *units; /* of requests in N bytes, by flow */
	bool *refused; /* by flow: it is there, and its settings could not be met */
	uint32_t refused_count; /* of these */
	bool *watched; /* by flow: its unsolicited grants go on while data comes */
	uint64_t ucd_interval; /* ns */
	uint16_t slack; /* us from when a MAP is due until it has to be on the wire */
	uint64_t ucd_at; /* the first of those of the channels */
	uint8_t source[6]; /* MAC address of messages */
	bool follow; /* the system's clock, from the first round on; else the worker's is DOCSIS time */
	bool began;
	bool stopped; /* makes none of them */
	uint64_t jumps; /* of the clock that have been told */
	struct docsis_clock clock;
	struct map map; /* in hand */
	uint8_t frame[MANAGEMENT_FRAME_MAX];
};

uint16_t us_grant(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int us_grant_open(void *ctx, const struct service_group *sg, const void *resources);
void us_grant_close(void *ctx);

/* A flow's settings for the scheduler, with what they point to. */
struct us_grant_flow {
	struct maps_flow settings;
	struct maps_cluster clusters[MAPS_MAX_CLUSTERS];
	struct maps_sid sids[]; /* of all clusters */
};

/* What the scheduler is told of a channel of the group. */
struct maps_channel us_grant_channel_settings(const struct service_group *sg,
					      const struct upstream_channel *c);

/* Bytes of a struct us_grant_flow with the SIDs of `f`. */
size_t us_grant_flow_size(const struct upstream_service_flow *f);

/* Fills it in; it points into itself, and must stay where it is. */
void us_grant_flow_fill(struct us_grant_flow *g, const struct upstream_service_flow *f);

/* Hands a request on. By the row `requests`. */
void us_grant_request(struct us_grant *g, const struct us_request *r);

/* Data of a flow came that is `watched`. */
void us_grant_data(struct us_grant *g, uint32_t flow);

/* Gives the scheduler the settings of a flow, and looks for data of it where they ask for that. Returns NULL, or why not. */
const char *us_grant_enter_flow(struct us_grant *g, uint32_t flow, const struct maps_flow *settings,
				uint64_t now);

/* Sets or removes (NULL) a flow by its place, by the worker. What cannot be met is counted once, and gets no grants. */
void us_grant_set_flow(struct us_grant *g, uint32_t flow, const struct us_grant_flow *f,
		       uint8_t unit);

/* Takes away what a flow has, which is to be set again: its SIDs and promises are free for others. */
void us_grant_lift_flow(struct us_grant *g, uint32_t flow);

/* When the row has something to do, ns of the worker's clock. */
uint64_t us_grant_due(const struct us_grant *g);
