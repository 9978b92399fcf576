/* SPDX-License-Identifier: BSD-3-Clause */
/* Service flows: quality of service downstream, SIDs and grants upstream. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/group/grants.h"

#define SG_MAX_DSID 0xfffff
#define SG_MAX_SID 0x3ffe /* 0x3fff is broadcast */
#define SG_MAX_SID_CLUSTERS 8 /* per service flow */

/* Queue management of a service flow. */
enum aqm {
	AQM_TAIL_DROP, /* its buffer limit only */
	AQM_WRED,
	AQM_DOCSIS_PIE, /* RFC 8034 */
};

struct wred {
	/* bytes of the average queue length from which packets are dropped at random */
	uint32_t min_threshold;
	uint32_t max_threshold; /* bytes from which all packets are dropped */
	/* drop probability just below max_threshold, in 1/65536; 1..65536 */
	uint32_t max_probability;
	uint8_t weight; /* the average moves by 1/2^weight of the difference; 1..15 */
};

/* IP TOS overwrite (MULPI, annex C.2.2.7.9): new = (old AND and_mask) OR or_mask. */
struct tos_masks {
	uint8_t and_mask; /* 0xff keeps all bits */
	uint8_t or_mask; /* 0x00 sets none */
};

/* Downstream; parameters as in MULPI, annex C.2.2. */
struct service_flow {
	uint32_t id; /* SFID, unique in the service group */
	bool active; /* only active flows may be the target of a classifier */
	uint32_t bonding_group; /* index; by default that of the modem */
	bool has_dsid;
	uint32_t dsid; /* set if the flow's bonding group has two or more channels */
	uint8_t priority; /* traffic priority 0..7 */
	uint8_t weight; /* 1..255, among the modem's flows of this priority */
	uint64_t sustained_rate; /* bits per second; 0: no limit */
	uint32_t traffic_burst; /* bytes; unused without a sustained rate */
	uint64_t peak_rate; /* bits per second, at least the sustained rate; 0: none */
	uint64_t reserved_rate; /* bits per second, at most the sustained rate; 0: none */
	uint16_t reserved_packet; /* assumed minimum packet size, bytes */
	uint32_t min_buffer; /* bytes: limit of the flow's queue if memory is short */
	uint32_t buffer; /* bytes: limit of the flow's queue in normal operation */
	uint32_t max_buffer; /* bytes: limit of the flow's queue if much memory is free */
	enum aqm aqm;
	struct wred wred; /* for AQM_WRED only */
	uint64_t latency_target_ns; /* for DOCSIS-PIE */
	bool overwrites_tos;
	struct tos_masks tos; /* if `overwrites_tos` */
};

/* The SID of a cluster on one upstream channel. */
struct upstream_sid {
	uint32_t channel; /* index into upstream_channels */
	uint16_t sid; /* 14 bits, unique on the channel */
};

/* SIDs that a service flow uses in the same way, one per upstream channel (MULPI, SID clusters). */
struct sid_cluster {
	uint8_t id; /* 0..7, as in the segment header */
	struct upstream_sid *sids;
	size_t sid_count;
};

struct upstream_service_flow {
	uint32_t id; /* SFID, unique among all upstream and downstream flows of the service group */
	bool segment_header; /* continuous concatenation and fragmentation */
	struct sid_cluster *clusters;
	size_t cluster_count; /* 1 if the flow has no segment headers */
	struct flow_grants grants;
	bool overwrites_tos; /* of packets towards the network */
	struct tos_masks tos; /* if `overwrites_tos` */
};
