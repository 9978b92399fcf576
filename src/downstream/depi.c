/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/depi.h"

#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/bytes.h"

static unsigned extra_bytes(const struct channel *c) {
	return c->psp_extra == PSP_EXTRA_NONE ? 0 : 2;
}

struct depi_format depi_format(const struct rphy_config *r, const struct channel *c) {
	struct depi_encap e = {.family = r->core_ip.family};
	size_t overhead = depi_encap_size(&e) + psp_header_size(0, extra_bytes(c));

	return (struct depi_format){
		.overhead = (uint16_t)overhead,
		.room = (uint16_t)(r->mtu + RTE_ETHER_HDR_LEN - overhead),
	};
}

static void channel_setup(struct depi_channel *ch, const struct channel *c,
			  const struct rphy_config *r) {
	struct depi_encap e = {
		.family = r->core_ip.family,
		.dscp = r->dscp,
		.ttl = r->ttl,
		.session = c->session,
	};

	memcpy(e.source_mac, r->core_mac, sizeof(e.source_mac));
	memcpy(e.destination_mac, r->rpd_mac, sizeof(e.destination_mac));
	memcpy(e.source_ip, r->core_ip.bytes, sizeof(e.source_ip));
	memcpy(e.destination_ip, r->rpd_ip.bytes, sizeof(e.destination_ip));
	depi_encap_write(&e, 0, ch->encap);
	ch->extra = c->psp_extra;
	ch->extra_bytes = (uint8_t)extra_bytes(c);
	ch->room = depi_format(r, c).room;
	ch->profile = c->profile;
}

int depi_create(struct depi *d, const struct service_group *sg, struct rte_mempool *headers,
		struct rte_mempool *fragments) {
	const struct rphy_config *r = &sg->rphy;
	struct depi_encap e = {.family = r->core_ip.family};

	TAILQ_INIT(&d->open);
	d->channels =
		rte_zmalloc("depi", sg->channel_count * sizeof(*d->channels), RTE_CACHE_LINE_SIZE);
	if (d->channels == NULL)
		return -1;
	d->channel_count = (uint32_t)sg->channel_count;
	d->flush_ns = r->flush_ns;
	d->max_segments = (uint8_t)r->max_segments;
	d->family = r->core_ip.family;
	d->encap_size = (uint8_t)depi_encap_size(&e);
	d->headers = headers;
	d->fragments = fragments;
	for (size_t i = 0; i < sg->channel_count; i++)
		channel_setup(&d->channels[i], &sg->channels[i], r);
	return 0;
}

void depi_free(struct depi *d) {
	for (uint32_t i = 0; d->channels != NULL && i < d->channel_count; i++)
		rte_pktmbuf_free(d->channels[i].head);
	rte_free(d->channels);
	d->channels = NULL;
}

static bool channel_open(struct depi *d, struct depi_channel *ch, uint64_t now) {
	ch->head = rte_pktmbuf_alloc(d->headers);
	if (ch->head == NULL)
		return false;
	ch->tail = ch->head;
	ch->space = ch->room;
	ch->segments = 0;
	ch->ends = 0;
	ch->opened_at = now;
	TAILQ_INSERT_TAIL(&d->open, ch, by_age);
	return true;
}

/* Gives up an open frame that got no segment. */
static void channel_discard(struct depi *d, struct depi_channel *ch) {
	TAILQ_REMOVE(&d->open, ch, by_age);
	rte_pktmbuf_free(ch->head);
	ch->head = NULL;
}

/* Writes the headers in front of the segments and gives the finished DEPI frame away. */
static struct rte_mbuf *channel_close(struct depi *d, struct depi_channel *ch, struct counters *c) {
	struct rte_mbuf *head = ch->head;
	size_t psp = psp_header_size(ch->segments, ch->extra_bytes);
	uint8_t *p = rte_pktmbuf_mtod(head, uint8_t *);

	memcpy(p, ch->encap, d->encap_size);
	depi_encap_patch(p, d->family, psp + head->pkt_len);
	p += d->encap_size;
	psp_header_write(p, 0, ch->segments, ch->sequence++);
	memcpy(p + PSP_HEADER_FIXED, ch->table, (size_t)ch->segments * PSP_ENTRY_SIZE);
	if (ch->extra_bytes) {
		p[psp - 2] = 0;
		p[psp - 1] = (uint8_t)(ch->counter << 4 | ch->profile);
		ch->counter = ch->extra == PSP_EXTRA_COUNTER ? (ch->counter + 1) & 0xf : 0;
	}
	head->data_len = (uint16_t)(d->encap_size + psp);
	head->pkt_len += head->data_len;
	packet_meta(head)->ends = ch->ends;
	d->ends_open -= ch->ends;
	TAILQ_REMOVE(&d->open, ch, by_age);
	ch->head = NULL;
	count(c, COUNTER_DEPI_FRAMES, 1);
	count(c, COUNTER_PSP_SEGMENTS, ch->segments);
	return head;
}

