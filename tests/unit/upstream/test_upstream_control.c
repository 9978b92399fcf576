/* SPDX-License-Identifier: BSD-3-Clause */
/* Source verification: what hosts send before they have an address, its rate, and tags without a VLAN. */
#include "upstream_source.h"

#define AT_ONCE 200
#define INTERVAL_NS 10000000

/* RFC 4861, 4.1 and 4.3, and RFC 3590: MLD, and solicitations of routers and of one's own address. */
static void before_there_is_an_address(void) {
	static const uint8_t types[] = {131, 132, 133, 135, 143};
	uint32_t passed = 0;

	for (unsigned type = 0; type < 256; type++) {
		bool passes = memchr(types, (int)type, sizeof(types)) != NULL;

		ipv6(unspecified, ICMPV6);
		f[UDP6] = (uint8_t)type;
		check(SIZE, passes ? DROP_REASONS : DROP_SOURCE_ADDRESS);
		passed += passes;
	}
	assert_int_equal(passed, sizeof(types));
	ipv6(unspecified, IP_PROTOCOL_TCP);
	f[UDP6] = 135;
	check(SIZE, DROP_SOURCE_ADDRESS);
	ipv6(unspecified, 0); /* behind the router alert that MLD has */
	f[UDP6] = ICMPV6;
	f[UDP6 + 1] = 0;
	f[UDP6 + 8] = 143;
	check(SIZE, DROP_REASONS);
	ipv6(unspecified, ICMPV6); /* without a type */
	store_be16(f + IP + 4, 0);
	f[UDP6] = 135;
	check(SIZE, DROP_SOURCE_ADDRESS);
	ipv6(unspecified, 44); /* RFC 6980: never a fragment */
	f[UDP6] = ICMPV6;
	store_be16(f + UDP6 + 2, 1);
	f[UDP6 + 8] = 135;
	check(SIZE, DROP_SOURCE_ADDRESS);
}

/* All kinds count together, by modem; what has an address of the modem's does not. */
static void they_have_a_rate(void) {
	bench->clock.now = 77 * (uint64_t)INTERVAL_NS;
	for (unsigned i = 0; i < AT_ONCE; i++) {
		if (i % 2)
			arp(0);
		else
			ipv6(link_local, ICMPV6);
		check(SIZE, DROP_REASONS);
	}
	check(SIZE, DROP_SOURCE_RATE);
	ipv4(0, IGMP);
	check(SIZE, DROP_SOURCE_RATE);
	ipv4(0, IP_PROTOCOL_TCP); /* not of these: another reason */
	check(SIZE, DROP_SOURCE_ADDRESS);
	ipv4(0x0a000201, IP_PROTOCOL_TCP);
	check(SIZE, DROP_REASONS);
	bench->clock.now += INTERVAL_NS - 1;
	arp(0);
	check(SIZE, DROP_SOURCE_RATE);
	bench->clock.now += 1;
	check(SIZE, DROP_REASONS);
	check(SIZE, DROP_SOURCE_RATE);
	bench->clock.now += (uint64_t)3 * INTERVAL_NS;
	for (unsigned i = 0; i < 3; i++)
		check(SIZE, DROP_REASONS);
	check(SIZE, DROP_SOURCE_RATE);
	bench->clock.now += (uint64_t)1000 * INTERVAL_NS; /* no more than at first */
	for (unsigned i = 0; i < AT_ONCE; i++)
		check(SIZE, DROP_REASONS);
	check(SIZE, DROP_SOURCE_RATE);
}

/* The frame in `f` with a tag: `size` becomes that with it. */
static size_t put_tag(uint16_t type, uint16_t control, size_t size) {
	memmove(f + 16, f + 12, size - 12);
	store_be16(f + 12, type);
	store_be16(f + 14, control);
	return size + 4;
}

static void unverified(void) {
	bench->sg.upstream.verify_source = false;
}

/* IEEE 802.1Q, 6.9: a tag without a VLAN says a priority, which no medium here has: it is taken off. */
static void tags_without_a_vlan(void) {
	static const uint16_t controls[] = {0, 0xe000, 0x1000, 0x7000};
	static const struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};
	uint8_t plain[SIZE];

	for (unsigned i = 0; i < ARRAY_COUNT(controls); i++) {
		uint8_t bytes[BENCH_FRAME_MAX];
		size_t size;

		ipv6(own, IP_PROTOCOL_TCP);
		store_be16(f + IP + 4, SIZE - 4 - UDP6);
		memcpy(plain, f, SIZE - 4);
		size = put_tag(ETHERTYPE_VLAN, controls[i], SIZE - 4);
		bench_handle(FRAMED, bytes, bench_frame(bench, 2, &h, f, size, bytes));
		assert_int_equal(bench->others, i + 1);
		assert_int_equal(bench->other_size, SIZE - 4);
		assert_memory_equal(bench->other, plain, SIZE - 4);
	}
}

static void tags_that_are_looked_behind(void) {
	ipv4(0x0a000209, IP_PROTOCOL_UDP);
	store_be16(f + IP + 2, SIZE - 4 - IP);
	store_be16(f + IP + 10, ipv4_checksum(f + IP, IPV4_HEADER));
	check_raw(put_tag(ETHERTYPE_VLAN, 0, SIZE - 4), DROP_SOURCE_ADDRESS);
	f[IP + 4 + 12] ^= 1; /* its source address */
	check_raw(SIZE, DROP_IPV4_CHECKSUM);
	ipv6(own, IP_PROTOCOL_TCP);
	check_raw(put_tag(ETHERTYPE_VLAN, 1, SIZE - 4), DROP_VLAN);
	ipv6(own, IP_PROTOCOL_TCP);
	check_raw(put_tag(ETHERTYPE_SERVICE_VLAN, 0, SIZE - 4), DROP_VLAN);
	ipv6(own, IP_PROTOCOL_TCP);
	put_tag(ETHERTYPE_VLAN, 0, SIZE - 8);
	check_raw(put_tag(ETHERTYPE_VLAN, 0, SIZE - 4), DROP_VLAN);
}

int main(void) {
	static const struct bench_case cases[] = {
		BENCH_CASE(before_there_is_an_address),
		BENCH_CASE(they_have_a_rate),
		BENCH_CASE(tags_without_a_vlan),
		BENCH_PREPARED(unverified, tags_without_a_vlan),
		BENCH_CASE(tags_that_are_looked_behind),
	};

	return bench_run(cases, ARRAY_COUNT(cases), NULL);
}
