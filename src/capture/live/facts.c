/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/facts.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/docsis_up.h"
#include "wire/l2tpv3.h"
#include "wire/vlan.h"

static void knows_modem(struct tap_facts *f, uint32_t modem) {
	f->known |= TAP_KNOWS_MODEM;
	f->modem = modem;
}

static void knows_flow(struct tap_facts *f, uint32_t flow) {
	f->known |= TAP_KNOWS_FLOW;
	f->flow = flow;
}

static void knows_session(struct tap_facts *f, uint32_t session) {
	f->known |= TAP_KNOWS_SESSION;
	f->session = session;
}

static void down_facts(const struct tap_tables *t, enum tap_kind kind, struct rte_mbuf *m,
		       struct tap_facts *f) {
	const struct packet_meta *meta = packet_meta(m);
	bool cached = meta->record == PACKET_NO_RECORD;

	if (kind >= TAP_DOWN_MODEM || (kind == TAP_DOWN_CACHED && cached))
		knows_modem(f, meta->modem);
	if (kind >= TAP_DOWN_FLOW || (kind >= TAP_DOWN_CACHED && cached))
		knows_flow(f, meta->flow);
	if (kind >= TAP_DOWN_CHANNEL && meta->channel < t->names->channel_count)
		knows_session(f, t->names->sessions[meta->channel]);
}

/* Reads the session ID from the encapsulation that all DEPI frames of a channel share. */
static void depi_facts(const struct tap_tables *t, const struct rte_mbuf *m, struct tap_facts *f) {
	uint16_t size = t->d->lower.depi.encap_size;

	if (m->data_len >= size && size >= L2TP_SESSION_SIZE)
		knows_session(f, load_be32(rte_pktmbuf_mtod_offset(m, const uint8_t *,
								   size - L2TP_SESSION_SIZE)));
}

/* The L2TPv3 session that carries the bursts of a channel. */
static void channel_facts(const struct us_tables *t, uint32_t channel, enum us_session_kind kind,
			  struct tap_facts *f) {
	uint32_t session;

	if (channel >= t->channel_count)
		return;
	session = t->channels[channel].sessions[kind];
	if (session < t->session_count)
		knows_session(f, t->sessions[session].id);
}

static void up_flow_facts(const struct us_tables *t, uint32_t flow, struct tap_facts *f) {
	if (flow >= t->flow_count || t->flows[flow].modem == PENDING_NO_MODEM)
		return;
	knows_flow(f, flow);
	knows_modem(f, t->flows[flow].modem);
}

static void up_facts(const struct us_tables *t, enum tap_kind kind, struct rte_mbuf *m,
		     struct tap_facts *f) {
	const struct us_meta *meta = us_meta(m);

	switch (kind) {
	case TAP_PSP:
		if (meta->packet.session < t->session_count)
			knows_session(f, t->sessions[meta->packet.session].id);
		return;
	case TAP_BURST:
		channel_facts(t, meta->burst.channel, meta->burst.ranging ? US_RANGING : US_DATA,
			      f);
		return;
	case TAP_SEGMENT:
		if (meta->segment.stream < t->stream_count)
			up_flow_facts(t, t->streams[meta->segment.stream].flow, f);
		channel_facts(t, meta->segment.channel, US_DATA, f);
		return;
	case TAP_PDU:
	case TAP_PDU_CLEAR:
	case TAP_PDU_IP: channel_facts(t, meta->frame.channel, US_DATA, f); break;
	case TAP_PART_FLOW: break;
	default: return;
	}
	up_flow_facts(t, meta->frame.flow, f);
}

void tap_facts_read(const struct tap_tables *t, enum tap_kind kind, struct rte_mbuf *m,
		    struct tap_facts *out) {
	*out = (struct tap_facts){.modem = TAP_NONE, .flow = TAP_NONE};
	if (kind == TAP_DEPI)
		depi_facts(t, m, out);
	else if (t->d != NULL && kind > TAP_DOWN_RAW && kind < TAP_DEPI)
		down_facts(t, kind, m, out);
	else if (t->u != NULL)
		up_facts(&t->u->tables, kind, m, out);
}

/* Finds the outer Ethernet frame of a buffer whose data is only the payload. The frame starts after
 * the headroom, or a VLAN tag later. */
static bool outer_find(struct rte_mbuf *m, struct tap_facts *f, struct tap_shape *s) {
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);

	for (unsigned tag = 0; tag <= VLAN_TAG_SIZE; tag += VLAN_TAG_SIZE) {
		unsigned begin = RTE_PKTMBUF_HEADROOM + tag;
		const uint8_t *frame = (const uint8_t *)m->buf_addr + begin;
		struct l2tp_data l2tp;

		if (m->data_off < begin || m->data_off + m->data_len > m->buf_len)
			continue;
		if (l2tp_parse(frame, (size_t)(m->data_off + m->data_len - begin), &l2tp) !=
			    L2TP_OK ||
		    l2tp.payload > data)
			continue;
		s->before = (uint16_t)(m->data_off - begin);
		if ((f->known & TAP_KNOWS_SESSION) == 0)
			knows_session(f, l2tp.session);
		return true;
	}
	return false;
}

/* Rebuilds the MAC header from the frame's fields. */
static void header_rebuild(struct rte_mbuf *m, struct tap_shape *s) {
	const struct us_meta *meta = us_meta(m);
	struct docsis_up_header h = {
		.kind = meta->frame.fragment ? DOCSIS_KIND_FRAGMENT : DOCSIS_KIND_PACKET,
		.privacy = meta->frame.fragment	 ? PRIVACY_BP_UP
			   : meta->frame.privacy ? PRIVACY_BP_UP2
						 : PRIVACY_NONE,
		.encrypted = meta->frame.encrypted,
		.key_sequence = meta->frame.key_sequence,
		.sid = meta->frame.sid,
		.fragment_first = meta->frame.fragment_first,
		.fragment_last = meta->frame.fragment_last,
		.fragment_sequence = meta->frame.fragment_sequence,
	};

	s->head_size = (uint8_t)docsis_up_header_write(&h, m->data_len, s->head);
	s->form = s->head_size > 0 ? TAP_DOCSIS : TAP_PIECE;
}

void tap_shape_read(enum tap_kind kind, struct rte_mbuf *m, struct tap_facts *f,
		    struct tap_shape *out) {
	out->head_size = 0;
	out->before = 0;
	out->trim = 0;
	out->form = TAP_ETHERNET;
	switch (kind) {
	case TAP_DOWN_CLEAR:
		out->form = TAP_DOCSIS;
		out->trim = ETHERNET_CRC_SIZE;
		return;
	case TAP_DOWN_FRAME: out->form = TAP_DOCSIS; return;
	case TAP_OUTER:
		if (m->data_off > RTE_PKTMBUF_HEADROOM + VLAN_TAG_SIZE)
			outer_find(m, f, out);
		return;
	case TAP_PSP: out->form = outer_find(m, f, out) ? TAP_ETHERNET : TAP_PIECE; return;
	case TAP_PART: /* may be a packet of a refused burst */
	case TAP_BURST:
	case TAP_SEGMENT:
	case TAP_PART_FLOW: out->form = TAP_PIECE; return;
	case TAP_PDU: header_rebuild(m, out); return;
	case TAP_PDU_CLEAR:
		out->form = us_meta(m)->frame.fragment ? TAP_PIECE : TAP_ETHERNET_FCS;
		return;
	default: return;
	}
}
