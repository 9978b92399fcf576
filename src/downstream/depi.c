/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/depi.h"

#include <string.h>

#include <rte_mbuf.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/messages.h"
#include "pipeline/packet.h"
#include "platform/pad.h"
#include "platform/pool.h"

/* Buffers to prefetch, as many as a few packets take. */
#define AHEAD 4

/* From this number of segments on, DEPI frames share a counter. */
#define SEGMENTS_MORE 8 /* segments */

/* Opens a DEPI frame. Headers are written first, as the segment table grows in place behind
 * them. */
static bool channel_open(struct depi *d, struct depi_channel *ch, uint64_t now) {
	uint8_t *p;

	ch->head = rte_pktmbuf_alloc(d->headers);
	if (ch->head == NULL)
		return false;
	pool_prefetch(d->headers, AHEAD, DEPI_ENCAP_MAX);
	p = rte_pktmbuf_mtod(ch->head, uint8_t *);
	/* A constant size compiles to a few moves. The PSP header overwrites the surplus. */
	memcpy(p, ch->encap, sizeof(ch->encap));
	ch->psp = p + d->encap_size;
	ch->tail = ch->head;
	ch->space = ch->capacity;
	ch->segments = 0;
	ch->ends = 0;
	ch->opened_at = now;
	TAILQ_INSERT_TAIL(&d->open, ch, by_age);
	return true;
}

/* Discards an open frame without segments. */
static void channel_discard(struct depi *d, struct depi_channel *ch) {
	TAILQ_REMOVE(&d->open, ch, by_age);
	rte_pktmbuf_free(ch->head);
	ch->head = NULL;
}

/* By number of segments - 1. */
static const enum counter frames_of_segments[SEGMENTS_MORE] = {
	COUNTER_DEPI_SEGMENTS_1, COUNTER_DEPI_SEGMENTS_2,    COUNTER_DEPI_SEGMENTS_3,
	COUNTER_DEPI_SEGMENTS_4, COUNTER_DEPI_SEGMENTS_5,    COUNTER_DEPI_SEGMENTS_6,
	COUNTER_DEPI_SEGMENTS_7, COUNTER_DEPI_SEGMENTS_MORE,
};

/* Completes the headers in front of the segments. The caller owns the DEPI frame. */
static struct rte_mbuf *channel_close(struct depi *d, struct depi_channel *ch, struct counters *c) {
	struct rte_mbuf *head = ch->head;
	size_t psp = psp_header_size(ch->segments, ch->extra_bytes);
	size_t payload = psp + (size_t)(ch->capacity - ch->space - ch->segments * PSP_ENTRY_SIZE);

	depi_encap_patch(ch->psp - d->encap_size + d->tag_size, d->family, payload);
	psp_header_write(ch->psp, ch->flow, ch->segments, ch->sequence++);
	if (ch->extra_bytes) {
		ch->psp[psp - 2] = 0;
		ch->psp[psp - 1] = (uint8_t)(ch->counter << 4 | ch->profile);
		ch->counter = ch->extra == PSP_EXTRA_COUNTER ? (ch->counter + 1) & 0xf : 0;
	}
	head->data_len = (uint16_t)(d->encap_size + psp);
	head->pkt_len = (uint32_t)(d->encap_size + payload);
	head->nb_segs = 1 + ch->segments;
	depi_pad(head, ch->tail, ETHERNET_MIN_FRAME + d->tag_size, d->headers);
	packet_meta(head)->ends = ch->ends;
	d->ends_open -= ch->ends;
	TAILQ_REMOVE(&d->open, ch, by_age);
	ch->head = NULL;
	count(c, COUNTER_DEPI_FRAMES, 1);
	count(c, COUNTER_PSP_SEGMENTS, ch->segments);
	count(c, frames_of_segments[RTE_MIN(ch->segments, SEGMENTS_MORE) - 1], 1);
	return head;
}

/* Chains one segment, all of `part`, to the open DEPI frame. */
static void channel_add(struct depi *d, struct depi_channel *ch, struct rte_mbuf *part, bool begin,
			bool end) {
	uint16_t length = rte_pktmbuf_data_len(part);

	psp_entry_write(ch->psp + psp_header_size(ch->segments++, 0), begin, end, length);
	ch->space -= length + PSP_ENTRY_SIZE;
	ch->tail->next = part;
	ch->tail = part;
	ch->ends += end;
	d->ends_open += end;
}