/* Chains one segment, the whole of `part`, to the open DEPI frame. */
static void channel_add(struct depi *d, struct depi_channel *ch, struct rte_mbuf *part, bool begin,
			bool end) {
	uint16_t length = rte_pktmbuf_data_len(part);

	psp_entry_write((uint8_t *)&ch->table[ch->segments++], begin, end, length);
	ch->space -= length + PSP_ENTRY_SIZE;
	ch->tail->next = part;
	ch->tail = part;
	ch->head->nb_segs++;
	ch->head->pkt_len += length;
	ch->ends += end;
	d->ends_open += end;
}

static bool channel_full(const struct depi *d, const struct depi_channel *ch) {
	return ch->segments == d->max_segments || ch->space <= PSP_ENTRY_SIZE;
}

/* Cuts the first `length` bytes off `m` into an mbuf of their own that shares its buffer. */
static struct rte_mbuf *cut(struct depi *d, struct rte_mbuf *m, uint16_t length) {
	struct rte_mbuf *part = rte_pktmbuf_alloc(d->fragments);

	if (part == NULL)
		return NULL;
	rte_pktmbuf_attach(part, m);
	part->data_len = length;
	part->pkt_len = length;
	packet_meta(part)->arrived = 0; /* the last byte is in `m` */
	rte_pktmbuf_adj(m, length);
	return part;
}

/*
 * Puts one DOCSIS frame into the channel's DEPI frames, cut where they end; full ones go to `out`.
 * Returns how many those are.
 */
static uint16_t add_frame(struct depi *d, struct depi_channel *ch, struct rte_mbuf *m, uint64_t now,
			  struct counters *c, struct rte_mbuf **out) {
	bool begin = true, end = false;
	uint16_t closed = 0;

	while (!end) {
		struct rte_mbuf *part = m;
		uint16_t left = rte_pktmbuf_data_len(m), take;

		if (ch->head == NULL && !channel_open(d, ch, now)) {
			drop(c, m, DROP_NO_BUFFER);
			return closed;
		}
		take = (uint16_t)RTE_MIN(left, ch->space - PSP_ENTRY_SIZE);
		end = take == left;
		if (!end && take < DEPI_MIN_FRAGMENT) {
			count(c, COUNTER_DEPI_FULL, 1);
			out[closed++] = channel_close(d, ch, c);
			continue;
		}
		if (!end && (part = cut(d, m, take)) == NULL) {
			if (ch->segments == 0)
				channel_discard(d, ch);
			drop(c, m, DROP_NO_BUFFER);
			return closed;
		}
		channel_add(d, ch, part, begin, end);
		count(c, COUNTER_PSP_FRAGMENTS, !begin || !end);
		begin = false;
		if (channel_full(d, ch)) {
			count(c, COUNTER_DEPI_FULL, 1);
			out[closed++] = channel_close(d, ch, c);
		}
	}
	return closed;
}

struct rte_mbuf *depi_close_oldest(struct depi *d, struct counters *c) {
	struct depi_channel *ch = TAILQ_FIRST(&d->open);

	return ch == NULL ? NULL : channel_close(d, ch, c);
}

static uint16_t flush_old(struct depi *d, uint64_t now, struct counters *c, struct rte_mbuf **out,
			  uint16_t room) {
	uint16_t closed = 0;

	while (closed < room) {
		const struct depi_channel *ch = TAILQ_FIRST(&d->open);

		if (ch == NULL || now - ch->opened_at < d->flush_ns)
			break;
		out[closed++] = depi_close_oldest(d, c);
	}
	count(c, COUNTER_DEPI_FLUSHED, closed);
	return closed;
}

uint16_t ds_depi(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;
	struct rte_mbuf *in[PIPELINE_BURST];
	uint64_t now = l->clock->now;
	uint16_t out = 0;

	/* Out of the way of what comes out: a frame can complete several DEPI frames. */
	memcpy(in, pkts, n * sizeof(in[0]));
	for (uint16_t i = 0; i < n; i++) {
		struct depi_channel *ch = &l->depi.channels[packet_meta(in[i])->channel];

		out += add_frame(&l->depi, ch, in[i], now, &l->counters, pkts + out);
	}
	return out + flush_old(&l->depi, now, &l->counters, pkts + out, PIPELINE_CAPACITY - out);
}
