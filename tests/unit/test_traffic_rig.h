/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CMTS in a few lines, for tests of the traffic program: takes the packets that it sends, frames
 * and encrypts them one by one, and sends them back as DEPI, with whatever mistake is asked for.
 */
#pragma once

#include <rte_cryptodev.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_security.h>

#include "evaluate.h"
#include "model/loader.h"
#include "platform/crypto.h"
#include "platform/platform.h"
#include "platform/port.h"
#include "test.h"
#include "traffic.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

#define RIG_FRAME_MAX 2048
#define RIG_MTU 1500

/* Two bonded channels and one alone; AES and clear; with DSIDs and without. */
static const char rig_config[] =
	"name: rig\n"
	"service_group: 1\n"
	"ports:\n"
	"  network: {device: net_ring0, queue_size: 1024}\n"
	"  rphy: {device: net_ring1, queue_size: 1024}\n"
	"max_frame: 2000\n"
	"threads: {downstream: 1ds1t, main_core: 0, upper_mac_core: 0, lower_mac_core: 0}\n"
	"rphy:\n"
	"  core_mac: \"02:00:00:00:00:01\"\n"
	"  rpd_mac: \"02:00:00:00:00:02\"\n"
	"  core_ip: 192.168.1.1\n"
	"  rpd_ip: 192.168.1.2\n"
	"  mtu: 1500\n"
	"  dscp: 4\n"
	"  ttl: 64\n"
	"  flush: 50 us\n"
	"  max_segments: 16\n"
	"rate_limit: 10 Gbps\n"
	"cpe_timeout: 300 s\n"
	"filter_default: permit\n"
	"channels:\n"
	"  - {id: 1, type: ofdm, rate: 1.89 Gbps, session: 0x00010001, pseudowire: psp-depi, "
	"psp_extra: counter, profile: 3}\n"
	"  - {id: 2, type: ofdm, rate: 1.89 Gbps, session: 0x00010002, pseudowire: psp-depi, "
	"psp_extra: static, profile: 5}\n"
	"  - {id: 3, type: sc-qam, rate: 42.24 Mbps, session: 0x00010003, pseudowire: psp-legacy, "
	"psp_extra: none, profile: 0}\n"
	"bonding_groups:\n"
	"  - {id: 1, channels: [1, 2]}\n"
	"  - {id: 2, channels: [3]}\n"
	"filter_groups:\n"
	"  - id: 1\n"
	"    rules:\n"
	"      - {family: ipv4, action: deny, source: 198.18.0.0/24}\n"
	"      - {family: ipv4, action: permit, source: 198.18.0.0/16, protocol: tcp}\n"
	"      - {family: ipv6, action: permit, source: \"2001:db8:9::/48\", "
	"destination_ports: 1000-1999}\n"
	"modems:\n"
	"  - mac: \"02:01:00:00:00:01\"\n"
	"    addresses: [10.0.0.1, \"2001:db8:0:1::1\"]\n"
	"    cpe_limit: 4\n"
	"    filter_groups: [1]\n"
	"    bonding_group: 1\n"
	"    security: {said: 0x0001, cipher: aes-128, key: 000102030405060708090a0b0c0d0e0f, "
	"iv: \"101112131415161718191a1b1c1d1e1f\", key_sequence: 1}\n"
	"    service_flows:\n"
	"      - {id: 1, priority: 0, dsid: 0x00001, buffer: 512 kB}\n"
	"      - {id: 2, priority: 5, dsid: 0x00002, buffer: 512 kB}\n"
	"    classifiers:\n"
	"      - {family: ipv4, protocol: udp, destination_ports: 5004, service_flow: 2}\n"
	"      - {family: ipv6, tos: 0xb8/0xfc, service_flow: 2}\n"
	"  - mac: \"02:01:00:00:00:02\"\n"
	"    addresses: [10.0.0.2]\n"
	"    cpe_limit: 4\n"
	"    filter_groups: [1]\n"
	"    bonding_group: 2\n"
	"    security: {said: 0x0002, cipher: aes-128, key: 0f0e0d0c0b0a09080706050403020100, "
	"iv: \"101112131415161718191a1b1c1d1e1f\", key_sequence: 4}\n"
	"    service_flows:\n"
	"      - {id: 3, priority: 0, buffer: 512 kB}\n"
	"      - {id: 4, priority: 6, buffer: 512 kB}\n"
	"    classifiers:\n"
	"      - {family: ipv4, protocol: udp, destination_ports: 5004, service_flow: 4}\n"
	"  - mac: \"02:01:00:00:00:03\"\n"
	"    addresses: [10.0.0.3]\n"
	"    cpe_limit: 4\n"
	"    filter_groups: [1]\n"
	"    bonding_group: 1\n"
	"    security: {said: 0x0003, cipher: none, key_sequence: 0}\n"
	"    service_flows:\n"
	"      - {id: 5, priority: 0, dsid: 0x00005, buffer: 512 kB}\n";

