/* SPDX-License-Identifier: BSD-3-Clause */
#include "group_kit.h"

#include <rte_ethdev.h>

#include "model/load/loader.h"
#include "platform/pad.h"
#include "platform/port.h"
#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"
#include "wire/ip.h"

#include "fixture.h"
#include "packets.h"
#include "reference_aes.h"
#include "server_kit.h"
#include "test.h"

#define NETWORK_DEPTH 4096
#define ROUND_NS 20000
#define DENIED_PORT 137

/* Three channels, two of them bonded. The modems differ by encryption, bonding and priority. */
const char group_kit_text[] =
	"name: server\n"
	"service_group: 7\n"
	"channels:\n"
	"  - {id: 1, type: ofdm, rate: 1 Gbps, session: 0x10001, profile: 3}\n"
	"  - {id: 2, type: ofdm, rate: 500 Mbps, session: 0x10002, psp_extra: static}\n"
	"  - {id: 3, type: sc-qam, rate: 40 Mbps, session: 0x10003, pseudowire: psp-legacy}\n"
	"bonding_groups:\n"
	"  - {id: 1, channels: [1, 2]}\n"
	"  - {id: 2, channels: [1]}\n"
	"  - {id: 3, channels: [3]}\n"
	"filter_groups:\n"
	"  - id: 1\n"
	"    rules:\n"
	"      - {family: ipv4, action: deny, protocol: udp, destination_ports: 135-139}\n"
	"modems:\n"
	"  - mac: '02:01:00:00:00:01'\n"
	"    addresses: [10.0.0.1, '2001:db8:0:1::1']\n"
	"    filter_groups: [1]\n"
	"    bonding_group: 1\n"
	"    security: {said: 1, cipher: aes-128, key: 000102030405060708090a0b0c0d0e0f,\n"
	"               iv: 101112131415161718191a1b1c1d1e1f, key_sequence: 5}\n"
	"    service_flows: [{id: 1, dsid: 0x11, buffer: 200 kB}]\n"
	"  - mac: '02:01:00:00:00:02'\n"
	"    addresses: ['2001:db8:0:2::1', 10.0.1.1]\n"
	"    bonding_group: 2\n"
	"    security: {said: 2, cipher: aes-128, key: f00102030405060708090a0b0c0d0e0f,\n"
	"               iv: f01112131415161718191a1b1c1d1e1f, key_sequence: 4}\n"
	"    service_flows: [{id: 2, priority: 3, buffer: 200 kB}, {id: 3, buffer: 200 kB}]\n"
	"    classifiers:\n"
	"      - {family: ipv4, protocol: udp, destination_ports: 5004, service_flow: 3}\n"
	"  - mac: '02:01:00:00:00:03'\n"
	"    addresses: [10.0.2.1]\n"
	"    bonding_group: 3\n"
	"    security: {said: 3, cipher: none}\n"
	"    service_flows: [{id: 4, buffer: 20 kB}]\n"
	"  - mac: '02:01:00:00:00:04'\n"
	"    addresses: [10.0.3.1]\n"
	"    bonding_group: 1\n"
	"    security: {said: 4, cipher: aes-128, key: e00102030405060708090a0b0c0d0e0f,\n"
	"               iv: e01112131415161718191a1b1c1d1e1f, key_sequence: 1}\n"
	"    service_flows: [{id: 5, priority: 1, dsid: 0x44, buffer: 8 MB, min_buffer: 8 MB}]\n";

struct counters group_kit_counters(const struct group_kit *k) {
	struct counters c;

	downstream_counters(k->group->downstream, &c);
	return c;
}

/* Writes the packet with this serial number as it was sent. Returns its size. */
static size_t write_sent_packet(const struct group_kit *k, uint32_t serial, uint8_t *out) {
	const struct group_kit_sent *s = &k->sent[serial];
	const struct modem *m = &k->sg.modems[s->modem];

	return packet_write_to_modem(m, s->address, out, s->size, serial);
}

static void check_header(struct group_kit *k, const struct docsis_mac *mac,
			 const struct group_kit_sent *s) {
	const struct modem *m = &k->sg.modems[s->modem];
	const struct service_flow *f = &m->service_flows[0];

	assert_int_equal(mac->kind, DOCSIS_KIND_PACKET);
	assert_int_equal(mac->privacy, PRIVACY_BP_DOWN);
	assert_int_equal(mac->said_or_sid, m->security.said);
	assert_int_equal(mac->encrypted, m->security.cipher == CIPHER_AES_128);
	assert_int_equal(mac->key_sequence, m->security.key_sequence);
	assert_int_equal(mac->toggle, m->security.key_sequence & 1);
	assert_int_equal(mac->priority, f->priority);
	assert_int_equal(mac->ds == DS_EHDR_SEQUENCE, f->has_dsid);
	if (!f->has_dsid)
		return;
	assert_int_equal(mac->dsid, f->dsid);
	assert_false(k->sequences[s->modem][mac->sequence]);
	k->sequences[s->modem][mac->sequence] = true;
	k->sequence_count[s->modem]++;
}

