/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the stage validate: each reason to drop an L2TPv3 packet. */

#include <rte_ethdev.h>

#include "wire/bytes.h"
#include "wire/ip.h"

#include "upstream_cases.h"

#define IP ETHERNET_HEADER
#define SESSION (IP + IPV4_HEADER)
#define PSP (SESSION + L2TP_SESSION_SIZE)
#define PACKET 64 /* bytes of IP in a good packet */

/* Writes a valid packet. Returns its size. */
static size_t write_valid(uint8_t *out) {
	struct psp_packet p;

	kit_write_packet(&p, PLAIN, PACKET);
	return psp_write(&p, out);
}

static void process(const uint8_t *frame, size_t size) {
	kit_inject(frame, size);
	kit_settle();
}

/* Writes a packet that a test makes invalid. Its number and its serial are used again. */
static size_t write_invalid(uint8_t *out) {
	size_t size = write_valid(out);

	kit->serial[PLAIN]--;
	kit->psp[0][0]--;
	return size;
}

static void check_dropped(const uint8_t *frame, size_t size, enum drop_reason reason) {
	process(frame, size);
	kit_check_dropped(reason, 1);
}

static void update_checksum(uint8_t *frame) {
	store_be16(frame + IP + 10, ipv4_checksum(frame + IP, IPV4_HEADER));
}

/* A value that is added to 16 bits of a valid packet, and whether its IP checksum is updated. */
static const struct {
	size_t at;
	uint16_t plus;
	bool checksum;
	enum drop_reason reason;
} cases[] = {
	{12, ETHERTYPE_ARP - ETHERTYPE_IPV4, false, DROP_NOT_L2TP},
	{IP, 0xff00, true, DROP_OUTER_IP_HEADER}, /* 0x44: the header is too short */
	{IP + 2, 1, true, DROP_OUTER_IP_LENGTH},
	{IP + 10, 0x100, false, DROP_OUTER_IP_CHECKSUM},
	{IP + 6, 0x2000, true, DROP_OUTER_FRAGMENT},
	{IP + 8, 1, true, DROP_NOT_L2TP}, /* another protocol */
	{SESSION + 2, 8, false, DROP_UNKNOWN_SESSION},
	{PSP, PSP_VCCV << 8, false, DROP_PSP_CONTROL},
	{PSP, 0x1000, false, DROP_PSP_EXTENDED},
	{PSP + PSP_HEADER_FIXED, 1, false, DROP_PSP_TRUNCATED}, /* longer than the packet */
	{PSP + PSP_HEADER_FIXED, 0xffff, false, DROP_PSP_TRAILING},
};

CASE(bad_header_drops_packet) {
	uint8_t f[KIT_PACKET_MAX];
	size_t n;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		n = write_invalid(f);
		store_be16(f + cases[i].at, (uint16_t)(load_be16(f + cases[i].at) + cases[i].plus));
		if (cases[i].checksum)
			update_checksum(f);
		check_dropped(f, n, cases[i].reason);
	}
	n = write_invalid(f);
	check_dropped(f, ETHERNET_HEADER - 1, DROP_OUTER_RUNT);
	store_be16(f + IP + 2, IPV4_HEADER + 3);
	update_checksum(f);
	check_dropped(f, n, DROP_L2TP_TRUNCATED);
	write_invalid(f);
	store_be32(f + SESSION, 0);
	check_dropped(f, n, DROP_L2TP_CONTROL);
	process(f, write_valid(f));
}

CASE(l2tpv2_packet_is_dropped) {
	uint8_t f[KIT_PACKET_MAX];

	write_invalid(f);
	f[IP + 9] = IP_PROTOCOL_UDP;
	update_checksum(f);
	store_be32(f + SESSION, L2TP_PORT << 16 | L2TP_PORT);
	store_be32(f + SESSION + 4, (PACKET - 1u) << 16);
	store_be32(f + SESSION + 8, 0x00020000);
	check_dropped(f, IP + load_be16(f + IP + 2), DROP_L2TP_VERSION);
}

CASE(packet_with_wrong_ip_address_is_dropped) {
	uint8_t f[KIT_PACKET_MAX];
	size_t n;

	for (unsigned at = 12; at < 20; at++) { /* each byte of both addresses */
		n = write_invalid(f);
		f[IP + at] ^= 1;
		update_checksum(f);
		check_dropped(f, n, DROP_OUTER_ADDRESS);
	}
	/* IPv6 addresses with the same first bytes */
	kit->sg.rphy.core_ip.family = kit->sg.rphy.rpd_ip.family = 6;
	n = write_invalid(f);
	kit->sg.rphy.core_ip.family = kit->sg.rphy.rpd_ip.family = 4;
	check_dropped(f, n, DROP_OUTER_ADDRESS);
}

CASE(packet_in_two_buffers_is_dropped) {
	struct rte_mbuf *m, *more;
	uint8_t f[KIT_PACKET_MAX];

	m = fixture_packet_create(kit->packets, f, write_invalid(f));
	more = fixture_packet_create(kit->packets, f, 10);
	rte_pktmbuf_chain(m, more);
	assert_int_equal(rte_eth_tx_burst(kit->rphy, 0, &m, 1), 1);
	kit->injected++;
	kit_expect_drops(DROP_OUTER_CHAINED, 1);
	kit_settle();
}

CASE(ethernet_padding_is_ignored) {
	uint8_t f[KIT_PACKET_MAX] = {0};
	size_t n;

	n = write_valid(f);
	memset(f + n, 0xee, 10);
	process(f, n + 10);
}

static void use_ipv6(void) {
	kit->sg.rphy.core_ip = (struct ip_address){6, {0x20, 1, [15] = 1}};
	kit->sg.rphy.rpd_ip = (struct ip_address){6, {0x20, 1, [15] = 2}};
}

CASE(packets_over_ipv6, .prepare = use_ipv6) {
	uint8_t f[KIT_PACKET_MAX];

	process(f, write_valid(f));
	kit_check_complete(PLAIN);
	for (unsigned at = 8; at < 40; at++) {
		size_t n = write_invalid(f);

		f[IP + at] ^= 0x10;
		check_dropped(f, n, DROP_OUTER_ADDRESS);
	}
}