#define RIG_MODEMS 3
#define RIG_CHANNELS 3
#define RIG_FLOWS_MAX 2

struct rig_frame {
	uint32_t modem;
	uint32_t flow; /* index in the modem */
	uint32_t channel;
	size_t header_size;
	size_t size;
	uint8_t bytes[RIG_FRAME_MAX];
};

/*
 * What is done wrong to one frame: the first one in the second half of a burst that carries UDP over
 * IPv4 to this modem and flow. NULL and false: nothing.
 */
struct rig_fault {
	uint32_t modem;
	uint32_t flow;
	void (*header)(struct docsis_down_header *h); /* before the HCS is made */
	void (*plain)(uint8_t *frame, size_t size); /* the IP packet, before its CRC is made */
	void (*wire)(struct rig_frame *frame); /* the finished DOCSIS frame */
	bool wrong_key;
};

struct rig {
	struct service_group sg;
	struct docsis_crypto crypto; /* queue 0 is the traffic's, queue 1 ours */
	void *sessions[RIG_MODEMS];
	void *wrong_session;
	struct rte_mempool *pool;
	uint16_t network[2]; /* the traffic's end, our end */
	uint16_t rphy[2];
	struct traffic *traffic;
	uint16_t numbers[RIG_MODEMS][RIG_FLOWS_MAX]; /* next packet sequence number */
	uint16_t psp[RIG_CHANNELS]; /* next PSP sequence number */
	uint8_t counters[RIG_CHANNELS];
	unsigned turn; /* spreads a bonding group's frames */
};

static inline void rig_open(struct rig *r) {
	static const uint8_t other_key[16] = {0xee};
	struct platform_options options = {.program = "test", .memory_mb = 256};

	assert_int_equal(platform_start(&options), 0);
	assert_int_equal(service_group_load_text("rig", rig_config, sizeof(rig_config) - 1, &r->sg,
						 stderr),
			 0);
	assert_int_equal(crypto_open(&r->crypto, "test", 2, 16, 1024), 0);
	for (uint32_t m = 0; m < RIG_MODEMS; m++) {
		r->sessions[m] = crypto_session(&r->crypto, CRYPTO_DOWNLINK,
						r->sg.modems[m].security.key);
		assert_non_null(r->sessions[m]);
	}
	r->wrong_session = crypto_session(&r->crypto, CRYPTO_DOWNLINK, other_key);
	r->pool = rte_pktmbuf_pool_create("rig", 4095, 0, 0, 4096, SOCKET_ID_ANY);
	assert_non_null(r->pool);
	assert_int_equal(port_pair("network", r->pool, 1024, r->network), 0);
	assert_int_equal(port_pair("rphy", r->pool, 1024, r->rphy), 0);
}

static inline void rig_close(struct rig *r) {
	for (uint32_t m = 0; m < RIG_MODEMS; m++)
		crypto_session_free(&r->crypto, r->sessions[m]);
	crypto_session_free(&r->crypto, r->wrong_session);
	for (int i = 0; i < 2; i++) {
		port_close(r->network[i]);
		port_close(r->rphy[i]);
	}
	crypto_close(&r->crypto);
	service_group_free(&r->sg);
	platform_stop();
}

/* Traffic from the start, with `mix`, as fast as it is asked for. */
static inline void rig_start(struct rig *r, const char *mix, uint64_t seed) {
	struct traffic_options options = {
		.network_port = r->network[0],
		.rphy_port = r->rphy[0],
		.crypto = &r->crypto,
		.permit_permille = 100,
		.classify_permille = 300,
		.seed = seed,
	};
	char error[128];

	assert_int_equal(mix_parse(mix, 1996, &options.mix, error, sizeof(error)), 0);
	r->traffic = traffic_create(&r->sg, &options);
	assert_non_null(r->traffic);
	memset(r->psp, 0xff, sizeof(r->psp)); /* wraps soon */
	memset(r->numbers, 0xff, sizeof(r->numbers));
}

static inline uint32_t rig_modem_of(const struct rig *r, const struct frame_fields *f) {
	for (uint32_t m = 0; m < RIG_MODEMS; m++) {
		for (size_t a = 0; a < r->sg.modems[m].address_count; a++) {
			const struct ip_address *address = &r->sg.modems[m].addresses[a];

			if (address->family == f->family &&
			    memcmp(address->bytes, f->destination, f->family == 4 ? 4 : 16) == 0)
				return m;
		}
	}
	fail_msg("a packet for no modem");
	return 0;
}

