/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit: sends bursts of DEPI frames to the R-PHY port. Frames that the port does not take wait
 * here, and the stage take_over stops, so that no packet is lost after the scheduler. Frames for a
 * port that is down or gone are dropped here.
 */
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

/* For ports that support one buffer per frame only (net_af_xdp): returns a copy, or NULL after a
 * counted drop. */
static struct rte_mbuf *frame_copy_linear(struct ds_lower *l, struct rte_mbuf *m) {
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, l->linear, 0, UINT32_MAX);

	if (copy == NULL) {
		l->counters.drops[DROP_NO_BUFFER] += packet_meta(m)->ends;
		tap_drop(&l->counters.tap, m, DROP_NO_BUFFER);
	}
	return copy; /* with the frame's packet_meta */
}

static void frames_wait(struct ds_lower *l, struct rte_mbuf **pkts, uint16_t n) {
	for (uint16_t i = 0; i < n; i++) {
		uint32_t at = (l->waiting_first + l->waiting_count) % DS_TRANSMIT_CAPACITY;

		struct rte_mbuf *m = l->linear == NULL ? pkts[i] : frame_copy_linear(l, pkts[i]);

		if (m != NULL) {
			l->waiting_arrivals[at] =
				latency_on(l->latency)
					? latency_line_add(&l->arrivals, l->latency, pkts[i])
					: 0;
			l->waiting[at] = m;
			l->waiting_count++;
			l->waiting_packets += packet_meta(m)->ends;
		}
		if (m != pkts[i])
			rte_pktmbuf_free(pkts[i]);
	}
}

/* Sends one burst of the ring, up to its end. Returns how many frames the port took. */
static uint16_t transmit_burst(struct ds_lower *l) {
	uint32_t n = RTE_MIN(l->waiting_count, DS_TRANSMIT_CAPACITY - l->waiting_first);
	struct rte_mbuf **burst = &l->waiting[l->waiting_first];
	const uint16_t *arrivals = &l->waiting_arrivals[l->waiting_first];
	uint64_t bytes = 0, packets = 0, arrived = 0;
	uint64_t sizes[PIPELINE_BURST], ends[PIPELINE_BURST];
	uint16_t sent;

	n = RTE_MIN(n, (uint32_t)PIPELINE_BURST);
	for (uint32_t i = 0; i < n; i++) { /* read before the port owns the frames */
		sizes[i] = rte_pktmbuf_pkt_len(burst[i]);
		ends[i] = packet_meta(burst[i])->ends;
	}
	sent = packet_sink_burst(&l->rphy, burst, (uint16_t)n);
	for (uint16_t i = 0; i < sent; i++) {
		bytes += sizes[i];
		packets += ends[i];
		arrived += arrivals[i];
	}
	if (arrived > 0)
		latency_line_record(&l->arrivals, l->latency, (uint32_t)arrived);
	l->waiting_first = (l->waiting_first + sent) % DS_TRANSMIT_CAPACITY;
	l->waiting_count -= sent;
	l->waiting_packets -= (uint32_t)packets;
	count(&l->counters, COUNTER_TRANSMITTED, packets);
	count(&l->counters, COUNTER_TRANSMITTED_BYTES, bytes);
	count(&l->counters, COUNTER_TRANSMIT_RETRIES, sent < n);
	return sent;
}

void ds_frame_end(struct ds_lower *l, struct rte_mbuf *m, enum drop_reason reason) {
	l->counters.drops[reason] += packet_meta(m)->ends;
	tap_drop(&l->counters.tap, m, reason);
	rte_pktmbuf_free(m);
}

static void frames_end(struct ds_lower *l, enum drop_reason reason) {
	for (; l->waiting_count > 0; l->waiting_count--) {
		ds_frame_end(l, l->waiting[l->waiting_first], reason);
		l->waiting_first = (l->waiting_first + 1) % DS_TRANSMIT_CAPACITY;
	}
	l->waiting_packets = 0;
	l->arrivals.count = 0;
}

uint16_t ds_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;
	uint16_t sent = 0, now;

	frames_wait(l, pkts, n);
	if (unlikely(l->rphy.shut)) {
		sent = (uint16_t)(sent + l->waiting_count);
		frames_end(l, (enum drop_reason)l->rphy.reason);
		return sent;
	}
	while (l->waiting_count > 0 && (now = transmit_burst(l)) > 0)
		sent += now;
	return sent;
}

uint64_t ds_transmit_pending(const void *downstream, enum unit unit) {
	const struct downstream *d = downstream;

	(void)unit;
	return d->lower.waiting_packets;
}

void ds_transmit_stop(void *downstream) {
	struct downstream *d = downstream;

	frames_end(&d->lower, DROP_STOPPED);
}
