/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers segments in packets, and packets for the port. */
#include "rphy/uplink_session.h"

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_memcpy.h>

#include "impairments/impair.h"
#include "platform/pool.h"

#define PACKETS 4095
#define ETHERNET 14

/* Where the first segment stands: behind the longest headers and the longest table. */
#define SEGMENTS_AT \
	(RTE_PKTMBUF_HEADROOM + DEPI_ENCAP_MAX + PSP_HEADER_FIXED + PSP_COUNT_MAX * PSP_ENTRY_SIZE)

int uplink_output_create(struct uplink_output *o, const struct service_group *sg, uint16_t port) {
	const struct rphy_config *r = &sg->rphy;
	struct depi_encap *e = &o->encap;

	o->port = port;
	o->family = e->family = r->rpd_ip.family;
	e->dscp = r->dscp;
	e->ttl = r->ttl;
	memcpy(e->source_mac, r->rpd_mac, 6);
	memcpy(e->destination_mac, r->core_mac, 6);
	memcpy(e->source_ip, r->rpd_ip.bytes, 16);
	memcpy(e->destination_ip, r->core_ip.bytes, 16);
	o->headers_size = (uint32_t)depi_encap_size(e);
	o->capacity = ETHERNET + r->mtu - o->headers_size;
	o->flush = r->flush_ns * (rte_get_tsc_hz() / 1000) / 1000000;
	o->pool = packet_pool("traffic_uplink", PACKETS, 0, SEGMENTS_AT + r->mtu);
	return o->pool == NULL ? -1 : 0;
}

void uplink_output_free(struct uplink_output *o) {
	for (unsigned i = 0; i < o->open_count; i++)
		rte_pktmbuf_free(o->open[i]->open);
	for (unsigned i = o->pending_sent; i < o->pending_count; i++)
		rte_pktmbuf_free(o->pending[i].m);
	if (o->stock_count > 0)
		rte_pktmbuf_free_bulk(o->stock, o->stock_count);
	rte_mempool_free(o->pool);
}

void uplink_session_create(struct uplink_session *s, const struct uplink_output *o, uint32_t id) {
	struct depi_encap e = o->encap;

	e.session = id;
	depi_encap_write(&e, 0, s->headers);
}

bool uplink_output_ready(struct uplink_output *o) {
	unsigned missing = UPLINK_STOCK - o->stock_count;

	if (o->pending_sent < o->pending_count)
		return false;
	if (missing > 0 && rte_pktmbuf_alloc_bulk(o->pool, o->stock + o->stock_count, missing) != 0)
		return false;
	o->stock_count = UPLINK_STOCK;
	return true;
}

static void open_packet(struct uplink_output *o, struct uplink_session *s, uint64_t now) {
	s->open = o->stock[--o->stock_count];
	s->open->data_off = SEGMENTS_AT;
	s->opened = now;
	s->count = 0;
	s->ended_count = 0;
	s->place = (uint16_t)o->open_count;
	o->open[o->open_count++] = s;
}

void uplink_output_put(struct uplink_output *o, struct rte_mbuf *m,
		       const struct uplink_ended *ended, unsigned ended_count) {
	if (ended_count > 0)
		rte_memcpy(o->ended + o->ended_count, ended, ended_count * sizeof(*ended));
	o->ended_count += ended_count;
	o->pending[o->pending_count++] = (struct uplink_packet){m, ended_count};
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
	if (s->impair == NULL)
		uplink_output_put(o, m, s->ended, s->ended_count);
	else
		impair_packet(s, m, number);
	s->open = NULL;
	o->open[s->place] = o->open[--o->open_count];
	o->open[s->place]->place = s->place;
}

/* Bytes that one more segment may have in the open packet. */
static uint32_t room(const struct uplink_output *o, const struct uplink_session *s) {
	uint32_t used = (uint32_t)psp_header_size(s->count + 1u, 0) + rte_pktmbuf_data_len(s->open);

	return s->count == PSP_COUNT_MAX || used > o->capacity ? 0 : o->capacity - used;
}

static void put(struct uplink_session *s, bool begin, bool end, const uint8_t *bytes,
		uint32_t size) {
	uint8_t *out = rte_pktmbuf_mtod_offset(s->open, uint8_t *, s->open->data_len);

	rte_memcpy(out, bytes, size);
	s->open->data_len = (uint16_t)(s->open->data_len + size);
	s->open->pkt_len = s->open->data_len;
	psp_entry_write(s->table + PSP_ENTRY_SIZE * s->count, begin, end, (uint16_t)size);
	s->count++;
	if (s->impair != NULL)
		impair_piece(s->impair, s->shadow, begin, end);
}

void uplink_session_unit(struct uplink_output *o, struct uplink_session *s, bool begin, bool end,
			 const uint8_t *bytes, uint32_t size, uint64_t now) {
	if (s->open != NULL && room(o, s) < size)
		uplink_session_close(o, s);
	if (s->open == NULL)
		open_packet(o, s, now);
	put(s, begin, end, bytes, size);
}

void uplink_session_payload(struct uplink_output *o, struct uplink_session *s, const uint8_t *bytes,
			    uint32_t size, uint64_t now) {
	while (size > 0) {
		uint32_t part;

		if (s->open == NULL)
			open_packet(o, s, now);
		part = RTE_MIN(size, RTE_MIN(room(o, s), (uint32_t)PSP_SEGMENT_MAX));
		if (part == 0) {
			uplink_session_close(o, s);
			continue;
		}
		put(s, false, false, bytes, part);
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

void uplink_output_flush(struct uplink_output *o, uint64_t now, bool all) {
	for (unsigned i = o->open_count; i > 0; i--) {
		struct uplink_session *s = o->open[i - 1];

		if (all || now - s->opened >= o->flush)
			uplink_session_close(o, s);
	}
}

unsigned uplink_output_transmit(struct uplink_output *o, const struct uplink_ended **ended,
				unsigned *ended_count) {
	unsigned left = o->pending_count - o->pending_sent;
	struct uplink_packet *first = &o->pending[o->pending_sent];
	struct rte_mbuf *packets[UPLINK_PENDING];
	uint32_t sizes[UPLINK_PENDING];
	unsigned n;

	*ended = &o->ended[o->ended_sent];
	*ended_count = 0;
	if (left == 0)
		return 0;
	for (unsigned i = 0; i < left; i++) {
		packets[i] = first[i].m;
		sizes[i] = packets[i]->pkt_len;
	}
	n = rte_eth_tx_burst(o->port, 0, packets, (uint16_t)left);
	for (unsigned i = 0; i < n; i++) {
		*ended_count += first[i].ended;
		o->bytes += sizes[i];
	}
	o->packets += n;
	o->backpressure += n < left;
	o->pending_sent += n;
	o->ended_sent += *ended_count;
	if (n == left)
		o->pending_count = o->pending_sent = o->ended_count = o->ended_sent = 0;
	return n;
}
