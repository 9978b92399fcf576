/* SPDX-License-Identifier: BSD-3-Clause */
/* Reassemble: the SID of a burst selects its service flow. With segment headers, it puts the bursts
 * of a SID cluster into the order of their sequence numbers (MULPI, segment header format). */
#include "upstream/reassemble.h"

#include <rte_hash.h>

#include "wire/segment.h"

static void segment_request(struct us_reassemble *stage, const struct us_stream *s,
			    const struct segment_header *h, uint16_t channel) {
	if (h->request == 0 || us_request_is_repeated(stage->requests, channel))
		return;
	us_request_put(stage->requests, s,
		       &(struct us_request){
			       .channel = channel,
			       .size = h->request,
			       .kind = REQUEST_SEGMENT,
			       .cluster = s->cluster,
			       .n_bytes = true,
		       });
}

static uint32_t stream_index(const struct us_reassemble *stage, const struct us_stream *s) {
	return (uint32_t)(s - stage->tables->streams);
}

static void segment_deliver(void *context, void *owner, struct rte_mbuf *m) {
	struct us_reassemble *stage = context;
	struct us_stream *s = owner;

	us_meta(m)->segment.gap = s->gap;
	s->gap = false;
	pipeline_enqueue(stage->list, US_SEGMENTS, m);
}

static void segment_gap(void *context, void *owner, unsigned missing) {
	struct us_reassemble *stage = context;
	struct us_stream *s = owner;

	count(stage->counters, COUNTER_SEGMENT_GAPS, missing > 0);
	count(stage->counters, COUNTER_SEGMENTS_MISSING, missing);
	s->gap = true;
}

static const struct us_reorder_kind segments = {
	.deliver = segment_deliver,
	.gap = segment_gap,
	.reordered = COUNTER_SEGMENTS_REORDERED,
	.resyncs = COUNTER_SEGMENT_RESYNCS,
	.duplicate = DROP_SEGMENT_DUPLICATE,
	.late = DROP_SEGMENT_LATE,
};

static struct us_reorder segment_reorder(struct us_reassemble *stage, struct us_stream *s) {
	return (struct us_reorder){
		&segments, stage, &s->order, &s->segments_pending, s, &stage->pending_segments};
}

void us_segments_expire(struct us_reassemble *stage, struct pending *h) {
	struct us_reorder reorder =
		segment_reorder(stage, PENDING_OF(struct us_stream, segments_pending, h));

	us_reorder_skip(stage->reorder_set, &reorder);
}

bool us_segments_remove(struct us_reassemble *stage, struct us_stream *s, int *budget) {
	struct us_reorder reorder = segment_reorder(stage, s);

	return us_reorder_drop(stage->reorder_set, &reorder, DROP_SEGMENT_FLOW_REMOVED, budget);
}

uint64_t us_reassemble_pending(const void *ctx, enum unit unit) {
	const struct us_reassemble *stage = ctx;

	switch (unit) {
	case UNIT_BURST: return stage->list->queues[US_BURSTS].count;
	case UNIT_SEGMENT: return stage->pending_segments;
	default: return 0;
	}
}

void us_reassemble_stop(void *ctx) {
	struct us_reassemble *stage = ctx;
	struct rte_mbuf *m;

	for (uint32_t s = 0; s < stage->tables->stream_count; s++) {
		struct us_reorder reorder = segment_reorder(stage, &stage->tables->streams[s]);

		us_reorder_stop(stage->reorder_set, &reorder, DROP_SEGMENT_STOPPED);
	}
	while ((m = queue_remove(&stage->list->queues[US_SEGMENTS])) != NULL)
		drop(stage->counters, m, DROP_SEGMENT_STOPPED);
}

/* Removes the first `size` bytes of a chain, which must have them. Returns the new first mbuf. */
static struct rte_mbuf *segment_trim_front(struct rte_mbuf *m, uint32_t size) {
	while (size > m->data_len || (size == m->data_len && m->next != NULL)) {
		struct rte_mbuf *next = m->next;

		size -= m->data_len;
		next->pkt_len = m->pkt_len - m->data_len;
		next->nb_segs = (uint16_t)(m->nb_segs - 1);
		rte_pktmbuf_free_seg(m);
		m = next;
	}
	rte_pktmbuf_adj(m, (uint16_t)size);
	return m;
}

