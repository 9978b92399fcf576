/* SPDX-License-Identifier: BSD-3-Clause */
/* What modems and the R-PHY device send. */
#include "upstream_kit.h"

#include <rte_ethdev.h>

#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/ip.h"

#include "fixture.h"
#include "packets.h"
#include "plain_aes.h"
#include "test.h"

#define HEAD 52 /* bytes of headers, number and stream */

static const uint32_t sessions[] = {BENCH_SC_QAM, BENCH_OFDMA, BENCH_REQUESTS, BENCH_RANGING,
				    BENCH_OFDMA_ALONE};

static enum uepi_format format_of(uint32_t session) {
	return session == BENCH_SC_QAM ? UEPI_SC_QAM : UEPI_OFDMA;
}

uint32_t bench_session(unsigned channel) {
	static const uint32_t of_channel[BENCH_CHANNELS] = {BENCH_SC_QAM, BENCH_OFDMA,
							    BENCH_OFDMA_ALONE};

	return of_channel[channel];
}

void psp_open(struct bench_psp *p, uint32_t session) {
	*p = (struct bench_psp){.session = session};
}

void psp_add(struct bench_psp *p, bool begin, bool end, const void *bytes, size_t size) {
	assert_true(p->count < PSP_COUNT_MAX && p->size + size <= sizeof(p->data));
	psp_entry_write(p->table + (size_t)p->count * PSP_ENTRY_SIZE, begin, end, (uint16_t)size);
	memcpy(p->data + p->size, bytes, size);
	p->size += size;
	p->count++;
}

void psp_add_header(struct bench_psp *p, uint16_t sid) {
	struct uepi_header h = {.iuc = 5, .sid = sid, .burst_id = ++bench->burst_id};
	uint8_t bytes[UEPI_HEADER_MAX];

	psp_add(p, true, false, bytes, uepi_header_write(format_of(p->session), &h, bytes));
}

void psp_add_trailer(struct bench_psp *p) {
	struct uepi_trailer t = {.burst_id = bench->burst_id};
	uint8_t bytes[UEPI_TRAILER_MAX];

	psp_add(p, false, true, bytes, uepi_trailer_write(format_of(p->session), &t, bytes));
}

static uint16_t *number(const struct bench_psp *p) {
	bool by_session = bench->sg.upstream.psp_numbering == PSP_NUMBERING_SESSION;

	for (unsigned s = 0; s < ARRAY_COUNT(sessions); s++) {
		if (sessions[s] == p->session)
			return &bench->psp[s][by_session ? 0 : p->flow];
	}
	return &bench->psp[ARRAY_COUNT(sessions)][0];
}

static struct depi_encap encap_of(uint32_t session) {
	const struct rphy_config *rphy = &bench->sg.rphy;
	struct depi_encap e = {.family = rphy->core_ip.family, .ttl = 64, .session = session};

	memcpy(e.source_mac, rphy->rpd_mac, 6);
	memcpy(e.destination_mac, rphy->core_mac, 6);
	memcpy(e.source_ip, rphy->rpd_ip.bytes, 16);
	memcpy(e.destination_ip, rphy->core_ip.bytes, 16);
	return e;
}

size_t psp_write(const struct bench_psp *p, uint8_t *out) {
	struct depi_encap e = encap_of(p->session);
	size_t table = (size_t)p->count * PSP_ENTRY_SIZE;
	uint8_t *at = out;

	at += depi_encap_write(&e, PSP_HEADER_FIXED + table + p->size, out);
	psp_header_write(at, p->flow, p->count, p->sequence);
	if (p->unnumbered)
		at[0] &= (uint8_t)~PSP_SEQUENCE_VALID;
	else if (!p->numbered)
		store_be16(at + 2, (*number(p))++);
	at += PSP_HEADER_FIXED;
	memcpy(at, p->table, table);
	memcpy(at + table, p->data, p->size);
	return (size_t)(at - out) + table + p->size;
}

void psp_send(const struct bench_psp *p) {
	uint8_t frame[BENCH_PACKET_MAX + 600];

	bench_inject(frame, psp_write(p, frame));
}