static struct rte_mbuf *channel_close_full(struct depi *d, struct depi_channel *ch,
					   struct counters *c) {
	count(c, COUNTER_DEPI_FULL, 1);
	return channel_close(d, ch, c);
}

/* Splits the first `length` bytes off `m`, into an mbuf that shares its buffer. */
static struct rte_mbuf *split_frame(struct depi *d, struct rte_mbuf *m, uint16_t length) {
	struct rte_mbuf *part = rte_mbuf_raw_alloc(d->fragments); /* attaching sets all fields */

	if (part == NULL)
		return NULL;
	pool_prefetch(d->fragments, AHEAD, 0);
	rte_pktmbuf_attach(part, m);
	part->data_len = length;
	part->pkt_len = length;
	packet_meta(part)->arrived = 0; /* the last byte is in `m` */
	rte_pktmbuf_adj(m, length);
	return part;
}

/* Fills the open DEPI frame with the start of `m`, unless less than DEPI_MIN_FRAGMENT fits. Returns
 * false if no buffer is left. */
static bool channel_add_beginning(struct depi *d, struct depi_channel *ch, struct rte_mbuf *m,
				  bool *begin, struct counters *c) {
	int capacity = ch->space - PSP_ENTRY_SIZE;
	struct rte_mbuf *part;

	if (capacity < DEPI_MIN_FRAGMENT)
		return true;
	part = split_frame(d, m, (uint16_t)capacity);
	if (part == NULL) {
		if (ch->segments == 0)
			channel_discard(d, ch);
		return false;
	}
	channel_add(d, ch, part, *begin, false);
	count(c, COUNTER_PSP_FRAGMENTS, 1);
	*begin = false;
	return true;
}

/*
 * Adds one DOCSIS frame to the channel's DEPI frames and splits it where they end. Stores full ones
 * in `out` and returns their number. If no buffer is left, sets `*whole` to false; the caller then
 * still owns `m`.
 */
static inline uint16_t channel_put_frame(struct depi *d, struct depi_channel *ch,
					 struct rte_mbuf *m, uint64_t now, struct counters *c,
					 struct rte_mbuf **out, bool *whole) {
	bool begin = true;
	uint16_t closed = 0;

	for (;;) {
		if (ch->head == NULL && !channel_open(d, ch, now))
			break;
		if (rte_pktmbuf_data_len(m) + PSP_ENTRY_SIZE <= ch->space) {
			channel_add(d, ch, m, begin, true);
			count(c, COUNTER_PSP_FRAGMENTS, !begin);
			if (ch->segments == d->max_segments || ch->space <= PSP_ENTRY_SIZE)
				out[closed++] = channel_close_full(d, ch, c);
			return closed;
		}
		if (!channel_add_beginning(d, ch, m, &begin, c))
			break;
		out[closed++] = channel_close_full(d, ch, c);
	}
	*whole = false;
	return closed;
}

/* Returns the number of frames in `out`, which are full. Drops `m` if no buffer is left. */
static uint16_t channel_add_frame(struct depi *d, struct depi_channel *ch, struct rte_mbuf *m,
				  uint64_t now, struct counters *c, struct rte_mbuf **out) {
	bool whole = true;
	uint16_t closed = channel_put_frame(d, ch, m, now, c, out, &whole);

	if (unlikely(!whole))
		drop(c, m, DROP_NO_BUFFER);
	return closed;
}

/* The caller sets the message_meta of the frames. */
uint16_t depi_message(struct depi *d, uint32_t stream, struct rte_mbuf *m, uint64_t now,
		      struct counters *c, struct rte_mbuf **out, bool *whole) {
	bool data_flow = stream >= d->pseudowires && d->message_flow == 0;
	struct depi_channel *ch =
		data_flow ? &d->channels[stream - d->pseudowires] : &d->messages[stream];
	uint16_t n;

	*whole = true;
	n = channel_put_frame(d, ch, m, now, c, out, whole);
	if (!*whole) {
		rte_pktmbuf_free(m);
	} else if (ch->head != NULL) { /* the end of a message is not the end of a packet */
		ch->ends--;
		d->ends_open--;
	} else {
		packet_meta(out[n - 1])->ends--;
	}
	if (ch->head != NULL)
		out[n++] = channel_close(d, ch, c);
	return n;
}

static uint8_t *message_psp(const struct depi *d, struct rte_mbuf *frame) {
	return rte_pktmbuf_mtod_offset(frame, uint8_t *, d->encap_size);
}

