/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defragment: joins the fragments of pre-3.0 modems (MULPI, fragmentation header).
 *
 * The result is one or more whole frames in the clear, in place of the last fragment. It goes into
 * the queue to extract_joined with all frames behind it, to keep the order.
 */
#include "upstream/defragment.h"

#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define SEQUENCE_MASK 0xf

/* Returns the chain of all fragments, and empties `f`. */
static struct rte_mbuf *fragments_release(struct us_defragment *stage, struct us_fragments *f) {
	pending_clear(stage->pending_set, &f->pending);
	stage->pending_fragments -= f->count;
	f->bytes = 0;
	f->count = 0;
	return us_chain_detach(&f->chain);
}

/* Counts the fragments as dropped. The caller frees the returned chain. */
static struct rte_mbuf *fragments_end(struct us_defragment *stage, struct us_fragments *f,
				      enum drop_reason reason) {
	struct rte_mbuf *m;

	stage->counters->drops[reason] += f->count;
	m = fragments_release(stage, f);
	tap_drop(&stage->counters->tap, m, reason);
	return m;
}

static void fragments_drop(struct us_defragment *stage, struct us_fragments *f,
			   enum drop_reason reason) {
	rte_pktmbuf_free(fragments_end(stage, f, reason));
}

void us_fragments_expire(struct us_defragment *stage, struct pending *h, bool timeout) {
	fragments_drop(stage, PENDING_OF(struct us_fragments, pending, h),
		       timeout ? DROP_FRAME_TIMEOUT : DROP_FRAME_LIMIT);
}

struct rte_mbuf *us_fragments_remove(struct us_defragment *stage, struct us_fragments *f) {
	return fragments_end(stage, f, DROP_FRAME_FLOW_REMOVED);
}

uint64_t us_defragment_pending(const void *ctx, enum unit unit) {
	const struct us_defragment *stage = ctx;

	return unit == UNIT_FRAME ? stage->pending_fragments : 0;
}

void us_defragment_stop(void *ctx) {
	struct us_defragment *stage = ctx;

	for (uint32_t f = 0; f < stage->tables->flow_count; f++)
		fragments_drop(stage, &stage->tables->flows[f].fragments, DROP_STOPPED);
}

/* The frame has all of its fragments. */
static void fragments_join(struct us_defragment *stage, struct us_fragments *f) {
	uint16_t channel = us_meta(f->chain.last)->frame.channel;
	struct rte_mbuf *unit;

	count(stage->counters, COUNTER_FRAGMENTS, f->count);
	unit = fragments_release(stage, f);
	us_meta(unit)->frame.channel = channel & 0xff; /* that of the last fragment */
	us_joined_add(stage->joined, unit);
}

static void fragments_append(struct us_defragment *stage, struct us_fragments *f,
			     struct rte_mbuf *m) {
	us_chain_append(&f->chain, m);
	f->bytes += m->data_len;
	f->count++;
	stage->pending_fragments++;
	pending_add(stage->pending_set, &f->pending, pending_size(m), stage->r->clock->now);
}

static void fragment_add(struct us_defragment *stage, struct rte_mbuf *m) {
	struct us_meta meta = *us_meta(m);
	struct us_flow *flow = &stage->tables->flows[meta.frame.flow];
	struct us_fragments *f = &flow->fragments;

	if (!ethernet_crc_good(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len)) {
		drop(stage->counters, m, DROP_FRAGMENT_CRC);
		return;
	}
	rte_pktmbuf_trim(m, ETHERNET_CRC_SIZE);
	if (meta.frame.fragment_first ? f->count > 0 : meta.frame.fragment_sequence != f->sequence)
		fragments_drop(stage, f, DROP_FRAGMENT_ORDER);
	if (!meta.frame.fragment_first && f->count == 0) {
		drop(stage->counters, m, DROP_FRAGMENT_ORDER);
		return;
	}
	if (f->bytes + m->data_len > DOCSIS_FRAME_MAX) {
		fragments_drop(stage, f, DROP_FRAGMENT_TOO_LONG);
		drop(stage->counters, m, DROP_FRAGMENT_TOO_LONG);
		return;
	}
	f->sequence = (meta.frame.fragment_sequence + 1) & SEQUENCE_MASK;
	fragments_append(stage, f, m);
	if (meta.frame.fragment_last)
		fragments_join(stage, f);
}

uint16_t us_defragment(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_defragment *stage = ctx;
	bool behind = us_joined_queued(stage->joined);
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (us_meta(pkts[i])->frame.fragment) {
			fragment_add(stage, pkts[i]);
			behind = us_joined_queued(stage->joined);
		} else if (behind) {
			queue_add(stage->joined->joined, pkts[i]);
		} else {
			pkts[kept++] = pkts[i];
		}
	}
	return kept;
}
