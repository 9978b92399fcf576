/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and sends the packets of modems and of the R-PHY device. */
#include "upstream_kit.h"

#include <rte_ethdev.h>

#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/ip.h"

#include "fixture.h"
#include "packets.h"
#include "reference_aes.h"
#include "test.h"

#define PACKET_HEAD 52 /* bytes before the payload: headers, serial, stream and tag */

static const uint32_t sessions[KIT_SESSIONS] = {KIT_SC_QAM, KIT_OFDMA, KIT_REQUESTS, KIT_RANGING,
						KIT_OFDMA_2};

static enum uepi_format session_format(uint32_t session) {
	return session == KIT_SC_QAM ? UEPI_SC_QAM : UEPI_OFDMA;
}

uint32_t kit_session(unsigned channel) {
	static const uint32_t sessions_by_channel[KIT_CHANNELS] = {KIT_SC_QAM, KIT_OFDMA,
								   KIT_OFDMA_2};

	return sessions_by_channel[channel];
}

void psp_begin(struct psp_packet *p, uint32_t session) {
	*p = (struct psp_packet){.session = session};
}

void psp_add_segment(struct psp_packet *p, bool begin, bool end, const void *bytes, size_t size) {
	assert_true(p->count < PSP_COUNT_MAX && p->size + size <= sizeof(p->data));
	psp_entry_write(p->table + (size_t)p->count * PSP_ENTRY_SIZE, begin, end, (uint16_t)size);
	memcpy(p->data + p->size, bytes, size);
	p->size += size;
	p->count++;
}

void psp_add_header(struct psp_packet *p, uint16_t sid) {
	struct uepi_header h = {.iuc = 5, .sid = sid, .burst_id = ++kit->burst_id};
	uint8_t bytes[UEPI_HEADER_MAX];

	psp_add_segment(p, true, false, bytes,
			uepi_header_write(session_format(p->session), &h, bytes));
}

void psp_add_trailer(struct psp_packet *p) {
	struct uepi_trailer t = {.burst_id = kit->burst_id};
	uint8_t bytes[UEPI_TRAILER_MAX];

	psp_add_segment(p, false, true, bytes,
			uepi_trailer_write(session_format(p->session), &t, bytes));
}

static uint16_t *next_number(const struct psp_packet *p) {
	bool by_session = kit->sg.upstream.psp_numbering == PSP_NUMBERING_SESSION;

	for (unsigned s = 0; s < ARRAY_COUNT(sessions); s++) {
		if (sessions[s] == p->session)
			return &kit->psp[s][by_session ? 0 : p->flow];
	}
	return &kit->psp[ARRAY_COUNT(sessions)][0];
}

static struct depi_encap session_encap(uint32_t session) {
	const struct rphy_config *rphy = &kit->sg.rphy;
	struct depi_encap e = {.family = rphy->core_ip.family, .ttl = 64, .session = session};

	memcpy(e.source_mac, rphy->rpd_mac, 6);
	memcpy(e.destination_mac, rphy->core_mac, 6);
	memcpy(e.source_ip, rphy->rpd_ip.bytes, 16);
	memcpy(e.destination_ip, rphy->core_ip.bytes, 16);
	return e;
}

size_t psp_write(const struct psp_packet *p, uint8_t *out) {
	struct depi_encap e = session_encap(p->session);
	size_t table = (size_t)p->count * PSP_ENTRY_SIZE;
	uint8_t *at = out;

	at += depi_encap_write(&e, PSP_HEADER_FIXED + table + p->size, out);
	psp_header_write(at, p->flow, p->count, p->sequence);
	if (p->unnumbered)
		at[0] &= (uint8_t)~PSP_SEQUENCE_VALID;
	else if (!p->numbered)
		store_be16(at + 2, (*next_number(p))++);
	at += PSP_HEADER_FIXED;
	memcpy(at, p->table, table);
	memcpy(at + table, p->data, p->size);
	return (size_t)(at - out) + table + p->size;
}

void psp_send(const struct psp_packet *p) {
	uint8_t frame[KIT_PACKET_MAX + KIT_HEADERS_MAX];

	kit_inject(frame, psp_write(p, frame));
}

void kit_inject(const void *frame, size_t size) {
	struct rte_mbuf *m = fixture_packet_create(kit->packets, frame, size);

	if (rte_eth_tx_burst(kit->rphy, 0, &m, 1) != 1) {
		rte_pktmbuf_free(m);
		fail_msg("the R-PHY port is full: the test sends faster than it runs rounds");
	}
	kit->injected++;
}

void kit_send_burst(uint32_t session, uint16_t sid, const void *payload, size_t size) {
	struct psp_packet p;

	psp_begin(&p, session);
	psp_add_header(&p, sid);
	if (size > 0)
		psp_add_segment(&p, false, false, payload, size);
	psp_add_trailer(&p);
	psp_send(&p);
}

