/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/buffer.h"

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

struct tap_buffer *tap_buffer_create(const struct tap_buffer_config *c) {
	struct tap_buffer *e = aligned_alloc(TAP_RING_LINE, sizeof(*e));

	if (e == NULL)
		return NULL;
	memset(e, 0, sizeof(*e));
	e->snap = c->snap;
	e->sample = c->sample;
	tap_bucket_set(&e->bucket, c->rate);
	if (tap_ring_create(&e->ring, c->ring) != 0) {
		free(e);
		return NULL;
	}
	if (e->snap > tap_ring_max(&e->ring) - sizeof(struct tap_record))
		e->snap = tap_ring_max(&e->ring) - (uint32_t)sizeof(struct tap_record);
	return e;
}

void tap_buffer_free(struct tap_buffer *e) {
	if (e == NULL)
		return;
	tap_ring_free(&e->ring);
	free(e);
}

/* Sums the segments; pkt_len of the first may not cover them. */
static uint32_t chain_size(const struct rte_mbuf *m) {
	uint32_t size = 0;

	for (; m != NULL; m = m->next)
		size += m->data_len;
	return size;
}

/* Copies `size` bytes of a chain, from `before` bytes ahead of its data on. */
static void chain_copy(const struct rte_mbuf *m, uint16_t before, uint8_t *out, uint32_t size) {
	for (; m != NULL && size > 0; m = m->next, before = 0) {
		uint32_t part = RTE_MIN(size, (uint32_t)m->data_len + before);

		memcpy(out, rte_pktmbuf_mtod(m, const uint8_t *) - before, part);
		out += part;
		size -= part;
	}
}

/* Sets the modem, flow and session of a record, as far as they are known. */
static void record_names(struct tap_record *r, const struct tap_names *n, const struct tap_facts *f,
			 bool up) {
	static const uint8_t no_mac[sizeof(r->mac)];
	uint32_t count = n == NULL ? 0 : up ? n->up_flow_count : n->down_flow_count;

	r->known = f->known;
	r->session = f->session;
	r->sfid = 0;
	memset(r->mac, 0, sizeof(r->mac));
	if ((f->known & TAP_KNOWS_MODEM) != 0 && n != NULL && f->modem < n->modem_count)
		memcpy(r->mac, n->macs[f->modem], sizeof(r->mac));
	if (memcmp(r->mac, no_mac, sizeof(no_mac)) == 0) /* unknown, or its modem was removed */
		r->known &= (uint8_t)~TAP_KNOWS_MODEM;
	if ((f->known & TAP_KNOWS_FLOW) != 0 && f->flow < count)
		r->sfid = (up ? n->up_sfids : n->down_sfids)[f->flow];
	if (r->sfid == 0)
		r->known &= (uint8_t)~TAP_KNOWS_FLOW;
}

void tap_buffer_copy(struct tap_buffer *e, const struct tap_packet *p, struct tap_facts *f) {
	struct tap_tally *tally = &e->tallies[p->slot];
	struct tap_shape shape;
	struct tap_record *r;
	uint32_t wire, size, head;

	if (!tap_bucket_admit(&e->bucket, p->now)) {
		tally->limited++;
		return;
	}
	tap_shape_read(p->kind, p->m, f, &shape);
	wire = shape.head_size + shape.before + chain_size(p->m);
	size = RTE_MIN(wire > shape.trim ? wire - shape.trim : 0, e->snap);
	r = tap_ring_reserve(&e->ring, (uint32_t)sizeof(*r) + size);
	if (r == NULL) {
		tally->missed++;
		return;
	}
	r->tsc = rte_rdtsc();
	r->size = size;
	r->wire_size = wire;
	r->reason = p->reason;
	r->stage = (uint8_t)RTE_MIN(p->stage, (uint32_t)TAP_STAGES);
	r->side = (uint8_t)p->side;
	r->form = (uint8_t)shape.form;
	record_names(r, p->tables->names, f, p->tables->u != NULL);
	head = RTE_MIN(size, (uint32_t)shape.head_size);
	memcpy(r->bytes, shape.head, head);
	chain_copy(p->m, shape.before, r->bytes + head, size - head);
	tap_ring_put(&e->ring);
}
