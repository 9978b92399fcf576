/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers PSP segments in packets. */
#include "rphy/uplink_session.h"

#include <rte_common.h>
#include <rte_memcpy.h>

#include "pipeline/first_number.h"

void uplink_sessions_discard(struct uplink_output *o) {
	for (; o->open_count > 0; o->open_count--)
		rte_pktmbuf_free(o->open[o->open_count - 1]->open);
}

void uplink_session_create(struct uplink_session *s, const struct uplink_output *o, uint32_t id) {
	struct depi_encap e = o->encap;

	e.session = id;
	s->sequence = first_number();
	depi_encap_write(&e, 0, s->headers);
}

static void open_packet(struct uplink_output *o, struct uplink_session *s, uint64_t now) {
	s->open = o->stock[--o->stock_count];
	s->open->data_off = UPLINK_SEGMENTS_AT;
	s->opened = now;
	s->count = 0;
	s->ended_count = 0;
	s->index = (uint16_t)o->open_count;
	o->open[o->open_count++] = s;
}

void uplink_session_close(struct uplink_output *o, struct uplink_session *s) {
	struct rte_mbuf *m = s->open;
	uint16_t number = s->sequence;
	uint32_t psp, payload;
	uint8_t *p;

	if (m == NULL)
		return;
	s->sequence++;
	psp = (uint32_t)psp_header_size(s->count, 0);
	payload = psp + rte_pktmbuf_data_len(m);
	p = (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)(o->headers_size + psp));
	rte_memcpy(p, s->headers, o->headers_size);
	depi_encap_patch(p, o->family, payload);
	p += o->headers_size;
	psp_header_write(p, 0, (uint8_t)s->count, number);
	rte_memcpy(p + PSP_HEADER_FIXED, s->table, s->count * PSP_ENTRY_SIZE);
	o->segments += s->count;
	if (s->impairer == NULL)
		uplink_output_put(o, m, s->ended, s->ended_count);
	else
		s->impairer->packet(s, m, number);
	s->open = NULL;
	o->open[s->index] = o->open[--o->open_count];
	o->open[s->index]->index = s->index;
}

/* Free bytes for one more segment in the open packet. */
static uint32_t available(const struct uplink_output *o, const struct uplink_session *s) {
	uint32_t used = (uint32_t)psp_header_size(s->count + 1u, 0) + rte_pktmbuf_data_len(s->open);

	return s->count == PSP_COUNT_MAX || used > o->capacity ? 0 : o->capacity - used;
}

static void session_put(struct uplink_session *s, bool begin, bool end, const uint8_t *bytes,
			uint32_t size) {
	uint8_t *out = rte_pktmbuf_mtod_offset(s->open, uint8_t *, s->open->data_len);

	rte_memcpy(out, bytes, size);
	s->open->data_len = (uint16_t)(s->open->data_len + size);
	s->open->pkt_len = s->open->data_len;
	psp_entry_write(s->table + PSP_ENTRY_SIZE * s->count, begin, end, (uint16_t)size);
	s->count++;
	if (s->impairer != NULL)
		s->impairer->segment(s, begin, end);
}

void uplink_session_unit(struct uplink_output *o, struct uplink_session *s, bool begin, bool end,
			 const uint8_t *bytes, uint32_t size, uint64_t now) {
	if (s->open != NULL && available(o, s) < size)
		uplink_session_close(o, s);
	if (s->open == NULL)
		open_packet(o, s, now);
	session_put(s, begin, end, bytes, size);
}

void uplink_session_payload(struct uplink_output *o, struct uplink_session *s, const uint8_t *bytes,
			    uint32_t size, uint64_t now) {
	while (size > 0) {
		uint32_t part;

		if (s->open == NULL)
			open_packet(o, s, now);
		part = RTE_MIN(size, RTE_MIN(available(o, s), (uint32_t)PSP_SEGMENT_MAX));
		if (part == 0) {
			uplink_session_close(o, s);
			continue;
		}
		session_put(s, false, false, bytes, part);
		bytes += part;
		size -= part;
	}
}

void uplink_session_ended(struct uplink_output *o, struct uplink_session *s,
			  const struct uplink_ended *ended) {
	s->ended[s->ended_count++] = *ended;
	if (s->ended_count == UPLINK_OPEN_ENDED)
		uplink_session_close(o, s);
}

void uplink_sessions_flush(struct uplink_output *o, uint64_t now, bool all) {
	for (unsigned i = o->open_count; i > 0; i--) {
		struct uplink_session *s = o->open[i - 1];

		if (all || now - s->opened >= o->flush)
			uplink_session_close(o, s);
	}
}
