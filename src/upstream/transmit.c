/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit: bursts of Ethernet frames to the network port. What the port does not take waits here;
 * nothing more is received then.
 */
#include <assert.h>

#include <rte_ethdev.h>

#include "upstream/stages.h"
#include "upstream/upstream.h"

static void wait_in_line(struct upstream *u, struct rte_mbuf **pkts, uint16_t n) {
	for (uint16_t i = 0; i < n; i++) {
		uint32_t at = (u->waiting_first + u->waiting_count) % US_TRANSMIT_CAPACITY;

		assert(u->waiting_count < US_TRANSMIT_CAPACITY); /* the stages before see to it */
		u->waiting[at] = pkts[i];
		u->waiting_count++;
	}
}

/* Hands over a burst. Returns how many frames the port took. */
static uint16_t send_burst(struct upstream *u, struct rte_mbuf **burst, uint16_t n) {
	uint64_t sizes[PIPELINE_CAPACITY], arrived[PIPELINE_CAPACITY], bytes = 0;
	bool latency = latency_on(&u->latency);
	uint16_t sent;

	for (uint16_t i = 0; i < n; i++) /* read before the port owns the frames */
		sizes[i] = rte_pktmbuf_pkt_len(burst[i]);
	for (uint16_t i = 0; latency && i < n; i++)
		arrived[i] = us_meta(burst[i])->arrived;
	sent = rte_eth_tx_burst(u->r.network_port, 0, burst, n);
	for (uint16_t i = 0; i < sent; i++)
		bytes += sizes[i];
	if (latency && sent > 0)
		latency_record(&u->latency, arrived, sent);
	count(&u->counters, COUNTER_TRANSMITTED, sent);
	count(&u->counters, COUNTER_TRANSMITTED_BYTES, bytes);
	count(&u->counters, COUNTER_TRANSMIT_RETRIES, sent < n);
	return sent;
}

/* The older ones, up to the end of the circle. */
static uint16_t send_waiting(struct upstream *u) {
	uint32_t n = RTE_MIN(u->waiting_count, US_TRANSMIT_CAPACITY - u->waiting_first);
	uint16_t sent = send_burst(u, &u->waiting[u->waiting_first],
				   (uint16_t)RTE_MIN(n, (uint32_t)PIPELINE_BURST));

	u->waiting_first = (u->waiting_first + sent) % US_TRANSMIT_CAPACITY;
	u->waiting_count -= sent;
	return sent;
}

uint16_t us_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	uint16_t sent = 0;

	if (u->waiting_count > 0) {
		sent = send_waiting(u);
		wait_in_line(u, pkts, n);
		return sent;
	}
	if (n > 0)
		sent = send_burst(u, pkts, n);
	wait_in_line(u, pkts + sent, n - sent);
	return sent;
}
