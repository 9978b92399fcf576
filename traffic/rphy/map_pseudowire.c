/* SPDX-License-Identifier: BSD-3-Clause */
/* Reassembles MAC management messages from the packets of MAP pseudowires. */
#include "rphy/map_pseudowire.h"

#include <string.h>

#include <rte_common.h>

#include "wire/l2tpv3.h"
#include "wire/psp.h"

#define FRAME_MAX 9216 /* exceeds the largest MTU plus Ethernet header */
#define HEADERS 128 /* exceeds Ethernet to L2TPv3 session headers, as in rphy/receiver.c */
#define LATE 0x8000 /* a sequence number so far ahead is an earlier one */

static uint64_t bit_of(uint32_t session) {
	return UINT64_C(1) << (session & 63);
}

void map_pseudowires_set(struct map_pseudowires *w, const uint32_t *sessions, uint32_t count) {
	w->count = count;
	w->mask = 0;
	for (uint32_t c = 0; c < count; c++) {
		if (w->all[c].session != sessions[c])
			w->all[c] = (struct map_pseudowire){.session = sessions[c]};
		w->mask |= sessions[c] == 0 ? 0 : bit_of(sessions[c]);
	}
}

static uint32_t channel_of(const struct map_pseudowires *w, uint32_t session) {
	if (session == 0 || (w->mask & bit_of(session)) == 0)
		return UINT32_MAX;
	for (uint32_t c = 0; c < w->count; c++) {
		if (w->all[c].session == session)
			return c;
	}
	return UINT32_MAX;
}

static void skip_message(struct map_pseudowires *w, struct map_pseudowire *p) {
	w->incomplete += p->joining != MAP_SKIPPING;
	p->joining = MAP_SKIPPING;
}

/* Whether the packet follows the last one; after a gap, drops a message that has begun. */
static bool in_order(struct map_pseudowires *w, struct map_pseudowire *p, const struct psp *psp) {
	uint16_t ahead = (uint16_t)(psp->sequence - p->next);

	if (!psp->sequence_valid)
		return true;
	if (p->started && ahead >= LATE) {
		w->missing -= w->missing > 0; /* counted as missing before */
		return false;
	}
	if (p->started && ahead > 0) {
		w->missing += ahead;
		if (p->joining == MAP_OPEN)
			skip_message(w, p);
	}
	p->started = true;
	p->next = (uint16_t)(psp->sequence + 1);
	return true;
}

/* Whether the segment ends a message; `s` is then the whole message. Segments of late packets
 * cannot be joined. */
static bool message_ends(struct map_pseudowires *w, struct map_pseudowire *p, bool late,
			 struct psp_segment *s) {
	bool whole;

	if (late)
		return s->begin && s->end;
	if (s->begin) {
		w->incomplete += p->joining == MAP_OPEN;
		p->joining = MAP_OPEN;
		p->length = 0;
	}
	if (p->joining != MAP_OPEN || s->length > sizeof(p->message) - p->length) {
		skip_message(w, p);
	} else {
		memcpy(p->message + p->length, s->data, s->length);
		p->length = (uint16_t)(p->length + s->length);
	}
	if (!s->end)
		return false;
	whole = p->joining == MAP_OPEN;
	p->joining = MAP_CLOSED;
	*s = (struct psp_segment){.length = p->length, .data = p->message};
	return whole;
}

static void messages_process(struct map_pseudowires *w, uint32_t channel, const struct psp *psp,
			     map_pseudowire_fn receive, void *ctx) {
	struct map_pseudowire *p = &w->all[channel];
	bool late = !in_order(w, p, psp);
	struct psp_cursor cursor = {0};
	struct psp_segment segment;
	struct management message;

	while (psp_next(psp, &cursor, &segment)) {
		if (!message_ends(w, p, late, &segment))
			continue;
		if (management_read(segment.data, segment.length, &message) != MANAGEMENT_OK) {
			w->malformed++;
			continue;
		}
		w->messages++;
		receive(ctx, channel, &message);
	}
}

bool map_pseudowires_receive(struct map_pseudowires *w, const struct rte_mbuf *frame,
			     map_pseudowire_fn receive, void *ctx) {
	uint32_t size = RTE_MIN(rte_pktmbuf_pkt_len(frame), (uint32_t)FRAME_MAX), channel;
	uint8_t head[HEADERS], whole[FRAME_MAX];
	struct l2tp_data l2tp;
	struct psp psp;

	if (l2tp_parse(rte_pktmbuf_read(frame, 0, RTE_MIN(size, (uint32_t)HEADERS), head),
		       rte_pktmbuf_pkt_len(frame), &l2tp) != L2TP_OK)
		return false;
	channel = channel_of(w, l2tp.session);
	if (channel == UINT32_MAX)
		return false;
	w->packets++;
	if (size != rte_pktmbuf_pkt_len(frame) ||
	    l2tp_parse(rte_pktmbuf_read(frame, 0, size, whole), size, &l2tp) != L2TP_OK ||
	    psp_parse(l2tp.payload, l2tp.payload_size, 0, &psp) != PSP_OK) {
		w->malformed++;
		return true;
	}
	messages_process(w, channel, &psp, receive, ctx);
	return true;
}
