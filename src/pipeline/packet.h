/* SPDX-License-Identifier: BSD-3-Clause */
/* What a packet carries from stage to stage: a dynamic field of the mbuf. */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#define PACKET_META_ALIGN 8 /* also for what others keep in its place */

#define PACKET_NO_ROW UINT16_MAX /* all is known of it */

struct packet_meta {
	uint32_t modem; /* index of the modem, set by known flows or modem lookup */
	uint32_t
		flow; /* index of the service flow in the service group, set by known flows or classify */
	uint16_t channel; /* index of the channel, set by schedule */
	uint16_t sequence; /* packet sequence number of the DSID, set by schedule */
	uint16_t ends; /* DEPI frame: packets whose last byte it carries */
	uint16_t
		row; /* number of its row in the burst's table (struct ds_row), set by parse, taken away by
			known flows */
	uint64_t arrived; /* TSC; 0, or older than pipeline/latency.h counts: not measured */
};

/* Offset of the field in every mbuf; set once by packet_meta_register(). */
extern int packet_meta_offset;

/* Reserves the field. To be called once after EAL has started. Returns 0 or -rte_errno. */
int packet_meta_register(void);

static inline struct packet_meta *packet_meta(struct rte_mbuf *m) {
	return RTE_MBUF_DYNFIELD(m, packet_meta_offset, struct packet_meta *);
}
