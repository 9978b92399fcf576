/* SPDX-License-Identifier: BSD-3-Clause */
/* L2TPv3 packets: each reason to drop one. */

#include <rte_ethdev.h>

#include "wire/bytes.h"
#include "wire/ip.h"

#include "upstream_cases.h"

#define IP ETHERNET_HEADER
#define SESSION (IP + IPV4_HEADER)
#define PSP (SESSION + L2TP_SESSION_SIZE)
#define PACKET 64 /* bytes of IP in a good packet */

/* Its size when it is written. */
static size_t good(uint8_t *out) {
	struct bench_psp p;

	bench_packet(&p, PLAIN, PACKET);
	return psp_write(&p, out);
}

static void sent(const uint8_t *frame, size_t size) {
	bench_inject(frame, size);
	bench_settle();
}

/* Nothing comes of a packet that is not good; its number and its serial are used again. */
static size_t bad(uint8_t *out) {
	size_t size = good(out);

	bench->serial[PLAIN]--;
	bench->psp[0][0]--;
	return size;
}

static void refused(const uint8_t *frame, size_t size, enum drop_reason reason) {
	sent(frame, size);
	bench_dropped(reason, 1);
}

static void checksum(uint8_t *frame) {
	store_be16(frame + IP + 10, ipv4_checksum(frame + IP, IPV4_HEADER));
}

/* What is added to 16 bits of a good packet, and whether its IP checksum is made good again. */
static const struct {
	size_t at;
	uint16_t plus;
	bool checksum;
	enum drop_reason reason;
} rows[] = {
	{12, ETHERTYPE_ARP - ETHERTYPE_IPV4, false, DROP_NOT_L2TP},
	{IP, 0xff00, true, DROP_OUTER_IP_HEADER}, /* 0x44: a header too short */
	{IP + 2, 1, true, DROP_OUTER_IP_LENGTH},
	{IP + 10, 0x100, false, DROP_OUTER_IP_CHECKSUM},
	{IP + 6, 0x2000, true, DROP_OUTER_FRAGMENT},
	{IP + 8, 1, true, DROP_NOT_L2TP}, /* another protocol */
	{SESSION + 2, 8, false, DROP_UNKNOWN_SESSION},
	{PSP, PSP_VCCV << 8, false, DROP_PSP_CONTROL},
	{PSP, 0x1000, false, DROP_PSP_EXTENDED},
	{PSP + PSP_HEADER_FIXED, 1, false, DROP_PSP_TRUNCATED}, /* a segment longer than it is */
	{PSP + PSP_HEADER_FIXED, 0xffff, false, DROP_PSP_TRAILING},
};

CASE(headers) {
	uint8_t f[BENCH_PACKET_MAX];
	size_t n;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		n = bad(f);
		store_be16(f + rows[i].at, (uint16_t)(load_be16(f + rows[i].at) + rows[i].plus));
		if (rows[i].checksum)
			checksum(f);
		refused(f, n, rows[i].reason);
	}
	n = bad(f);
	refused(f, ETHERNET_HEADER - 1, DROP_OUTER_RUNT);
	store_be16(f + IP + 2, IPV4_HEADER + 3);
	checksum(f);
	refused(f, n, DROP_L2TP_TRUNCATED);
	bad(f);
	store_be32(f + SESSION, 0);
	refused(f, n, DROP_L2TP_CONTROL);
	sent(f, good(f));
}

CASE(version_of_l2tp) {
	uint8_t f[BENCH_PACKET_MAX];

	bad(f);
	f[IP + 9] = IP_PROTOCOL_UDP;
	checksum(f);
	store_be32(f + SESSION, L2TP_PORT << 16 | L2TP_PORT);
	store_be32(f + SESSION + 4, (PACKET - 1u) << 16);
	store_be32(f + SESSION + 8, 0x00020000);
	refused(f, IP + load_be16(f + IP + 2), DROP_L2TP_VERSION);
}

CASE(only_from_the_device_to_us) {
	uint8_t f[BENCH_PACKET_MAX];
	size_t n;

	for (unsigned at = 12; at < 20; at++) { /* each byte of both addresses */
		n = bad(f);
		f[IP + at] ^= 1;
		checksum(f);
		refused(f, n, DROP_OUTER_ADDRESS);
	}
	/* IPv6 addresses that begin like ours */
	bench->sg.rphy.core_ip.family = bench->sg.rphy.rpd_ip.family = 6;
	n = bad(f);
	bench->sg.rphy.core_ip.family = bench->sg.rphy.rpd_ip.family = 4;
	refused(f, n, DROP_OUTER_ADDRESS);
}

CASE(stands_in_one_buffer) {
	struct rte_mbuf *m, *more;
	uint8_t f[BENCH_PACKET_MAX];

	m = fixture_packet(bench->packets, f, bad(f));
	more = fixture_packet(bench->packets, f, 10);
	rte_pktmbuf_chain(m, more);
	assert_int_equal(rte_eth_tx_burst(bench->rphy, 0, &m, 1), 1);
	bench->injected++;
	bench_expect(DROP_OUTER_CHAINED, 1);
	bench_settle();
}

CASE(padding_of_ethernet) {
	uint8_t f[BENCH_PACKET_MAX] = {0};
	size_t n;

	n = good(f);
	memset(f + n, 0xee, 10);
	sent(f, n + 10);
}

static void ipv6(void) {
	bench->sg.rphy.core_ip = (struct ip_address){6, {0x20, 1, [15] = 1}};
	bench->sg.rphy.rpd_ip = (struct ip_address){6, {0x20, 1, [15] = 2}};
}

CASE(over_ipv6, .prepare = ipv6) {
	uint8_t f[BENCH_PACKET_MAX];

	sent(f, good(f));
	bench_complete(PLAIN);
	for (unsigned at = 8; at < 40; at++) {
		size_t n = bad(f);

		f[IP + at] ^= 0x10;
		refused(f, n, DROP_OUTER_ADDRESS);
	}
}
