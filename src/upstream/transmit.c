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

static void line_add(struct us_transmit *stage, struct rte_mbuf **pkts, uint16_t n) {
	for (uint16_t i = 0; i < n; i++) {
		uint32_t at = (stage->first + stage->count) % US_TRANSMIT_CAPACITY;

		/* earlier stages limit the number of frames */
		assert(stage->count < US_TRANSMIT_CAPACITY);
		stage->line[at] = pkts[i];
		stage->count++;
	}
}

/* Transmits a burst. Returns how many frames the port accepted. */
static uint16_t frames_send(struct us_transmit *stage, struct rte_mbuf **burst, uint16_t n) {
	uint64_t sizes[PIPELINE_CAPACITY], arrived[PIPELINE_CAPACITY], bytes = 0;
	bool latency = latency_on(stage->latency);
	uint16_t sent;

	for (uint16_t i = 0; i < n; i++) /* read before the port owns the frames */
		sizes[i] = rte_pktmbuf_pkt_len(burst[i]);
	for (uint16_t i = 0; latency && i < n; i++)
		arrived[i] = us_meta(burst[i])->arrived;
	sent = packet_sink_burst(&stage->r->network, burst, n);
	for (uint16_t i = 0; i < sent; i++)
		bytes += sizes[i];
	if (latency && sent > 0)
		latency_record(stage->latency, arrived, sent);
	count(stage->counters, COUNTER_TRANSMITTED, sent);
	count(stage->counters, COUNTER_TRANSMITTED_BYTES, bytes);
	count(stage->counters, COUNTER_TRANSMIT_RETRIES, sent < n);
	return sent;
}

/* Transmits the oldest queued frames, up to the end of the ring. */
static uint16_t send_queued(struct us_transmit *stage) {
	uint32_t n = RTE_MIN(stage->count, US_TRANSMIT_CAPACITY - stage->first);
	uint16_t sent = frames_send(stage, &stage->line[stage->first],
				    (uint16_t)RTE_MIN(n, (uint32_t)PIPELINE_BURST));

	stage->first = (stage->first + sent) % US_TRANSMIT_CAPACITY;
	stage->count -= sent;
	return sent;
}

static void drop_queued(struct us_transmit *stage, enum drop_reason reason) {
	for (; stage->count > 0; stage->count--) {
		drop(stage->counters, stage->line[stage->first], reason);
		stage->first = (stage->first + 1) % US_TRANSMIT_CAPACITY;
	}
}

uint64_t us_transmit_pending(const void *ctx, enum unit unit) {
	const struct us_transmit *stage = ctx;

	return unit == UNIT_FRAME ? stage->count : 0;
}

void us_transmit_stop(void *ctx) {
	drop_queued(ctx, DROP_STOPPED);
}

static uint16_t drop_all(struct us_transmit *stage, struct rte_mbuf **pkts, uint16_t n) {
	enum drop_reason reason = (enum drop_reason)stage->r->network.reason;
	uint16_t ended = (uint16_t)(n + stage->count);

	drop_queued(stage, reason);
	for (uint16_t i = 0; i < n; i++)
		drop(stage->counters, pkts[i], reason);
	return ended;
}

/* Copies the frame, as the next frame may follow in its buffer. Returns NULL after a counted
 * drop. */
static struct rte_mbuf *frame_copy_padded(struct us_transmit *stage, struct rte_mbuf *m) {
	struct rte_mbuf *copy = us_frame_buffer(stage->buffers);

	if (copy == NULL) {
		drop(stage->counters, m, DROP_FRAME_NO_BUFFER);
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
static uint16_t frames_finish(struct us_transmit *stage, struct rte_mbuf **pkts, uint16_t n) {
	uint16_t vlan = stage->vlan, kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];

		if (vlan == 0 && vlan_is_priority(rte_pktmbuf_mtod(m, uint8_t *), m->data_len))
			packet_untag(m);
		if (unlikely(!packet_pad(m)))
			m = frame_copy_padded(stage, m);
		if (m == NULL)
			continue;
		if (vlan != 0)
			packet_tag_or_retag(m, vlan);
		pkts[kept++] = m;
	}
	return kept;
}

uint16_t us_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_transmit *stage = ctx;
	uint16_t sent = 0;

	if (unlikely(stage->r->network.shut))
		return drop_all(stage, pkts, n);
	n = frames_finish(stage, pkts, n);
	if (stage->count > 0) {
		sent = send_queued(stage);
		line_add(stage, pkts, n);
		return sent;
	}
	if (n > 0)
		sent = frames_send(stage, pkts, n);
	line_add(stage, pkts + sent, n - sent);
	return sent;
}
