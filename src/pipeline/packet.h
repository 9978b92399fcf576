/* SPDX-License-Identifier: BSD-3-Clause */
/* The metadata of a packet, in a dynamic field of its mbuf. */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#define PACKET_META_ALIGN 8 /* also for structs that replace packet_meta */

#define PACKET_NO_RECORD UINT16_MAX /* without a record: all fields are set */

struct packet_meta {
	uint32_t modem; /* index, set by known_flows or modem_lookup */
	uint32_t flow; /* index of the service flow in the group, set by known_flows or classify */
	uint16_t channel; /* index, set by schedule */
	uint16_t sequence; /* packet sequence number of the DSID, set by schedule */
	uint16_t ends; /* DEPI frame: number of packets whose last byte it carries */
	/* index of its record in the burst's table; set by parse, reset by known_flows */
	uint16_t record;
	uint64_t arrived; /* TSC; 0, or before struct latency's `since`: not measured */
};

/* Offset of the field in every mbuf; set by packet_meta_register(). */
extern int packet_meta_offset;

/* Registers the field. Call it once after EAL has started. Returns 0 or -rte_errno. */
int packet_meta_register(void);

static inline struct packet_meta *packet_meta(struct rte_mbuf *m) {
	return RTE_MBUF_DYNFIELD(m, packet_meta_offset, struct packet_meta *);
}
