/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit: bursts of Ethernet frames to the network port. What the port does not take waits here;
 * nothing more is received then. Of a port without a link, or that is gone, it ends here.
 */
#include "upstream/transmit.h"

#include <assert.h>
#include <string.h>

#include "platform/pad.h"
#include "platform/vlan.h"
#include "upstream/upstream.h"

static void line_wait(struct upstream *u, struct rte_mbuf **pkts, uint16_t n) {
	for (uint16_t i = 0; i < n; i++) {
		uint32_t at = (u->transmit.first + u->transmit.count) % US_TRANSMIT_CAPACITY;

		assert(u->transmit.count < US_TRANSMIT_CAPACITY); /* the stages before see to it */
		u->transmit.line[at] = pkts[i];
		u->transmit.count++;
	}
}

/* Hands over a burst. Returns how many frames the port took. */
static uint16_t frames_send(struct upstream *u, struct rte_mbuf **burst, uint16_t n) {
	uint64_t sizes[PIPELINE_CAPACITY], arrived[PIPELINE_CAPACITY], bytes = 0;
	bool latency = latency_on(&u->latency);
	uint16_t sent;

	for (uint16_t i = 0; i < n; i++) /* read before the port owns the frames */
		sizes[i] = rte_pktmbuf_pkt_len(burst[i]);
	for (uint16_t i = 0; latency && i < n; i++)
		arrived[i] = us_meta(burst[i])->arrived;
	sent = packet_sink_burst(&u->r.network, burst, n);
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
	uint32_t n = RTE_MIN(u->transmit.count, US_TRANSMIT_CAPACITY - u->transmit.first);
	uint16_t sent = frames_send(u, &u->transmit.line[u->transmit.first],
				    (uint16_t)RTE_MIN(n, (uint32_t)PIPELINE_BURST));

	u->transmit.first = (u->transmit.first + sent) % US_TRANSMIT_CAPACITY;
	u->transmit.count -= sent;
	return sent;
}

static void waiting_end(struct upstream *u, enum drop_reason reason) {
	for (; u->transmit.count > 0; u->transmit.count--) {
		drop(&u->counters, u->transmit.line[u->transmit.first], reason);
		u->transmit.first = (u->transmit.first + 1) % US_TRANSMIT_CAPACITY;
	}
}

uint64_t us_transmit_held(const void *upstream, enum unit unit) {
	const struct upstream *u = upstream;

	return unit == UNIT_FRAME ? u->transmit.count : 0;
}

void us_transmit_stop(void *upstream) {
	struct upstream *u = upstream;

	waiting_end(u, DROP_STOPPED);
}

static uint16_t end_all(struct upstream *u, struct rte_mbuf **pkts, uint16_t n) {
	enum drop_reason reason = (enum drop_reason)u->r.network.reason;
	uint16_t ended = (uint16_t)(n + u->transmit.count);

	waiting_end(u, reason);
	for (uint16_t i = 0; i < n; i++)
		drop(&u->counters, pkts[i], reason);
	return ended;
}

/* In a buffer of its own, as behind it there may be another frame. NULL after a counted drop. */
static struct rte_mbuf *frame_copy_padded(struct upstream *u, struct rte_mbuf *m) {
	struct rte_mbuf *copy = us_frame_buffer(u);

	if (copy == NULL) {
		drop(&u->counters, m, DROP_FRAME_NO_BUFFER);
		return NULL;
	}
	*us_meta(copy) = *us_meta(m);
	memcpy(rte_pktmbuf_append(copy, m->data_len), rte_pktmbuf_mtod(m, const void *),
	       m->data_len);
	rte_pktmbuf_free(m);
	packet_pad(copy);
	return copy;
}

/*
 * Makes frames of modems those of the network: as long as Ethernet asks, and with the tag of the group's VLAN or
 * none. A frame with a priority and no VLAN keeps its priority where it gets a VLAN. Returns how many are left.
 */
static uint16_t frames_finish(struct upstream *u, struct rte_mbuf **pkts, uint16_t n) {
	uint16_t vlan = u->transmit.vlan, kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];

		if (vlan == 0 && vlan_is_priority(rte_pktmbuf_mtod(m, uint8_t *), m->data_len))
			packet_untag(m);
		if (unlikely(!packet_pad(m)))
			m = frame_copy_padded(u, m);
		if (m == NULL)
			continue;
		if (vlan != 0)
			packet_tag_or_retag(m, vlan);
		pkts[kept++] = m;
	}
	return kept;
}

uint16_t us_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	uint16_t sent = 0;

	if (unlikely(u->r.network.shut))
		return end_all(u, pkts, n);
	n = frames_finish(u, pkts, n);
	if (u->transmit.count > 0) {
		sent = send_waiting(u);
		line_wait(u, pkts, n);
		return sent;
	}
	if (n > 0)
		sent = frames_send(u, pkts, n);
	line_wait(u, pkts + sent, n - sent);
	return sent;
}
