/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit: bursts of Ethernet frames to the network port.
 *
 * Frames that the port does not accept stay queued here, and `receive` stops. If the port has no
 * link or is gone, the frames are dropped.
 */
#include "upstream/transmit.h"

#include <assert.h>
#include <string.h>

#include "platform/pad.h"
#include "platform/vlan.h"

static void line_add(struct us_transmit *own, struct rte_mbuf **pkts, uint16_t n) {
	for (uint16_t i = 0; i < n; i++) {
		uint32_t at = (own->first + own->count) % US_TRANSMIT_CAPACITY;

		/* earlier stages limit the number of frames */
		assert(own->count < US_TRANSMIT_CAPACITY);
		own->line[at] = pkts[i];
		own->count++;
	}
}

/* Transmits a burst. Returns how many frames the port accepted. */
static uint16_t frames_send(struct us_transmit *own, struct rte_mbuf **burst, uint16_t n) {
	uint64_t sizes[PIPELINE_CAPACITY], arrived[PIPELINE_CAPACITY], bytes = 0;
	bool latency = latency_on(own->latency);
	uint16_t sent;

	for (uint16_t i = 0; i < n; i++) /* read before the port owns the frames */
		sizes[i] = rte_pktmbuf_pkt_len(burst[i]);
	for (uint16_t i = 0; latency && i < n; i++)
		arrived[i] = us_meta(burst[i])->arrived;
	sent = packet_sink_burst(&own->r->network, burst, n);
	for (uint16_t i = 0; i < sent; i++)
		bytes += sizes[i];
	if (latency && sent > 0)
		latency_record(own->latency, arrived, sent);
	count(own->counters, COUNTER_TRANSMITTED, sent);
	count(own->counters, COUNTER_TRANSMITTED_BYTES, bytes);
	count(own->counters, COUNTER_TRANSMIT_RETRIES, sent < n);
	return sent;
}

/* Transmits the oldest queued frames, up to the end of the ring. */
static uint16_t send_queued(struct us_transmit *own) {
	uint32_t n = RTE_MIN(own->count, US_TRANSMIT_CAPACITY - own->first);
	uint16_t sent = frames_send(own, &own->line[own->first],
				    (uint16_t)RTE_MIN(n, (uint32_t)PIPELINE_BURST));

	own->first = (own->first + sent) % US_TRANSMIT_CAPACITY;
	own->count -= sent;
	return sent;
}

static void drop_queued(struct us_transmit *own, enum drop_reason reason) {
	for (; own->count > 0; own->count--) {
		drop(own->counters, own->line[own->first], reason);
		own->first = (own->first + 1) % US_TRANSMIT_CAPACITY;
	}
}

uint64_t us_transmit_pending(const void *ctx, enum unit unit) {
	const struct us_transmit *own = ctx;

	return unit == UNIT_FRAME ? own->count : 0;
}

void us_transmit_stop(void *ctx) {
	drop_queued(ctx, DROP_STOPPED);
}

static uint16_t drop_all(struct us_transmit *own, struct rte_mbuf **pkts, uint16_t n) {
	enum drop_reason reason = (enum drop_reason)own->r->network.reason;
	uint16_t ended = (uint16_t)(n + own->count);

	drop_queued(own, reason);
	for (uint16_t i = 0; i < n; i++)
		drop(own->counters, pkts[i], reason);
	return ended;
}

/* Copies the frame, as the next frame may follow in its buffer. Returns NULL after a counted
 * drop. */
static struct rte_mbuf *frame_copy_padded(struct us_transmit *own, struct rte_mbuf *m) {
	struct rte_mbuf *copy = us_frame_buffer(own->buffers);

	if (copy == NULL) {
		drop(own->counters, m, DROP_FRAME_NO_BUFFER);
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
 * Turns frames of modems into frames of the network: padded to the Ethernet minimum, with the tag
 * of the group's VLAN or none.
 *
 * A priority tag keeps its priority if the frame gets a VLAN. Returns how many frames are left.
 */
static uint16_t frames_finish(struct us_transmit *own, struct rte_mbuf **pkts, uint16_t n) {
	uint16_t vlan = own->vlan, kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];

		if (vlan == 0 && vlan_is_priority(rte_pktmbuf_mtod(m, uint8_t *), m->data_len))
			packet_untag(m);
		if (unlikely(!packet_pad(m)))
			m = frame_copy_padded(own, m);
		if (m == NULL)
			continue;
		if (vlan != 0)
			packet_tag_or_retag(m, vlan);
		pkts[kept++] = m;
	}
	return kept;
}

uint16_t us_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_transmit *own = ctx;
	uint16_t sent = 0;

	if (unlikely(own->r->network.shut))
		return drop_all(own, pkts, n);
	n = frames_finish(own, pkts, n);
	if (own->count > 0) {
		sent = send_queued(own);
		line_add(own, pkts, n);
		return sent;
	}
	if (n > 0)
		sent = frames_send(own, pkts, n);
	line_add(own, pkts + sent, n - sent);
	return sent;
}
