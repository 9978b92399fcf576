/* SPDX-License-Identifier: BSD-3-Clause */
/* Source verification: whose addresses they are, and what hosts may send without one. */
#include "upstream_source.h"

static void ipv4_sources(void **state) {
	(void)state;
	bench_open(bench);
	ipv4(0x0a000201, IP_PROTOCOL_UDP);
	check(SIZE, DROP_REASONS);
	for (unsigned bit = 0; bit < 32; bit++) {
		ipv4(0x0a000201 ^ 1u << bit, IP_PROTOCOL_UDP);
		check(SIZE, DROP_SOURCE_ADDRESS);
	}
	ipv4(0x0a000301, IP_PROTOCOL_UDP); /* of another modem */
	check(SIZE, DROP_SOURCE_ADDRESS);
	assert_int_equal(bench_count(bench, COUNTER_IPV4), 34);
	bench_close(bench);
}

/* Every bit of the header counts, but those that say how it is read. */
static void ipv4_header_checksum(void **state) {
	(void)state;
	bench_open(bench);
	ipv4(0x0a000201, IP_PROTOCOL_UDP);
	check(SIZE, DROP_REASONS);
	for (unsigned bit = 4 * 8; bit < IPV4_HEADER * 8; bit++) {
		f[IP + bit / 8] ^= (uint8_t)(1 << bit % 8);
		check_raw(SIZE, DROP_IPV4_CHECKSUM);
		f[IP + bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	check_raw(SIZE, DROP_REASONS);
	assert_int_equal(bench_count(bench, COUNTER_IPV4), 2);
	bench_close(bench);
}

static void ipv6_sources(void **state) {
	char other[16];

	(void)state;
	bench_open(bench);
	ipv6(own, IP_PROTOCOL_TCP);
	check(SIZE, DROP_REASONS);
	for (unsigned bit = 0; bit < 128; bit++) {
		memcpy(other, own, 16);
		other[bit / 8] ^= (char)(1 << bit % 8);
		ipv6(other, IP_PROTOCOL_TCP);
		check(SIZE, DROP_SOURCE_ADDRESS);
	}
	assert_int_equal(bench_count(bench, COUNTER_IPV6), 129);
	bench_close(bench);
}

/* Each of several, of both families and in any order; none of the modem before or behind it. */
static void any_address_of_the_modem(void **state) {
	static struct ip_address several[] = {
		{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 0x21}}, {4, {10, 0, 2, 7}},
		{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 0x22}}, {4, {10, 0, 2, 9}},
		{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 0x23}}, {4, {10, 0, 2, 8}},
	};

	(void)state;
	bench_prepare(bench);
	bench->modems[2].addresses = several;
	bench->modems[2].address_count = ARRAY_COUNT(several);
	bench_start(bench);
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
	bench_close(bench);
}

static void dhcp(void **state) {
	(void)state;
	bench_open(bench);
	ipv4(0, IP_PROTOCOL_UDP);
	check(SIZE, DROP_SOURCE_ADDRESS);
	udp(f + IP + IPV4_HEADER, 68, 67);
	check(SIZE, DROP_REASONS);
	udp(f + IP + IPV4_HEADER, 40000, 67);
	check(SIZE, DROP_REASONS);
	udp(f + IP + IPV4_HEADER, 67, 68);
	check(SIZE, DROP_SOURCE_ADDRESS);
	udp(f + IP + IPV4_HEADER, 68, 53);
	check(SIZE, DROP_SOURCE_ADDRESS);
	ipv4(0, IP_PROTOCOL_TCP);
	udp(f + IP + IPV4_HEADER, 68, 67);
	check(SIZE, DROP_SOURCE_ADDRESS);
	ipv4(0, IP_PROTOCOL_UDP); /* a later fragment has no ports */
	store_be16(f + IP + 6, 8);
	udp(f + IP + IPV4_HEADER, 68, 67);
	check(SIZE, DROP_SOURCE_ADDRESS);
	ipv4(0x0a000209, IP_PROTOCOL_UDP); /* with an address, but not its own */
	udp(f + IP + IPV4_HEADER, 68, 67);
	check(SIZE, DROP_SOURCE_ADDRESS);
	bench_close(bench);
}

static void arp_senders(void **state) {
	(void)state;
	bench_open(bench);
	arp(0x0a000201);
	check(SIZE, DROP_REASONS);
	arp(0); /* a probe */
	check(SIZE, DROP_REASONS);
	arp(0x0a000301);
	check(SIZE, DROP_SOURCE_ADDRESS);
	arp(0x0a000201);
	check(IP + 27, DROP_ARP_MALFORMED);
	bench_close(bench);
}

static void neighbours(void **state) {
	static const char *const sources[] = {link_local, link_local_end};

	(void)state;
	bench_open(bench);
	for (unsigned i = 0; i < ARRAY_COUNT(sources); i++) {
		ipv6(sources[i], ICMPV6);
		check(SIZE, DROP_REASONS);
		ipv6(sources[i], IP_PROTOCOL_TCP);
		check(SIZE, DROP_SOURCE_ADDRESS);
	}
	ipv6(site_local, ICMPV6);
	check(SIZE, DROP_SOURCE_ADDRESS);
	bench_close(bench);
}

static void dhcpv6(void **state) {
	(void)state;
	bench_open(bench);
	ipv6(link_local, IP_PROTOCOL_UDP);
	check(SIZE, DROP_SOURCE_ADDRESS);
	udp(f + UDP6, 546, 547);
	check(SIZE, DROP_REASONS);
	udp(f + UDP6, 1,
	    547); /* RFC 8415, 7.2: servers listen there, and nothing is said of the source */
	check(SIZE, DROP_REASONS);
	udp(f + UDP6, 547, 546);
	check(SIZE, DROP_SOURCE_ADDRESS);
	ipv6(unspecified, IP_PROTOCOL_UDP);
	udp(f + UDP6, 546, 547);
	check(SIZE, DROP_SOURCE_ADDRESS);
	bench_close(bench);
}

static void neither_ip_nor_arp(void **state) {
	(void)state;
	bench_open(bench);
	start(0x88b5);
	check(SIZE, DROP_REASONS);
	check(ETHERNET_HEADER, DROP_REASONS);
	start(40); /* an 802.3 length */
	check(SIZE, DROP_REASONS);
	assert_int_equal(bench_count(bench, COUNTER_LLC), 3);
	bench_close(bench);
}

static void malformed(void **state) {
	(void)state;
	bench_open(bench);
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
	bench_close(bench);
}

/* Switched off, all of it passes as it is. */
static void without_verification(void **state) {
	(void)state;
	bench_prepare(bench);
	bench->sg.upstream.verify_source = false;
	bench_start(bench);
	ipv4(0x01020304, IP_PROTOCOL_UDP);
	check(SIZE, DROP_REASONS);
	f[IP] = 0x44;
	check(SIZE, DROP_REASONS);
	start(ETHERTYPE_VLAN);
	f[15] = 1;
	check(SIZE, DROP_REASONS);
	check(ETHERNET_HEADER, DROP_REASONS);
	assert_int_equal(bench_count(bench, COUNTER_IPV4), 0);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_sources),
		cmocka_unit_test(ipv4_header_checksum),
		cmocka_unit_test(ipv6_sources),
		cmocka_unit_test(any_address_of_the_modem),
		cmocka_unit_test(dhcp),
		cmocka_unit_test(arp_senders),
		cmocka_unit_test(neighbours),
		cmocka_unit_test(dhcpv6),
		cmocka_unit_test(neither_ip_nor_arp),
		cmocka_unit_test(malformed),
		cmocka_unit_test(without_verification),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