/* False for a frame of a previous channel with this index. Its numbers do not matter any more. */
static bool has_session_header(const struct depi *d, const struct depi_channel *ch,
			       const uint8_t *psp) {
	return memcmp(psp - L2TP_SESSION_SIZE, ch->encap + d->encap_size - L2TP_SESSION_SIZE,
		      L2TP_SESSION_SIZE) == 0;
}

bool depi_message_withdraw(struct depi *d, uint32_t stream, struct rte_mbuf *frame) {
	struct depi_channel *ch = &d->messages[stream];
	const uint8_t *psp = message_psp(d, frame);

	if (!psp_begins(psp) && ch->withdrawn == 0)
		return false;
	if (has_session_header(d, ch, psp)) {
		ch->withdrawn++;
		ch->sequence--;
		ch->counter = ch->extra == PSP_EXTRA_COUNTER ? (ch->counter - 1) & 0xf : 0;
	}
	return true;
}

void depi_message_renumber(struct depi *d, uint32_t stream, struct rte_mbuf *frame) {
	const struct depi_channel *ch = &d->messages[stream];
	uint8_t *psp = message_psp(d, frame), *data = rte_pktmbuf_mtod(frame, uint8_t *);
	uint8_t head = message_meta(frame)->head;

	if (ch->withdrawn == 0 || !has_session_header(d, ch, psp))
		return;
	psp_sequence_lower(psp, ch->withdrawn);
	if (ch->extra == PSP_EXTRA_COUNTER &&
	    data + head > psp + psp_header_size(psp_count(psp), 0))
		data[head - 1] = (uint8_t)(data[head - 1] - (ch->withdrawn << 4));
}

void depi_messages_withdraw_end(struct depi *d) {
	for (uint32_t i = 0; i < d->pseudowires + d->channel_count; i++)
		d->messages[i].withdrawn = 0;
}

uint64_t depi_deadline(const struct depi *d) {
	const struct depi_channel *ch = TAILQ_FIRST(&d->open);

	return ch == NULL ? UINT64_MAX : ch->opened_at + d->flush_ns;
}

struct rte_mbuf *depi_close_oldest(struct depi *d, struct counters *c) {
	struct depi_channel *ch = TAILQ_FIRST(&d->open);

	return ch == NULL ? NULL : channel_close(d, ch, c);
}

struct rte_mbuf *depi_close_channel(struct depi *d, uint32_t channel, struct counters *c) {
	struct depi_channel *ch = &d->channels[channel];

	return ch->head == NULL ? NULL : channel_close(d, ch, c);
}

/* Closes the frames that have been open for `flush_ns`, the oldest first. Returns their number. */
static uint16_t depi_flush_old(struct depi *d, uint64_t now, struct counters *c,
			       struct rte_mbuf **out, uint16_t capacity) {
	uint16_t closed = 0;

	while (closed < capacity) {
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

	/* Copied, as the output overwrites `pkts`: a frame can complete several DEPI frames. */
	memcpy(in, pkts, n * sizeof(in[0]));
	for (uint16_t i = 0; i < n; i++) {
		struct depi_channel *ch = &l->depi.channels[packet_meta(in[i])->channel];

		out += channel_add_frame(&l->depi, ch, in[i], now, &l->counters, pkts + out);
	}
	return out +
	       depi_flush_old(&l->depi, now, &l->counters, pkts + out, PIPELINE_CAPACITY - out);
}

int ds_depi_open(void *downstream, const struct service_group *sg, const void *resources) {
	struct downstream *d = downstream;
	const struct ds_resources *r = resources;

	return depi_create(&d->lower.depi, sg, d->tables.capacity.channels, r->depi_headers,
			   r->depi_fragments);
}

void ds_depi_close(void *downstream) {
	struct downstream *d = downstream;

	depi_free(&d->lower.depi);
}

uint64_t ds_depi_pending(const void *downstream, enum unit unit) {
	const struct downstream *d = downstream;

	(void)unit;
	return d->lower.depi.ends_open;
}

void ds_depi_stop(void *downstream) {
	struct downstream *d = downstream;
	struct ds_lower *l = &d->lower;
	struct rte_mbuf *m;

	while ((m = depi_close_oldest(&l->depi, &l->counters)) != NULL)
		ds_frame_end(l, m, DROP_STOPPED);
}
