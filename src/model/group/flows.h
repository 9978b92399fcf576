/* SPDX-License-Identifier: BSD-3-Clause */
/* Service flows: quality of service downstream, SIDs and grants upstream. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/group/grants.h"

#define SG_MAX_DSID 0xfffff
#define SG_MAX_SID 0x3ffe /* 0x3fff is broadcast */
#define SG_MAX_SID_CLUSTERS 8 /* of one service flow */

/* What keeps the queue of a service flow short. */
enum aqm {
	AQM_TAIL_DROP, /* its buffer alone */
	AQM_WRED,
	AQM_DOCSIS_PIE, /* RFC 8034 */
};

struct wred {
	uint32_t min_threshold; /* bytes of the average queue, from where on packets are dropped */
	uint32_t max_threshold; /* from where on all are */
	uint32_t max_probability; /* just below max_threshold, in 1/65536; 1..65536 */
	uint8_t weight; /* the average moves by 1/2^weight of the difference; 1..15 */
};

/* Downstream; the quality of service parameters are those of MULPI, annex C.2.2. */
struct service_flow {
	uint32_t id; /* SFID, unique in the service group */
	bool active; /* only active flows may be the target of a classifier */
	uint32_t bonding_group; /* index; where the file says nothing, the modem's */
	bool has_dsid;
	uint32_t dsid; /* given when the flow's bonding group holds two or more channels */
	uint8_t priority; /* traffic priority 0..7 */
	uint8_t weight; /* 1..255, among the modem's flows of this priority */
	uint64_t sustained_rate; /* bits per second; 0: no limit */
	uint32_t traffic_burst; /* bytes; of no meaning without a sustained rate */
	uint64_t peak_rate; /* bits per second, at least the sustained; 0: none */
	uint64_t reserved_rate; /* bits per second, at most the sustained; 0: none */
	uint16_t reserved_packet; /* assumed minimum packet size, bytes */
	uint32_t min_buffer; /* bytes that may wait in the flow's queue: in want of memory, */
	uint32_t buffer; /* in ordinary times, */
	uint32_t max_buffer; /* and with much memory free */
	enum aqm aqm;
	struct wred wred; /* of no meaning but for AQM_WRED */
	uint64_t latency_target_ns; /* of DOCSIS-PIE */
};

/* The SID of a cluster on one upstream channel. */
struct upstream_sid {
	uint32_t channel; /* index into upstream_channels */
	uint16_t sid; /* 14 bits, unique on the channel */
};

/* SIDs that a service flow uses alike, one a channel (MULPI, SID clusters). */
struct sid_cluster {
	uint8_t id; /* 0..7, as in the segment header */
	struct upstream_sid *sids;
	size_t sid_count;
};

struct upstream_service_flow {
	uint32_t id; /* SFID, unique in the service group, also among downstream flows */
	bool segment_header; /* continuous concatenation and fragmentation */
	struct sid_cluster *clusters;
	size_t cluster_count; /* without segment headers exactly one */
	struct flow_grants grants;
};