/* CRC and encryption by the crypto device, the other direction than under test. */
static inline void rig_encrypt(struct rig *r, struct rig_frame *f, void *session, bool encrypted) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(r->pool);
	struct rte_crypto_op *op = rte_crypto_op_alloc(r->crypto.ops,
						       RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	uint16_t pdu = (uint16_t)(f->size - f->header_size);
	uint16_t done = 0;

	assert_non_null(m);
	assert_non_null(op);
	memcpy(rte_pktmbuf_append(m, (uint16_t)f->size), f->bytes, f->size);
	rte_security_attach_session(op, session);
	op->sym->m_src = m;
	op->sym->m_dst = NULL;
	op->sym->auth.data.offset = (uint32_t)f->header_size;
	op->sym->auth.data.length = pdu - 4u;
	op->sym->cipher.data.offset = (uint32_t)f->header_size + 12;
	op->sym->cipher.data.length = encrypted ? pdu - 12u : 0;
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, DOCSIS_IV_OFFSET),
	       r->sg.modems[f->modem].security.iv, DOCSIS_IV_SIZE);
	assert_int_equal(rte_cryptodev_enqueue_burst(r->crypto.device, 1, &op, 1), 1);
	while (done == 0)
		done = rte_cryptodev_dequeue_burst(r->crypto.device, 1, &op, 1);
	assert_int_equal(op->status, RTE_CRYPTO_OP_STATUS_SUCCESS);
	memcpy(f->bytes, rte_pktmbuf_mtod(m, void *), f->size);
	rte_pktmbuf_free(m);
	rte_crypto_op_free(op);
}

static inline struct docsis_down_header rig_header(struct rig *r, const struct rig_frame *f) {
	const struct modem *m = &r->sg.modems[f->modem];
	const struct service_flow *flow = &m->service_flows[f->flow];
	struct docsis_down_header h = {
		.privacy = true,
		.encrypted = m->security.cipher == CIPHER_AES_128,
		.key_sequence = m->security.key_sequence,
		.said = m->security.said,
		.ds = flow->has_dsid ? DS_EHDR_SEQUENCE : DS_EHDR_PRIORITY,
		.priority = flow->priority,
		.dsid = flow->dsid,
	};

	if (flow->has_dsid)
		h.sequence = r->numbers[f->modem][f->flow]++;
	return h;
}

/* Makes the DOCSIS frame of an IP packet. Returns whether it was one for `fault`, which may be NULL. */
static inline bool rig_encode(struct rig *r, const uint8_t *packet, size_t size,
			      const struct rig_fault *fault, struct rig_frame *f) {
	static const struct rig_fault none;
	struct docsis_down_header h;
	struct frame_fields fields;
	struct evaluation e;
	bool meant;
	uint8_t *pdu;

	assert_int_equal(frame_parse(packet, size, &fields), FRAME_GOOD);
	f->modem = rig_modem_of(r, &fields);
	e = evaluate(&r->sg, &r->sg.modems[f->modem], &fields);
	assert_int_equal(e.action, FILTER_PERMIT);
	f->flow = e.flow;
	f->channel = f->modem == 1 ? 2 : r->turn++ % 2;
	meant = fault != NULL && fault->modem == f->modem && fault->flow == f->flow &&
		fields.kind == FRAME_IPV4 && fields.protocol == IP_PROTOCOL_UDP;
	fault = meant ? fault : &none;
	h = rig_header(r, f);
	if (fault->header != NULL)
		fault->header(&h);
	f->header_size = docsis_down_header_write(&h, size + 4, f->bytes);
	pdu = f->bytes + f->header_size;
	memcpy(pdu, packet, size);
	memcpy(pdu, r->sg.modems[f->modem].mac, 6);
	if (fault->plain != NULL)
		fault->plain(pdu, size);
	f->size = f->header_size + size + 4;
	rig_encrypt(r, f, fault->wrong_key ? r->wrong_session : r->sessions[f->modem], h.encrypted);
	if (fault->wire != NULL)
		fault->wire(f);
	return meant;
}

/*
 * Lets traffic send until there are `n` packets, and encodes them, one with `fault` unless that is
 * NULL. Returns the index of that one.
 */
