/* SPDX-License-Identifier: BSD-3-Clause */
/* Source verification: whose addresses they are, and what hosts may send without one. */
#include "upstream_source.h"

static void ipv4_sources(void) {
	ipv4(0x0a000201, IP_PROTOCOL_UDP);
	check(SIZE, DROP_REASONS);
	for (unsigned bit = 0; bit < 32; bit++) {
		ipv4(0x0a000201 ^ 1u << bit, IP_PROTOCOL_UDP);
		check(SIZE, DROP_SOURCE_ADDRESS);
	}
	ipv4(0x0a000301, IP_PROTOCOL_UDP); /* of another modem */
	check(SIZE, DROP_SOURCE_ADDRESS);
	assert_int_equal(bench_count(bench, COUNTER_IPV4), 34);
}

/* Every bit of the header counts, but those that say how it is read. */
static void ipv4_header_checksum(void) {
	ipv4(0x0a000201, IP_PROTOCOL_UDP);
	check(SIZE, DROP_REASONS);
	for (unsigned bit = 4 * 8; bit < IPV4_HEADER * 8; bit++) {
		f[IP + bit / 8] ^= (uint8_t)(1 << bit % 8);
		check_raw(SIZE, DROP_IPV4_CHECKSUM);
		f[IP + bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	check_raw(SIZE, DROP_REASONS);
	assert_int_equal(bench_count(bench, COUNTER_IPV4), 2);
}

static void ipv6_sources(void) {
	char other[16];

	ipv6(own, IP_PROTOCOL_TCP);
	check(SIZE, DROP_REASONS);
	for (unsigned bit = 0; bit < 128; bit++) {
		memcpy(other, own, 16);
		other[bit / 8] ^= (char)(1 << bit % 8);
		ipv6(other, IP_PROTOCOL_TCP);
		check(SIZE, DROP_SOURCE_ADDRESS);
	}
	assert_int_equal(bench_count(bench, COUNTER_IPV6), 129);
}

static struct ip_address several[] = {
	{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 0x21}}, {4, {10, 0, 2, 7}},
	{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 0x22}}, {4, {10, 0, 2, 9}},
	{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 0x23}}, {4, {10, 0, 2, 8}},
};

static void several_addresses(void) {
	bench->modems[2].addresses = several;
	bench->modems[2].address_count = ARRAY_COUNT(several);
}

/* Each of several, of both families and in any order; none of the modem before or behind it. */
static void any_address_of_the_modem(void) {
	for (unsigned a = 0; a < ARRAY_COUNT(several); a++) {
		if (several[a].family == 4)
			ipv4(load_be32(several[a].bytes), IP_PROTOCOL_UDP);
		else
			ipv6((const char *)several[a].bytes, IP_PROTOCOL_TCP);
		check(SIZE, DROP_REASONS);
	}
	for (unsigned m = 1; m <= 3; m += 2) {
		ipv4(load_be32(bench->modems[m].addresses[0].bytes), IP_PROTOCOL_UDP);
		check(SIZE, DROP_SOURCE_ADDRESS);
		ipv6((const char *)bench->modems[m].addresses[1].bytes, IP_PROTOCOL_TCP);
		check(SIZE, DROP_SOURCE_ADDRESS);
	}
}

static const char own4[4] = {10, 0, 2, 1}, free4[4] = {10, 0, 2, 9}, foreign4[4] = {10, 0, 3, 1};
static const char link_local_end[16] = {(char)0xfe, (char)0xbf, [15] = 9};
static const char site_local[16] = {(char)0xfe, (char)0xc0, [15] = 9};

