/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grant: the stage behind `requests`, if the group has an upstream scheduler
 * (docs/upstream-scheduler.md).
 *
 * It passes bandwidth requests to the scheduler (src/scheduler/maps), which makes MAPs when they
 * are due by DOCSIS time. MAPs and UCDs go to the lower MAC over the message path of the
 * downstream.
 */
#pragma once

#include "model/group/grants.h"
#include "pipeline/docsis_clock.h"
#include "pipeline/messages.h"
#include "scheduler/maps/maps.h"
#include "upstream/shared.h"
#include "wire/management.h"

#define US_GRANT_BYTES 60000 /* of a grant; below US_BURST_BYTES, as minislots may carry more */
#define US_GRANT_STREAMS (1 + GRANTS_MAP_CHANNELS) /* the MAP pseudowire comes first */

struct service_group;
struct upstream_channel;
struct us_request;
struct upstream_service_flow;

/* The stage's record of an upstream channel. */
struct us_grant_channel {
	uint64_t ucd_at; /* ns: when the next one is due */
	uint8_t *ucd; /* a whole frame, sent unchanged */
	uint32_t ucd_size;
	uint16_t burst_minislots; /* overhead of a burst, which a request in minislots includes */
	uint16_t minislot_bytes;
	uint16_t streams[US_GRANT_STREAMS];
	uint8_t stream_count;
};

struct us_grant {
	const struct us_resources *r;
	struct counters *counters;
	const struct us_tables *tables;
	struct maps *maps; /* NULL: no scheduler, and the stage does nothing */
	struct message_path *messages;
	struct us_grant_channel *channels;
	uint32_t channel_count;
	uint8_t *units; /* of requests in N bytes, by flow */
	bool *refused; /* by flow: the scheduler refused its settings */
	uint32_t refused_count; /* flows that are refused */
	bool *watched; /* by flow: its unsolicited grants continue while it sends data */
	uint64_t ucd_interval; /* ns */
	uint16_t slack; /* us between the due time of a MAP and its deadline on the wire */
	uint64_t ucd_at; /* ns, the earliest of the channels */
	uint8_t source[6]; /* MAC source address of messages */
	/* follow the system's clock from the first round; else the worker's clock is DOCSIS time */
	bool follow;
	bool began;
	bool stopped; /* makes no messages */
	uint64_t jumps; /* clock jumps that were counted */
	struct docsis_clock clock;
	struct map map; /* the MAP that is being made */
	uint8_t frame[MANAGEMENT_FRAME_MAX];
};

uint16_t us_grant(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int us_grant_open(void *ctx, const struct service_group *sg, const void *resources);
void us_grant_close(void *ctx);

/* The scheduler's settings of a flow, with the arrays to which they point. */
struct us_grant_flow {
	struct maps_flow settings;
	struct maps_cluster clusters[MAPS_MAX_CLUSTERS];
	struct maps_sid sids[]; /* of all clusters */
};

/* The scheduler's settings of a channel. */
struct maps_channel us_grant_channel_settings(const struct service_group *sg,
					      const struct upstream_channel *c);

/* Bytes of a struct us_grant_flow with the SIDs of `f`. */
size_t us_grant_flow_size(const struct upstream_service_flow *f);

/* Fills `g`, which points into itself and must not move. */
void us_grant_flow_fill(struct us_grant_flow *g, const struct upstream_service_flow *f);

/* Prefetches what us_grant_request() needs of the request's flow. The stage `requests` calls it for a
 * burst of requests before it passes the first one. */
void us_grant_prefetch(const struct us_grant *g, const struct us_request *r);

/* Passes a request to the scheduler. The stage `requests` calls it. */
void us_grant_request(struct us_grant *g, const struct us_request *r);

/* Records that a `watched` flow sent data. */
void us_grant_data(struct us_grant *g, uint32_t flow);

/* Sets a flow in the scheduler, and watches its data if its settings need that. Returns NULL, or
 * the reason for a refusal. */
const char *us_grant_enter_flow(struct us_grant *g, uint32_t flow, const struct maps_flow *settings,
				uint64_t now);

/* Sets a flow by its slot, or removes it (NULL); the worker calls it. Settings that cannot be
 * met are counted once, and the flow gets no grants. */
void us_grant_set_flow(struct us_grant *g, uint32_t flow, const struct us_grant_flow *f,
		       uint8_t unit);

/* Removes a flow that will be set again, so that other flows can use its SIDs and guarantees. */
void us_grant_release_flow(struct us_grant *g, uint32_t flow);

/* When the stage has work next, ns of the worker's clock. */
uint64_t us_grant_due(const struct us_grant *g);