static inline unsigned rig_take(struct rig *r, struct rig_frame *frames, unsigned n,
				const struct rig_fault *fault) {
	struct rte_mbuf *packets[32];
	unsigned victim = n;

	assert_int_equal(n % 32, 0);
	for (unsigned done = 0; done < n; done += 32) {
		assert_int_equal(traffic_send(r->traffic, rte_rdtsc()), 32);
		assert_int_equal(rte_eth_rx_burst(r->network[1], 0, packets, 32), 32);
		for (unsigned i = 0; i < 32; i++) {
			bool now = victim == n && i >= 16;

			if (rig_encode(r, rte_pktmbuf_mtod(packets[i], const uint8_t *),
				       packets[i]->data_len, now ? fault : NULL, &frames[done + i]))
				victim = done + i;
			rte_pktmbuf_free(packets[i]);
		}
	}
	assert_true(fault == NULL || victim < n);
	return victim;
}

struct rig_segment {
	const uint8_t *bytes;
	size_t size;
	bool begin;
	bool end;
};

/* A DEPI frame of `channel` with the PSP numbers that come next. */
static inline size_t rig_depi(struct rig *r, uint32_t channel, const struct rig_segment *segments,
			      unsigned count, uint8_t *out) {
	const struct channel *c = &r->sg.channels[channel];
	unsigned extra = c->psp_extra == PSP_EXTRA_NONE ? 0 : 2;
	struct depi_encap e = {.family = 4, .dscp = 4, .ttl = 64, .session = c->session};
	size_t header = psp_header_size(count, extra);
	size_t size = header;
	uint8_t *p = out + depi_encap_size(&(struct depi_encap){.family = 4});

	memcpy(e.source_mac, r->sg.rphy.core_mac, 6);
	memcpy(e.destination_mac, r->sg.rphy.rpd_mac, 6);
	memcpy(e.source_ip, r->sg.rphy.core_ip.bytes, 4);
	memcpy(e.destination_ip, r->sg.rphy.rpd_ip.bytes, 4);
	psp_header_write(p, 0, (uint8_t)count, r->psp[channel]++);
	for (unsigned i = 0; i < count; i++) {
		psp_entry_write(p + PSP_HEADER_FIXED + PSP_ENTRY_SIZE * i, segments[i].begin,
				segments[i].end, (uint16_t)segments[i].size);
		memcpy(p + size, segments[i].bytes, segments[i].size);
		size += segments[i].size;
	}
	if (extra != 0) {
		p[header - 2] = 0;
		p[header - 1] = (uint8_t)(r->counters[channel] << 4 | c->profile);
		if (c->psp_extra == PSP_EXTRA_COUNTER)
			r->counters[channel] = (r->counters[channel] + 1) & 0xf;
	}
	return depi_encap_write(&e, size, out) + size;
}

/* Sends a frame in a chain of mbufs, as the pipeline in the same process does. */
static inline void rig_send(struct rig *r, const uint8_t *depi, size_t size) {
	struct rte_mbuf *head = rte_pktmbuf_alloc(r->pool);
	struct rte_mbuf *tail = rte_pktmbuf_alloc(r->pool);
	size_t first = size < 64 ? size : 64;

	assert_non_null(head);
	assert_non_null(tail);
	memcpy(rte_pktmbuf_append(head, (uint16_t)first), depi, first);
	if (size > first) {
		memcpy(rte_pktmbuf_append(tail, (uint16_t)(size - first)), depi + first,
		       size - first);
		assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
	} else {
		rte_pktmbuf_free(tail);
	}
	assert_int_equal(rte_eth_tx_burst(r->rphy[1], 0, &head, 1), 1);
	traffic_receive(r->traffic);
}

/* One frame in one segment, or in two DEPI frames where it does not fit the MTU. */
static inline void rig_send_frame(struct rig *r, const struct rig_frame *f) {
	size_t most = RIG_MTU - 20 - 4 - 4 - 2 - 2;
	size_t first = f->size < most ? f->size : most;
	struct rig_segment a = {f->bytes, first, true, first == f->size};
	struct rig_segment b = {f->bytes + first, f->size - first, false, true};
	uint8_t depi[RIG_MTU + 14];

	rig_send(r, depi, rig_depi(r, f->channel, &a, 1, depi));
	if (!a.end)
		rig_send(r, depi, rig_depi(r, f->channel, &b, 1, depi));
}

/* Ends the run: what has not come by now is lost. The sums always hold. */
static inline struct traffic_result rig_finish(struct rig *r) {
	struct traffic_result result;

	traffic_stop(r->traffic);
	while (traffic_receive(r->traffic) > 0)
		;
	traffic_finish(r->traffic);
	traffic_result(r->traffic, &result);
	traffic_free(r->traffic);
	r->traffic = NULL;
	assert_int_equal(result.sent, result.proven + result.lost + result.corrupted);
	assert_int_equal(rte_mempool_in_use_count(r->crypto.ops), 0);
	assert_int_equal(rte_mempool_in_use_count(r->pool), 0);
	return result;
}