/* Compares a received DOCSIS frame with the frame that the sent packet must become. */
static void check_frame(void *ctx, const uint8_t *bytes, size_t size) {
	struct group_kit *k = ctx;
	uint8_t expected[PACKET_MAX];
	struct group_kit_sent *s;
	const struct modem *m;
	struct docsis_mac mac;
	uint32_t serial, *last;
	size_t length;

	assert_int_equal(docsis_mac_parse(bytes, size, &mac), DOCSIS_OK);
	assert_int_equal(mac.frame_size, size);
	serial = packet_serial(mac.pdu);
	assert_in_range(serial, 0, k->serial - 1);
	s = &k->sent[serial];
	assert_int_not_equal(s->address, GROUP_KIT_BAD);
	s->received = true;
	s->received_at = group_kit_clock(k)->now;
	m = &k->sg.modems[s->modem];
	check_header(k, &mac, s);
	length = write_sent_packet(k, serial, expected);
	if (length < ETHERNET_MIN_FRAME) {
		memset(expected + length, 0, ETHERNET_MIN_FRAME - length);
		length = ETHERNET_MIN_FRAME;
	}
	memcpy(expected, m->mac, 6);
	ethernet_crc_write(expected, length);
	length += ETHERNET_CRC_SIZE;
	if (m->security.cipher == CIPHER_AES_128)
		bpi_encrypt(m->security.key, m->security.iv, expected + DOCSIS_CLEAR_SIZE,
			    length - DOCSIS_CLEAR_SIZE);
	assert_int_equal(mac.pdu_size, length);
	assert_memory_equal(mac.pdu, expected, length);
	/* on each channel, packets of a modem stay in order */
	last = &k->next_serial[k->channel][s->modem];
	assert_true(serial >= *last);
	*last = serial + 1;
	k->received++;
}

static void create_readers(struct group_kit *k) {
	assert_int_equal(k->sg.channel_count, GROUP_KIT_CHANNELS);
	for (uint32_t i = 0; i < GROUP_KIT_CHANNELS; i++) {
		k->readers[i] = depi_reader_create(&k->sg, i);
		k->readers[i].frame = check_frame;
		k->readers[i].ctx = k;
	}
}

/* Adds a virtual port to the server. Returns the port of its other end. */
static uint16_t add_port(struct server *s, enum device_role role, unsigned depth) {
	static unsigned opened;
	uint16_t pair[2];
	char name[32];

	snprintf(name, sizeof(name), "far%u", opened++);
	assert_int_equal(port_pair(name, s->pools.packets, depth, pair), 0);
	server_ports_set(&s->ports, 0, role, pair[0]);
	return pair[1];
}

void group_kit_open(struct group_kit *k, const char *text, unsigned rphy_depth) {
	static bool running;

	memset(k, 0, sizeof(*k));
	k->random.state = 123456789;
	group_load_text(&k->sg, text);
	if (!running)
		fixture_start_eal(server_memory_mb(single_group_config(&k->lone, &k->sg), NULL));
	running = true;
	create_readers(k);
	assert_int_equal(server_create(&k->server, single_group_config(&k->lone, &k->sg)), 0);
	k->network = add_port(&k->server, DEVICE_NETWORK, NETWORK_DEPTH);
	k->rphy = add_port(&k->server, DEVICE_RPHY, rphy_depth);
	assert_int_equal(server_serve(&k->server), 0);
	k->group = &k->server.groups[0];
	assert_int_equal(k->server.worker_count, 1);
	group_kit_clock(k)->now = 0;
}

void group_kit_close(struct group_kit *k) {
	struct counters c = group_kit_counters(k);

	for (unsigned i = 0; i < DROP_REASONS; i++) {
		if (k->expected_drops[i] != 0)
			assert_int_equal(c.drops[i], k->expected_drops[i]);
	}
	server_check_empty(&k->server);
	port_close(k->network);
	port_close(k->rphy);
	server_free(&k->server);
	service_group_free(&k->sg);
}