/* What passes without an address of the modem's own, and what does not. */
static const struct {
	uint16_t ethertype;
	const char *source;
	uint8_t protocol;
	uint16_t from, to; /* ports */
	enum drop_reason reason; /* DROP_REASONS: it passes */
} rows[] = {
	/* DHCP, to its server alone */
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 1000, 2000, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 68, 67, DROP_REASONS},
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 40000, 67, DROP_REASONS},
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 67, 68, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 68, 53, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_TCP, 68, 67, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV4, free4, IP_PROTOCOL_UDP, 68, 67, DROP_SOURCE_ADDRESS},
	/* RFC 3376, 4.2.13: a report of a host that has no address yet */
	{ETHERTYPE_IPV4, unspecified, IGMP, 0, 0, DROP_REASONS},
	{ETHERTYPE_IPV4, free4, IGMP, 0, 0, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_ARP, own4, 0, 0, 0, DROP_REASONS},
	{ETHERTYPE_ARP, unspecified, 0, 0, 0, DROP_REASONS}, /* a probe */
	{ETHERTYPE_ARP, foreign4, 0, 0, 0, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV6, link_local, ICMPV6, 0, 0, DROP_REASONS},
	{ETHERTYPE_IPV6, link_local, IP_PROTOCOL_TCP, 0, 0, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV6, link_local_end, ICMPV6, 0, 0, DROP_REASONS},
	{ETHERTYPE_IPV6, link_local_end, IP_PROTOCOL_TCP, 0, 0, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV6, site_local, ICMPV6, 0, 0, DROP_SOURCE_ADDRESS},
	/* RFC 8415, 7.2: servers listen there, and nothing is said of the source */
	{ETHERTYPE_IPV6, link_local, IP_PROTOCOL_UDP, 1000, 2000, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV6, link_local, IP_PROTOCOL_UDP, 546, 547, DROP_REASONS},
	{ETHERTYPE_IPV6, link_local, IP_PROTOCOL_UDP, 1, 547, DROP_REASONS},
	{ETHERTYPE_IPV6, link_local, IP_PROTOCOL_UDP, 547, 546, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV6, unspecified, IP_PROTOCOL_UDP, 546, 547, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV6, unspecified, IP_PROTOCOL_TCP, 135 << 8, 0, DROP_SOURCE_ADDRESS},
};

static void without_an_own_address(void) {
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		uint32_t ipv4_source = load_be32((const uint8_t *)rows[i].source);

		if (rows[i].ethertype == ETHERTYPE_ARP) {
			arp(ipv4_source);
		} else if (rows[i].ethertype == ETHERTYPE_IPV4) {
			ipv4(ipv4_source, rows[i].protocol);
			udp(f + IP + IPV4_HEADER, rows[i].from, rows[i].to);
		} else {
			ipv6(rows[i].source, rows[i].protocol);
			udp(f + UDP6, rows[i].from, rows[i].to);
		}
		check(SIZE, rows[i].reason);
	}
	ipv4(0, IP_PROTOCOL_UDP); /* a later fragment has no ports */
	store_be16(f + IP + 6, 8);
	udp(f + IP + IPV4_HEADER, 68, 67);
	check(SIZE, DROP_SOURCE_ADDRESS);
	arp(0x0a000201);
	check(IP + 27, DROP_ARP_MALFORMED);
}

static void neither_ip_nor_arp(void) {
	start(0x88b5);
	check(SIZE, DROP_REASONS);
	check(ETHERNET_HEADER, DROP_REASONS);
	start(40); /* an 802.3 length */
	check(SIZE, DROP_REASONS);
	assert_int_equal(bench_count(bench, COUNTER_LLC), 3);
}

static void malformed(void) {
	start(ETHERTYPE_VLAN);
	f[15] = 1;
	check(SIZE, DROP_VLAN);
	start(ETHERTYPE_SERVICE_VLAN);
	check(SIZE, DROP_VLAN);
	ipv4(0x0a000201, IP_PROTOCOL_UDP);
	f[IP] = 0x44;
	check(SIZE, DROP_IPV4_HEADER);
	ipv4(0x0a000201, IP_PROTOCOL_UDP);
	check(SIZE - 1, DROP_IPV4_LENGTH);
	check(IP + IPV4_HEADER - 1, DROP_IPV4_HEADER);
	ipv6(own, IP_PROTOCOL_UDP);
	f[IP] = 0x40;
	check(SIZE, DROP_IPV6_HEADER);
	ipv6(own, IP_PROTOCOL_UDP);
	check(SIZE - 1, DROP_IPV6_LENGTH);
	check(UDP6 - 1, DROP_IPV6_HEADER);
}

static void unverified(void) {
	bench->sg.upstream.verify_source = false;
}

/* Switched off, all of it passes as it is. */
static void without_verification(void) {
	ipv4(0x01020304, IP_PROTOCOL_UDP);
	check(SIZE, DROP_REASONS);
	f[IP] = 0x44;
	check(SIZE, DROP_REASONS);
	start(ETHERTYPE_VLAN);
	f[15] = 1;
	check(SIZE, DROP_REASONS);
	check(ETHERNET_HEADER, DROP_REASONS);
	assert_int_equal(bench_count(bench, COUNTER_IPV4), 0);
}

int main(void) {
	static const struct bench_case cases[] = {
		BENCH_CASE(ipv4_sources),
		BENCH_CASE(ipv4_header_checksum),
		BENCH_CASE(ipv6_sources),
		BENCH_PREPARED(several_addresses, any_address_of_the_modem),
		BENCH_CASE(without_an_own_address),
		BENCH_CASE(neither_ip_nor_arp),
		BENCH_CASE(malformed),
		BENCH_PREPARED(unverified, without_verification),
	};

	return bench_run(cases, ARRAY_COUNT(cases), NULL);
}
