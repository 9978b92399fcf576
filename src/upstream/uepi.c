/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UEPI: PSP packets into the order of their sequence numbers, their segments into bursts. Segments of
 * request sessions are bandwidth requests.
 */
#include "upstream/uepi.h"

#include "upstream/bursts.h"
#include "upstream/give_up.h"
#include "upstream/lane.h"
#include "upstream/reassemble.h"
#include "upstream/stages.h"
#include "upstream/upstream.h"
#include "wire/psp.h"

static const enum drop_reason reasons[] = {
	[PSP_TRUNCATED] = DROP_PSP_TRUNCATED,	      [PSP_CONTROL] = DROP_PSP_CONTROL,
	[PSP_EXTENDED] = DROP_PSP_EXTENDED,	      [PSP_TABLE_TRUNCATED] = DROP_PSP_TRUNCATED,
	[PSP_SEGMENT_TRUNCATED] = DROP_PSP_TRUNCATED, [PSP_TRAILING] = DROP_PSP_TRAILING,
};

/* The number of the last segment with payload; 256 where there is none. */
static unsigned last_payload(const struct psp *psp) {
	for (unsigned i = psp->count; i > 0; i--) {
		uint16_t entry = load_be16(psp->table + (size_t)(i - 1) * PSP_ENTRY_SIZE);

		if ((entry & (PSP_BEGIN | PSP_END)) == 0 && (entry & PSP_LENGTH) != 0)
			return i - 1;
	}
	return PSP_COUNT_MAX + 1;
}

static void bursts(struct upstream *u, struct us_session *s, struct rte_mbuf *m,
		   const struct psp *psp) {
	struct us_burst *b = &s->flows[psp->flow].burst;
	struct psp_cursor cursor = {0};
	struct psp_segment segment;
	unsigned last = last_payload(psp);

	while (psp_next(psp, &cursor, &segment)) {
		struct us_piece piece = {m, &segment, cursor.index == last + 1};

		us_burst_take(u, s, b, &piece);
	}
	us_burst_hold(u, b);
}

static void request_records(struct upstream *u, const struct us_session *s, const struct psp *psp) {
	struct psp_cursor cursor = {0};
	struct psp_segment segment;

	while (psp_next(psp, &cursor, &segment)) {
		struct uepi_request r;

		if (!segment.begin || !segment.end ||
		    uepi_request_parse(s->format, segment.data, segment.length, &r) != UEPI_OK)
			count(&u->counters, COUNTER_BAD_REQUESTS, 1);
		else
			us_request_record(u, s->channel, &r);
	}
}

/* A packet in its order. */
static void deliver(struct upstream *u, struct us_session *s, struct rte_mbuf *m) {
	struct psp psp;

	psp_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, 0, &psp);
	count(&u->counters, COUNTER_PSP_PACKETS, 1);
	count(&u->counters, COUNTER_PSP_SEGMENTS, psp.count);
	if (s->kind == US_REQUESTS)
		request_records(u, s, &psp);
	else
		bursts(u, s, m, &psp);
	rte_pktmbuf_free_seg(m); /* bursts have references of their own */
}

static struct us_session *session_of(struct upstream *u, struct rte_mbuf *m) {
	return &u->tables.sessions[us_meta(m)->packet.session];
}

static void deliver_ordered(struct upstream *u, void *owner, struct rte_mbuf *m) {
	(void)owner;
	deliver(u, session_of(u, m), m);
}

/* `owner` is the PSP flow whose numbers these are; numbers of the session are kept in the first. */
static void gap(struct upstream *u, void *owner, unsigned missing) {
	struct us_psp_flow *f = owner;
	bool by_session = u->sg->upstream.psp_numbering == PSP_NUMBERING_SESSION;

	count(&u->counters, COUNTER_PSP_GAPS, missing > 0);
	count(&u->counters, COUNTER_PSP_MISSING, missing);
	for (unsigned i = 0; i < (by_session ? US_PSP_FLOWS : 1); i++)
		us_burst_drop(u, &f[i].burst, DROP_BURST_GAP);
}

static const struct us_lane_kind packets = {
	.deliver = deliver_ordered,
	.gap = gap,
	.reordered = COUNTER_PSP_REORDERED,
	.resyncs = COUNTER_PSP_RESYNCS,
	.duplicate = DROP_PSP_DUPLICATE,
	.late = DROP_PSP_LATE,
};

static struct us_lane lane_of(struct upstream *u, struct us_psp_flow *f) {
	return (struct us_lane){&packets, &f->order, &f->hold, f, &u->waiting_packets};
}

void us_packets_skip(struct upstream *u, struct us_psp_flow *f) {
	struct us_lane lane = lane_of(u, f);

	us_lane_skip(u, &lane);
}

void us_packets_stop(struct upstream *u) {
	for (uint32_t s = 0; s < u->tables.session_count; s++) {
		for (unsigned f = 0; f < US_PSP_FLOWS; f++) {
			struct us_lane lane = lane_of(u, &u->tables.sessions[s].flows[f]);

			us_lane_stop(u, &lane, DROP_PACKET_STOPPED);
			us_burst_drop(u, &u->tables.sessions[s].flows[f].burst, DROP_BURST_STOPPED);
		}
	}
}

static void take(struct upstream *u, struct rte_mbuf *m) {
	struct us_session *s = session_of(u, m);
	enum psp_verdict verdict;
	struct us_lane lane;
	struct psp psp;

	verdict = psp_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, 0, &psp);
	if (verdict != PSP_OK) {
		drop(&u->counters, m, reasons[verdict]);
		return;
	}
	if (!psp.sequence_valid) {
		deliver(u, s, m);
		return;
	}
	lane = lane_of(
		u, &s->flows[u->sg->upstream.psp_numbering == PSP_NUMBERING_FLOW ? psp.flow : 0]);
	us_lane_put(u, &lane, psp.sequence, m);
}

uint16_t us_uepi(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	uint16_t out = 0;

	for (uint16_t i = 0; i < n; i++)
		take(u, pkts[i]);
	us_relieve(u);
	while (out < PIPELINE_BURST && u->bursts.count > 0)
		pkts[out++] = us_queue_take(&u->bursts);
	return out;
}
