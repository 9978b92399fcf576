/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frame: prepends the DOCSIS header of the packet's service flow and leaves space for the CRC. The
 * header is a template, in which the stage sets LEN, packet sequence number and HCS (MULPI 6.2).
 * The stage also overwrites the TOS: classification reads the old one, the CRC covers the new one.
 */
#include <string.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/bytes.h"
#include "wire/docsis_mac.h"
#include "wire/tos.h"

static bool frame_has_space(const struct rte_mbuf *m) {
	return rte_pktmbuf_headroom(m) >= DS_FLOW_HEADER &&
	       rte_pktmbuf_tailroom(m) >= RTE_ETHER_CRC_LEN;
}

/* Updates the template's HCS for LEN and sequence number. */
static uint16_t frame_header_hcs(const struct ds_flow *flow, uint16_t length, uint16_t sequence) {
	size_t size = flow->header_size;
	size_t behind =
		size - DOCSIS_HCS_SIZE - DOCSIS_LEN_OFFSET - 1; /* up to the first byte of LEN */
	uint16_t hcs = flow->hcs;

	hcs ^= docsis_hcs_share(behind, (uint8_t)(length >> 8));
	hcs ^= docsis_hcs_share(behind - 1, (uint8_t)length);
	if (flow->sequenced) {
		hcs ^= docsis_hcs_share(1, (uint8_t)(sequence >> 8));
		hcs ^= docsis_hcs_share(0, (uint8_t)sequence);
	}
	return hcs;
}

static void frame_one(struct rte_mbuf *m, const struct ds_flow *flow, uint16_t sequence) {
	size_t pdu = rte_pktmbuf_data_len(m) + RTE_ETHER_CRC_LEN;
	size_t size = flow->header_size;
	uint8_t *header = rte_pktmbuf_mtod(m, uint8_t *) - size;

	if (unlikely(flow->overwrites_tos))
		tos_overwrite(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, flow->tos.and_mask,
			      flow->tos.or_mask);
	/* A constant size compiles to two moves. Bytes before the header are headroom. */
	memcpy(header + size - DS_FLOW_HEADER, flow->header, DS_FLOW_HEADER);
	docsis_len_patch(header, size, pdu);
	if (flow->sequenced)
		docsis_sequence_patch(header, size, sequence);
	store_le16(header + size - DOCSIS_HCS_SIZE,
		   frame_header_hcs(flow, (uint16_t)(size - DOCSIS_MAC_HEADER + pdu), sequence));
	m->data_off -= (uint16_t)size;
	m->data_len += (uint16_t)(size + RTE_ETHER_CRC_LEN);
	m->pkt_len = m->data_len;
}

uint16_t ds_frame(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;
	const struct ds_flow *flows = l->tables->flows;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(&flows[packet_meta(pkts[i])->flow]);
	/* After the flow records, which are needed first. */
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], uint8_t *) - DS_FLOW_HEADER);
	for (uint16_t i = 0; i < n; i++) {
		const struct packet_meta *meta = packet_meta(pkts[i]);
		const struct ds_flow *flow = &flows[meta->flow];

		if (!frame_has_space(pkts[i])) {
			drop(&l->counters, pkts[i], DROP_NO_SPACE);
			continue;
		}
		crypto_key_prefetch(&flow->key);
		frame_one(pkts[i], flow, meta->sequence);
		pkts[kept++] = pkts[i];
	}
	count(&l->counters, COUNTER_FRAMED, kept);
	return kept;
}
