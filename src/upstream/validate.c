/* SPDX-License-Identifier: BSD-3-Clause */
/* Validate: checks Ethernet, IP and L2TPv3 headers and addresses; the session determines the
 * upstream channel. The L2TPv3 payload goes on. */
#include "upstream/validate.h"

#include <string.h>

#include <rte_hash.h>

#include "wire/ip.h"
#include "wire/l2tpv3.h"

static const enum drop_reason reasons[] = {
	[L2TP_RUNT] = DROP_OUTER_RUNT,
	[L2TP_NOT_IP] = DROP_NOT_L2TP,
	[L2TP_IP_HEADER] = DROP_OUTER_IP_HEADER,
	[L2TP_IP_LENGTH] = DROP_OUTER_IP_LENGTH,
	[L2TP_IP_CHECKSUM] = DROP_OUTER_IP_CHECKSUM,
	[L2TP_FRAGMENT] = DROP_OUTER_FRAGMENT,
	[L2TP_NOT_L2TP] = DROP_NOT_L2TP,
	[L2TP_VERSION] = DROP_L2TP_VERSION,
	[L2TP_TRUNCATED] = DROP_L2TP_TRUNCATED,
	[L2TP_CONTROL] = DROP_L2TP_CONTROL,
};

static bool is_for_core(const struct us_validate *stage, const struct l2tp_data *data) {
	size_t size = ip_address_size(data->family);

	return data->family == stage->core_ip.family &&
	       memcmp(data->source_ip, stage->rpd_ip.bytes, size) == 0 &&
	       memcmp(data->destination_ip, stage->core_ip.bytes, size) == 0;
}

/* Trims the packet to its payload. Returns the reason to drop it, or DROP_NONE. */
static enum drop_reason outer_check(const struct us_validate *stage, struct rte_mbuf *m,
				    uint32_t *session) {
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct l2tp_data data;
	enum l2tp_verdict verdict;
	uint32_t head;

	if (m->nb_segs > 1)
		return DROP_OUTER_CHAINED;
	verdict = l2tp_parse(frame, m->data_len, &data);
	if (verdict != L2TP_OK)
		return reasons[verdict];
	if (!is_for_core(stage, &data))
		return DROP_OUTER_ADDRESS;
	*session = data.session;
	head = (uint32_t)(data.payload - frame);
	m->data_off = (uint16_t)(m->data_off + head);
	m->data_len = (uint16_t)data.payload_size;
	m->pkt_len = m->data_len;
	return DROP_NONE;
}

uint16_t us_validate(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_validate *stage = ctx;
	uint32_t sessions[PIPELINE_BURST];
	const void *keys[PIPELINE_BURST];
	void *found[PIPELINE_BURST];
	uint64_t hits = 0;
	uint16_t kept = 0, good = 0;

	for (uint16_t i = 0; i < n; i++) {
		enum drop_reason reason = outer_check(stage, pkts[i], &sessions[good]);

		if (reason != DROP_NONE) {
			drop(stage->counters, pkts[i], reason);
			continue;
		}
		keys[good] = &sessions[good];
		pkts[good++] = pkts[i];
	}
	if (good > 0)
		rte_hash_lookup_bulk_data(stage->tables->by_session, keys, good, &hits, found);
	for (uint16_t i = 0; i < good; i++) {
		if ((hits >> i & 1) == 0) {
			drop(stage->counters, pkts[i], DROP_UNKNOWN_SESSION);
			continue;
		}
		us_meta(pkts[i])->packet.session = (uint16_t)(uintptr_t)found[i];
		pkts[kept++] = pkts[i];
	}
	return kept;
}