static void send_frame(struct group_kit *k, const uint8_t *frame, size_t size) {
	struct rte_mbuf *m = fixture_packet_create(k->server.pools.packets, frame, size);

	if (rte_eth_tx_burst(k->network, 0, &m, 1) == 1) {
		k->injected++;
		return;
	}
	rte_pktmbuf_free(m);
	fail_msg("the network port is full: run the worker before sending more");
}

void group_kit_send_good(struct group_kit *k, uint8_t modem, uint8_t address, size_t size) {
	struct group_kit_sent *s = &k->sent[k->serial];
	uint8_t frame[PACKET_MAX];

	assert_true(k->serial < GROUP_KIT_PACKETS);
	*s = (struct group_kit_sent){.modem = modem, .address = address};
	s->size = (uint16_t)packet_write_to_modem(&k->sg.modems[modem], address, frame, size, 0);
	send_frame(k, frame, write_sent_packet(k, k->serial, frame));
	k->serial++;
}

void group_kit_send_bad(struct group_kit *k) {
	const struct modem *m = &k->sg.modems[0];
	enum drop_reason reason;
	uint8_t frame[PACKET_MAX];
	size_t size = random_between(&k->random, 60, 1500);

	assert_true(k->serial < GROUP_KIT_PACKETS);
	packet_write_ipv4(frame, size, k->serial, m->addresses[0].bytes);
	switch (random_below(&k->random, 8)) {
	case 0:
		size = random_between(&k->random, 1, ETHERNET_HEADER - 1);
		reason = DROP_RUNT;
		break;
	case 1:
		size = packet_write_llc(frame, 1997, k->serial, m->mac);
		reason = DROP_FRAME_TOO_LONG;
		break;
	case 2:
		store_be16(frame + 12, ETHERTYPE_VLAN);
		reason = DROP_VLAN;
		break;
	case 3:
		frame[25] ^= 1;
		reason = DROP_IPV4_CHECKSUM;
		break;
	case 4:
		packet_write_ipv4(frame, size, k->serial, (const uint8_t[]){10, 9, 9, 9});
		reason = DROP_UNKNOWN_DESTINATION;
		break;
	case 5:
		packet_set_ipv4_port(frame, DENIED_PORT);
		reason = DROP_FILTER_DENY;
		break;
	case 6:
		size = packet_write_arp(frame, 60, k->serial, m->addresses[0].bytes) - 20;
		reason = DROP_ARP_MALFORMED;
		break;
	default:
		packet_write_ipv4(frame, size, k->serial, (const uint8_t[]){239, 0, 0, 1});
		reason = DROP_MULTICAST;
	}
	k->sent[k->serial++].address = GROUP_KIT_BAD;
	k->expected_drops[reason]++;
	send_frame(k, frame, size);
}

void group_kit_round(struct group_kit *k) {
	struct counters c;

	worker_round(&k->server.workers[0]);
	c = group_kit_counters(k);
	assert_int_equal(c.values[COUNTER_RECEIVED],
			 c.values[COUNTER_TRANSMITTED] + counters_dropped(&c) +
				 downstream_pending(k->group->downstream));
	/* workers and replays sleep until this time */
	assert_int_equal(worker_due(&k->server.workers[0]), downstream_due(k->group->downstream));
}

unsigned group_kit_receive(struct group_kit *k, unsigned limit) {
	unsigned received = 0;

	while (received < limit) {
		struct rte_mbuf *m;

		if (rte_eth_rx_burst(k->rphy, 0, &m, 1) == 0)
			break;
		if (k->linear)
			assert_int_equal(m->nb_segs, 1);
		k->channel = 0;
		while (k->readers[k->channel].session != depi_session(m))
			assert_true(++k->channel < GROUP_KIT_CHANNELS);
		depi_read(&k->readers[k->channel], m);
		rte_pktmbuf_free(m);
		received++;
	}
	return received;
}

void group_kit_settle(struct group_kit *k) {
	for (int idle = 0; idle < 10; idle++) {
		group_kit_round(k);
		if (group_kit_receive(k, UINT32_MAX) > 0 ||
		    downstream_pending(k->group->downstream) > 0)
			idle = 0;
		group_kit_clock(k)->now += ROUND_NS;
	}
	assert_int_equal(group_kit_counters(k).values[COUNTER_RECEIVED], k->injected);
	/* sequence numbers of bonded flows have no gap */
	for (int m = 0; m < GROUP_KIT_MODEMS; m++) {
		for (uint32_t i = 0; i < k->sequence_count[m]; i++)
			assert_true(k->sequences[m][i]);
	}
}