/* Reads the segment header. Returns the reason to drop the segment, or DROP_NONE. */
static enum drop_reason segment_header_read(struct us_reassemble *stage, struct us_stream **s,
					    struct rte_mbuf *m, struct segment_header *h) {
	uint8_t buffer[SEGMENT_HEADER_SIZE];
	const uint8_t *bytes = rte_pktmbuf_read(m, 0, SEGMENT_HEADER_SIZE, buffer);

	if (bytes == NULL)
		return DROP_SEGMENT_TRUNCATED;
	if (segment_header_parse(bytes, SEGMENT_HEADER_SIZE, h) != SEGMENT_OK)
		return DROP_SEGMENT_HCS;
	if (h->sid_cluster != (*s)->cluster)
		*s = us_cluster_stream(stage->tables, &stage->tables->flows[(*s)->flow],
				       h->sid_cluster);
	if (*s == NULL)
		return DROP_SEGMENT_CLUSTER;
	if (h->pointer_valid && h->pointer > m->pkt_len - SEGMENT_HEADER_SIZE)
		return DROP_SEGMENT_POINTER;
	return DROP_NONE;
}

static void segment_numbered(struct us_reassemble *stage, struct us_stream *s, struct rte_mbuf *m,
			     uint16_t channel) {
	struct segment_header h;
	enum drop_reason reason = segment_header_read(stage, &s, m, &h);
	struct us_reorder reorder;

	if (reason != DROP_NONE) {
		drop(stage->counters, m, reason);
		return;
	}
	segment_request(stage, s, &h, channel);
	m = segment_trim_front(m, SEGMENT_HEADER_SIZE);
	us_meta(m)->segment.stream = stream_index(stage, s);
	us_meta(m)->segment.channel = (uint8_t)channel;
	us_meta(m)->segment.request = false;
	us_meta(m)->segment.has_pointer = h.pointer_valid;
	us_meta(m)->segment.pointer = h.pointer & SEGMENT_POINTER_MAX;
	reorder = segment_reorder(stage, s);
	us_reorder_put(stage->reorder_set, &reorder, h.sequence, m);
}

static void burst_dispatch(struct us_reassemble *stage, struct us_stream *s, struct rte_mbuf *m) {
	uint16_t channel = us_meta(m)->burst.channel;
	bool request = us_meta(m)->burst.request;

	count(stage->counters, COUNTER_SEGMENTS, 1);
	count(stage->counters, COUNTER_SEGMENT_BYTES, m->pkt_len);
	if (stage->tables->flows[s->flow].segment_header) {
		segment_numbered(stage, s, m, channel);
		return;
	}
	us_meta(m)->segment.stream = stream_index(stage, s);
	us_meta(m)->segment.channel = (uint8_t)channel;
	us_meta(m)->segment.request = request;
	us_meta(m)->segment.has_pointer = false;
	us_meta(m)->segment.gap = false;
	pipeline_enqueue(stage->list, US_SEGMENTS, m);
}

static inline void data_dispatch(struct us_reassemble *stage, struct us_stream *s,
				 struct rte_mbuf *m) {
	if (unlikely(stage->grant->watched != NULL && stage->grant->watched[s->flow]))
		us_grant_data(stage->grant, s->flow);
	burst_dispatch(stage, s, m);
}

uint16_t us_reassemble(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_reassemble *stage = ctx;
	uint32_t sids[PIPELINE_BURST];
	const void *keys[PIPELINE_BURST];
	void *found[PIPELINE_BURST];
	uint64_t hits = 0;

	for (uint16_t i = 0; i < n; i++) {
		const struct us_meta *meta = us_meta(pkts[i]);

		sids[i] = us_sid_key(meta->burst.channel, meta->burst.sid);
		keys[i] = &sids[i];
	}
	rte_hash_lookup_bulk_data(stage->tables->by_sid, keys, n, &hits, found);
	poll_stats_count_lookup(stage->effort, n);
	for (uint16_t i = 0; i < n; i++) {
		/* In a request opportunity, requests have no segment header even if their flow
		 * uses segment headers (MULPI 3.1, 7.2.1.5). */
		if (us_meta(pkts[i])->burst.ranging || us_meta(pkts[i])->burst.request)
			burst_dispatch(stage,
				       &stage->tables->streams[us_ranging_stream(stage->tables)],
				       pkts[i]);
		else if ((hits >> i & 1) == 0)
			drop(stage->counters, pkts[i], DROP_UNKNOWN_SID);
		else
			data_dispatch(stage, &stage->tables->streams[(uintptr_t)found[i]], pkts[i]);
	}
	return 0;
}
