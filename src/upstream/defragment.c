/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defragment: joins the fragments of pre-3.0 modems (MULPI, fragmentation header). What was joined is
 * one or more whole frames, in the clear, which take the place of the last fragment.
 */
#include "upstream/defragment.h"

#include "upstream/extract.h"
#include "upstream/give_up.h"
#include "upstream/stages.h"
#include "upstream/upstream.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define SEQUENCE_MASK 0xf
#define STEPS (4 * PIPELINE_BURST) /* in what was joined, in one call */

/* Takes all fragments out. */
static struct rte_mbuf *release(struct upstream *u, struct us_fragments *f) {
	hold_end(&u->holds, &f->hold);
	u->waiting_fragments -= f->count;
	f->bytes = 0;
	f->count = 0;
	return us_chain_take(&f->chain);
}

void us_fragments_drop(struct upstream *u, struct us_fragments *f, enum drop_reason reason) {
	u->counters.drops[reason] += f->count;
	rte_pktmbuf_free(release(u, f));
}

void us_fragments_stop(struct upstream *u) {
	struct rte_mbuf *m;

	for (uint32_t f = 0; f < u->tables.flow_count; f++)
		us_fragments_drop(u, &u->tables.flows[f].fragments, DROP_STOPPED);
	while ((m = us_queue_take(&u->behind)) != NULL)
		drop(&u->counters, m, DROP_STOPPED);
}

/* All fragments of a frame are there. */
static void join(struct upstream *u, const struct us_flow *flow, struct us_fragments *f) {
	uint16_t channel = us_meta(f->chain.last)->frame.channel;

	count(&u->counters, COUNTER_FRAGMENTS, f->count);
	us_joined_begin(u, &u->tables.streams[flow->first_stream], release(u, f), channel);
}

static void append(struct upstream *u, struct us_fragments *f, struct rte_mbuf *m) {
	us_chain_append(&f->chain, m);
	f->bytes += m->data_len;
	f->count++;
	u->waiting_fragments++;
	hold_add(&u->holds, &f->hold, hold_size(m), u->r.clock->now);
}

static void take(struct upstream *u, struct rte_mbuf *m) {
	struct us_meta meta = *us_meta(m);
	struct us_flow *flow = &u->tables.flows[meta.frame.flow];
	struct us_fragments *f = &flow->fragments;

	if (!ethernet_crc_good(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len)) {
		drop(&u->counters, m, DROP_FRAGMENT_CRC);
		return;
	}
	rte_pktmbuf_trim(m, ETHERNET_CRC_SIZE);
	if (meta.frame.fragment_first ? f->count > 0 : meta.frame.fragment_sequence != f->sequence)
		us_fragments_drop(u, f, DROP_FRAGMENT_ORDER);
	if (!meta.frame.fragment_first && f->count == 0) {
		drop(&u->counters, m, DROP_FRAGMENT_ORDER);
		return;
	}
	if (f->bytes + m->data_len > DOCSIS_FRAME_MAX) {
		us_fragments_drop(u, f, DROP_FRAGMENT_TOO_LONG);
		drop(&u->counters, m, DROP_FRAGMENT_TOO_LONG);
		return;
	}
	f->sequence = (meta.frame.fragment_sequence + 1) & SEQUENCE_MASK;
	append(u, f, m);
	if (meta.frame.fragment_last)
		join(u, flow, f);
	else
		us_relieve_modem(u, flow->modem);
}

/* Whether one more frame may go on: those out of fragments are more than went in, and must find room
 * in the line to the network port beside those that are in the crypto device. */
static bool has_room(const struct upstream *u, uint16_t kept) {
	return kept < 2 * PIPELINE_BURST &&
	       u->waiting_count + u->in_crypto + kept < US_TRANSMIT_CAPACITY / 2;
}

/* One unit is joined at a time: what follows waits until all of its frames have gone on. */
uint16_t us_defragment(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (u->joined_cut.segment != NULL || u->behind.count > 0)
			us_queue_add(&u->behind, pkts[i]);
		else if (us_meta(pkts[i])->frame.fragment)
			take(u, pkts[i]);
		else
			pkts[kept++] = pkts[i];
	}
	for (unsigned steps = STEPS; steps > 0 && has_room(u, kept); steps--) {
		bool joined = u->joined_cut.segment != NULL;
		struct rte_mbuf *m = joined ? us_joined_step(u) : us_queue_take(&u->behind);

		if (m == NULL && !joined)
			break;
		if (m != NULL && us_meta(m)->frame.fragment)
			take(u, m);
		else if (m != NULL)
			pkts[kept++] = m;
	}
	return kept;
}
