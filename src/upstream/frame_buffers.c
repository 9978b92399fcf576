/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/frame_buffers.h"

#include "wire/vlan.h"

#define STOCK_AHEAD 8

/* Takes an mbuf, which is not reset, from the stock, and fills that from the pool if it is empty.
 * Returns NULL if the pool is empty, too. */
static struct rte_mbuf *stock_get(struct us_stock *s, struct rte_mempool *pool) {
	struct rte_mbuf *m;

	if (s->count == 0 && rte_mempool_get_bulk(pool, (void **)s->all, US_STOCK) == 0)
		s->count = US_STOCK;
	if (s->count == 0)
		return rte_mbuf_raw_alloc(pool);
	m = s->all[--s->count];
	if (s->count >= STOCK_AHEAD) {
		const struct rte_mbuf *later = s->all[s->count - STOCK_AHEAD];

		rte_prefetch0(later);
		rte_prefetch0(&later->dynfield1);
	}
	return m;
}

static void stock_free(struct us_stock *s, struct rte_mempool *pool) {
	rte_mempool_put_bulk(pool, (void **)s->all, s->count);
	s->count = 0;
}

void us_frame_buffers_stop(struct us_frame_buffers *b) {
	stock_free(&b->copied, b->r->frames);
	stock_free(&b->attached, b->r->pieces);
}

struct rte_mbuf *us_frame_buffer(struct us_frame_buffers *b) {
	struct rte_mbuf *m = stock_get(&b->copied, b->r->frames);

	if (m != NULL)
		rte_pktmbuf_reset(m);
	return m;
}

/* Whether the frame can stay in its packet: a contiguous packet PDU behind enough space for a VLAN
 * tag, which replaces the MAC header. */
static bool frame_can_attach(struct us_cursor *c, const struct docsis_mac *mac, uint32_t size) {
	bool packet = mac->kind == DOCSIS_KIND_PACKET || mac->kind == DOCSIS_KIND_ISOLATION;

	return packet && size <= us_cursor_piece(c) && c->at >= VLAN_TAG_SIZE;
}

struct rte_mbuf *us_frame_attach(struct us_frame_buffers *b, struct us_cursor *c,
				 const struct docsis_mac *mac, uint32_t size) {
	struct rte_mbuf *m;

	if (!b->r->attach_frames || !frame_can_attach(c, mac, size))
		return NULL;
	m = stock_get(&b->attached, b->r->pieces);
	if (m == NULL)
		return NULL;
	rte_pktmbuf_attach(m, c->m);
	m->data_off = (uint16_t)(c->m->data_off + c->at);
	m->data_len = (uint16_t)size;
	m->pkt_len = size;
	m->buf_len = (uint16_t)(m->data_off + size); /* the next frame follows */
	us_cursor_skip(c, size);
	return m;
}