void bench_inject(const void *frame, size_t size) {
	struct rte_mbuf *m = fixture_packet(bench->packets, frame, size);

	if (rte_eth_tx_burst(bench->rphy, 0, &m, 1) != 1) {
		rte_pktmbuf_free(m);
		fail_msg("the R-PHY port is full: the test sends faster than it runs rounds");
	}
	bench->injected++;
}

void bench_burst(uint32_t session, uint16_t sid, const void *payload, size_t size) {
	struct bench_psp p;

	psp_open(&p, session);
	psp_add_header(&p, sid);
	if (size > 0)
		psp_add(&p, false, false, payload, size);
	psp_add_trailer(&p);
	psp_send(&p);
}

void bench_plain(unsigned stream, const void *bytes, size_t size) {
	bench_burst(bench_session(bench_streams[stream].channels[0]), bench_streams[stream].sid,
		    bytes, size);
}

void bench_segment_as(unsigned stream, const struct segment_header *h, const void *bytes,
		      size_t size) {
	uint8_t payload[BENCH_PACKET_MAX];

	assert_true(SEGMENT_HEADER_SIZE + size <= sizeof(payload));
	segment_header_write(h, payload);
	memcpy(payload + SEGMENT_HEADER_SIZE, bytes, size);
	bench_plain(stream, payload, SEGMENT_HEADER_SIZE + size);
}

void bench_segment(unsigned stream, int pointer, const void *bytes, size_t size) {
	struct segment_header h = {
		.pointer_valid = pointer >= 0,
		.pointer = pointer >= 0 ? (uint16_t)pointer : 0,
		.sequence = bench->segment[stream]++,
		.sid_cluster = bench_streams[stream].cluster,
	};

	bench_segment_as(stream, &h, bytes, size);
}

void bench_ethernet(unsigned stream, uint32_t serial, size_t size, uint8_t *out) {
	const struct modem *m = &bench->sg.modems[bench_streams[stream].modem];

	assert_in_range(size, BENCH_SMALLEST, BENCH_FRAME_MAX); /* more than HEAD */
	packet_ipv4(out, size, serial, (const uint8_t[]){198, 51, 100, 1});
	memcpy(out, bench->sg.rphy.core_mac, 6);
	memcpy(out + 6, m->mac, 6);
	memcpy(out + ETHERNET_HEADER + 12, m->addresses[0].bytes, 4);
	packet_ipv4_checksum(out);
	store_be32(out + 42, serial);
	store_be16(out + 46, (uint16_t)stream);
	store_be32(out + 48, 0x62656e63); /* as test_bench knows its own */
	for (size_t i = HEAD; i < size; i++)
		out[i] = (uint8_t)(serial * 13 + stream * 29 + i * 5 + (i >> 8));
}

size_t bench_frame(unsigned modem, const struct docsis_up_header *h, const void *pdu, size_t size,
		   uint8_t *out) {
	const struct security_association *sa = &bench->modems[modem].security;
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

/* The stream's next packet, whose frame has this header, in the clear or not. */
static size_t mac(unsigned stream, const struct docsis_up_header *h, size_t size, uint8_t *out) {
	uint32_t serial = bench->serial[stream]++;
	uint8_t ethernet[BENCH_FRAME_MAX];

	assert_true(serial < BENCH_SERIALS);
	bench->size[stream][serial] = (uint16_t)size;
	bench_ethernet(stream, serial, size, ethernet);
	return bench_frame(bench_streams[stream].modem, h, ethernet, size, out);
}

size_t bench_mac_clear(unsigned stream, size_t size, uint8_t *out) {
	return mac(stream, &(struct docsis_up_header){.kind = DOCSIS_KIND_PACKET}, size, out);
}

size_t bench_mac(unsigned stream, size_t size, uint8_t *out) {
	const struct bench_stream *s = &bench_streams[stream];
	const struct security_association *sa = &bench->modems[s->modem].security;
	uint32_t serial = bench->serial[stream];
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_PACKET,
		.encrypted = true,
		.privacy = serial & 1 ? PRIVACY_BP_UP2 : PRIVACY_BP_UP,
		.key_sequence = sa->key_sequence,
		.sid = s->sid,
	};

	if (sa->cipher == CIPHER_NONE)
		return bench_mac_clear(stream, size, out);
	if (sa->has_next_key && (serial >> 1 & 1) != 0)
		h.key_sequence = (sa->key_sequence + 1) & 0xf;
	return mac(stream, &h, size, out);
}