void kit_send_plain(unsigned stream, const void *bytes, size_t size) {
	kit_send_burst(kit_session(kit_streams[stream].channels[0]), kit_streams[stream].sid, bytes,
		       size);
}

void kit_send_segment_as(unsigned stream, const struct segment_header *h, const void *bytes,
			 size_t size) {
	uint8_t payload[KIT_PACKET_MAX];

	assert_true(SEGMENT_HEADER_SIZE + size <= sizeof(payload));
	segment_header_write(h, payload);
	memcpy(payload + SEGMENT_HEADER_SIZE, bytes, size);
	kit_send_plain(stream, payload, SEGMENT_HEADER_SIZE + size);
}

void kit_send_segment(unsigned stream, int pointer, const void *bytes, size_t size) {
	struct segment_header h = {
		.pointer_valid = pointer >= 0,
		.pointer = pointer >= 0 ? (uint16_t)pointer : 0,
		.sequence = kit->segment[stream]++,
		.sid_cluster = kit_streams[stream].cluster,
	};

	kit_send_segment_as(stream, &h, bytes, size);
}

void kit_write_ethernet(unsigned stream, uint32_t serial, size_t size, uint8_t *out) {
	const struct modem *m = &kit->sg.modems[kit_streams[stream].modem];

	assert_in_range(size, KIT_FRAME_MIN, KIT_FRAME_MAX); /* more than PACKET_HEAD */
	packet_write_ipv4(out, size, serial, (const uint8_t[]){198, 51, 100, 1});
	memcpy(out, kit->sg.rphy.core_mac, 6);
	memcpy(out + 6, m->mac, 6);
	memcpy(out + ETHERNET_HEADER + 12, m->addresses[0].bytes, 4);
	packet_update_ipv4_checksum(out);
	store_be32(out + 42, serial);
	store_be16(out + 46, (uint16_t)stream);
	store_be32(out + 48, 0x62656e63); /* TAG */
	for (size_t i = PACKET_HEAD; i < size; i++)
		out[i] = (uint8_t)(serial * 13 + stream * 29 + i * 5 + (i >> 8));
}

size_t kit_write_frame(unsigned modem, const struct docsis_up_header *h, const void *pdu,
		       size_t size, uint8_t *out) {
	const struct security_association *sa = &kit->modems[modem].security;
	size_t clear = h->kind == DOCSIS_KIND_FRAGMENT ? DOCSIS_FRAGMENT_CLEAR : DOCSIS_CLEAR_SIZE;
	size_t header = docsis_up_header_write(h, size + ETHERNET_CRC_SIZE, out);
	bool next = h->key_sequence != sa->key_sequence;

	assert_true(header > 0);
	memcpy(out + header, pdu, size);
	ethernet_crc_write(out + header, size);
	size += ETHERNET_CRC_SIZE;
	if (h->encrypted)
		bpi_encrypt(next ? sa->next_key : sa->key, next ? sa->next_iv : sa->iv,
			    out + header + clear, size - clear);
	return header + size;
}

/* Writes the stream's next packet as a MAC frame with this header. Returns its size. */
static size_t write_next_frame(unsigned stream, const struct docsis_up_header *h, size_t size,
			       uint8_t *out) {
	uint32_t serial = kit->serial[stream]++;
	uint8_t ethernet[KIT_FRAME_MAX];

	assert_true(serial < KIT_SERIALS);
	kit->size[stream][serial] = (uint16_t)size;
	kit_write_ethernet(stream, serial, size, ethernet);
	return kit_write_frame(kit_streams[stream].modem, h, ethernet, size, out);
}

size_t kit_next_clear_frame(unsigned stream, size_t size, uint8_t *out) {
	return write_next_frame(stream, &(struct docsis_up_header){.kind = DOCSIS_KIND_PACKET},
				size, out);
}

size_t kit_next_frame(unsigned stream, size_t size, uint8_t *out) {
	const struct kit_stream *s = &kit_streams[stream];
	const struct security_association *sa = &kit->modems[s->modem].security;
	uint32_t serial = kit->serial[stream];
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_PACKET,
		.encrypted = true,
		.privacy = serial & 1 ? PRIVACY_BP_UP2 : PRIVACY_BP_UP,
		.key_sequence = sa->key_sequence,
		.sid = s->sid,
	};

	if (sa->cipher == CIPHER_NONE)
		return kit_next_clear_frame(stream, size, out);
	if (sa->has_next_key && (serial >> 1 & 1) != 0)
		h.key_sequence = (sa->key_sequence + 1) & 0xf;
	return write_next_frame(stream, &h, size, out);
}
