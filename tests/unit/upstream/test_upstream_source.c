/* SPDX-License-Identifier: BSD-3-Clause */
/* Source verification: whose addresses they are, what hosts may send without one, its rate, and tags without a VLAN. */
#include "wire/bytes.h"
#include "wire/ip.h"

#include "packets.h"
#include "upstream_cases.h"

/* Frames of FRAMED, whose modem has 10.0.2.1 and 2001:db8::3. */
#define SIZE 90
#define IP ETHERNET_HEADER
#define UDP6 (IP + IPV6_HEADER)
#define ICMPV6 58
#define IGMP 2
#define LEAST 60 /* bytes of an Ethernet frame without its CRC */
#define AT_ONCE 200
#define INTERVAL_NS 10000000

static uint8_t f[SIZE];

static const char own[16] = {0x20, 0x01, 0x0d, (char)0xb8, [15] = 3};
static const char unspecified[16];
static const char link_local[16] = {(char)0xfe, (char)0x80, [15] = 9};
static const char link_local_end[16] = {(char)0xfe, (char)0xbf, [15] = 9};
static const char site_local[16] = {(char)0xfe, (char)0xc0, [15] = 9};
static const char own4[4] = {10, 0, 2, 1}, free4[4] = {10, 0, 2, 9}, foreign4[4] = {10, 0, 3, 1};

/* Sends it as it is. `reason` DROP_REASONS: it must come as it is. */
static void check_raw(size_t size, enum drop_reason reason) {
	uint8_t bytes[BENCH_FRAME_MAX];
	uint32_t others = bench->others;

	bench_handle(FRAMED, bytes, bench_clear(2, DOCSIS_KIND_PACKET, f, size, bytes));
	if (reason != DROP_REASONS) {
		bench_dropped(reason, 1);
		assert_int_equal(bench->others, others);
		return;
	}
	assert_int_equal(bench->others, others + 1);
	assert_int_equal(bench->other_size, size < LEAST ? LEAST : size);
	assert_memory_equal(bench->other, f, size);
	for (size_t i = size; i < LEAST; i++)
		assert_int_equal(bench->other[i], 0);
}

/* Sends it with the right checksum, if it is IPv4. */
static void check(size_t size, enum drop_reason reason) {
	if (load_be16(f + 12) == ETHERTYPE_IPV4)
		store_be16(f + IP + 10, ipv4_checksum(f + IP, IPV4_HEADER));
	check_raw(size, reason);
}

/* A frame of the type, from an address of its family, with the first 32 bits behind IP. */
static void make(uint16_t ethertype, const char *source, uint8_t protocol, uint16_t from,
		 uint16_t to) {
	static const uint8_t to4[] = {198, 51, 100, 1}, to6[16] = {0x20, 1, 0x0d, 0xb8};
	uint8_t *behind = f + (ethertype == ETHERTYPE_IPV6 ? UDP6 : IP + IPV4_HEADER);

	if (ethertype == ETHERTYPE_ARP) {
		packet_arp(f, SIZE, 0, to4);
		memcpy(f + IP + 14, source, 4);
	} else if (ethertype == ETHERTYPE_IPV4) {
		packet_ipv4(f, SIZE, 0, to4);
		f[IP + 9] = protocol;
		memcpy(f + IP + 12, source, 4);
	} else if (ethertype == ETHERTYPE_IPV6) {
		packet_ipv6(f, SIZE, 0, to6);
		f[IP + 6] = protocol;
		memcpy(f + IP + 8, source, 16);
	} else {
		packet_llc(f, SIZE, 0, bench->sg.rphy.core_mac);
		store_be16(f + 12, ethertype);
	}
	if (ethertype != ETHERTYPE_IPV4 && ethertype != ETHERTYPE_IPV6)
		return;
	store_be16(behind, from);
	store_be16(behind + 2, to);
}

static void ipv4(const char *source, uint8_t protocol) {
	make(ETHERTYPE_IPV4, source, protocol, 1000, 2000);
}

static void ipv6(const char *source, uint8_t protocol) {
	make(ETHERTYPE_IPV6, source, protocol, 1000, 2000);
}

/* A frame from an address of either family. */
static void from_address(uint8_t family, const uint8_t *source, enum drop_reason reason) {
	if (family == 4)
		ipv4((const char *)source, IP_PROTOCOL_UDP);
	else
		ipv6((const char *)source, IP_PROTOCOL_TCP);
	check(SIZE, reason);
}

CASE(every_bit_of_an_address) {
	for (unsigned i = 0; i < 2; i++) {
		struct ip_address a = bench->modems[2].addresses[i];

		from_address(a.family, a.bytes, DROP_REASONS);
		for (unsigned bit = 0; bit < (a.family == 4 ? 32 : 128); bit++) {
			a.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			from_address(a.family, a.bytes, DROP_SOURCE_ADDRESS);
			a.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	assert_int_equal(bench_count(COUNTER_IPV4), 33);
	assert_int_equal(bench_count(COUNTER_IPV6), 129);
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
CASE(any_address_of_the_modem, .prepare = several_addresses) {
	for (unsigned a = 0; a < ARRAY_COUNT(several); a++)
		from_address(several[a].family, several[a].bytes, DROP_REASONS);
	for (unsigned i = 0; i < 4; i++) {
		const struct ip_address *a = &bench->modems[1 + i / 2 * 2].addresses[i % 2];

		from_address(a->family, a->bytes, DROP_SOURCE_ADDRESS);
	}
}

/* Where `at` is not 0, 16 bits there are `value`; a size of 0 is all of it. */
static const struct {
	uint16_t ethertype;
	const char *source;
	uint8_t protocol;
	uint16_t from, to; /* ports, or what else is behind IP */
	enum drop_reason reason; /* DROP_REASONS: it passes */
	uint16_t at, value;
	size_t size;
} rows[] = {
	/* DHCP, to its server alone */
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 1000, 2000, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 68, 67, DROP_REASONS},
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 40000, 67, DROP_REASONS},
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 67, 68, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 68, 53, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_TCP, 68, 67, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV4, free4, IP_PROTOCOL_UDP, 68, 67, DROP_SOURCE_ADDRESS},
	/* a later fragment has no ports */
	{ETHERTYPE_IPV4, unspecified, IP_PROTOCOL_UDP, 68, 67, DROP_SOURCE_ADDRESS, IP + 6, 8},
	{ETHERTYPE_IPV4, foreign4, IP_PROTOCOL_UDP, 1, 2, DROP_SOURCE_ADDRESS},
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
	/* behind the router alert that MLD has; without a type; RFC 6980: never a fragment */
	{ETHERTYPE_IPV6, unspecified, 0, ICMPV6 << 8, 0, DROP_REASONS, UDP6 + 8, 143 << 8},
	{ETHERTYPE_IPV6, unspecified, ICMPV6, 135 << 8, 0, DROP_SOURCE_ADDRESS, IP + 4, 0},
	{ETHERTYPE_IPV6, unspecified, 44, ICMPV6 << 8, 1, DROP_SOURCE_ADDRESS, UDP6 + 8, 135 << 8,
	 0},
	/* neither IP nor ARP, without anything and of an 802.3 length */
	{0x88b5, NULL, 0, 0, 0, DROP_REASONS},
	{0x88b5, NULL, 0, 0, 0, DROP_REASONS, 0, 0, ETHERNET_HEADER},
	{40, NULL, 0, 0, 0, DROP_REASONS},
	/* malformed */
	{ETHERTYPE_VLAN, NULL, 0, 0, 0, DROP_VLAN, 14, 1},
	{ETHERTYPE_SERVICE_VLAN, NULL, 0, 0, 0, DROP_VLAN},
	{ETHERTYPE_IPV4, own4, IP_PROTOCOL_UDP, 1, 2, DROP_IPV4_HEADER, IP, 0x4400},
	{ETHERTYPE_IPV4, own4, IP_PROTOCOL_UDP, 1, 2, DROP_IPV4_LENGTH, 0, 0, SIZE - 1},
	{ETHERTYPE_IPV4, own4, IP_PROTOCOL_UDP, 1, 2, DROP_IPV4_HEADER, 0, 0, IP + 19},
	{ETHERTYPE_IPV6, own, IP_PROTOCOL_UDP, 1, 2, DROP_IPV6_HEADER, IP, 0x4000},
	{ETHERTYPE_IPV6, own, IP_PROTOCOL_UDP, 1, 2, DROP_IPV6_LENGTH, 0, 0, SIZE - 1},
	{ETHERTYPE_IPV6, own, IP_PROTOCOL_UDP, 1, 2, DROP_IPV6_HEADER, 0, 0, UDP6 - 1},
	{ETHERTYPE_ARP, own4, 0, 0, 0, DROP_ARP_MALFORMED, 0, 0, IP + 27},
};

static void unverified(void) {
	bench->sg.upstream.verify_source = false;
}

/* Switched off, all of it passes as it is. */
CASE(what_passes) {
	bool verified = bench->sg.upstream.verify_source;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		make(rows[i].ethertype, rows[i].source, rows[i].protocol, rows[i].from, rows[i].to);
		if (rows[i].at > 0)
			store_be16(f + rows[i].at, rows[i].value);
		check(rows[i].size > 0 ? rows[i].size : SIZE,
		      verified ? rows[i].reason : DROP_REASONS);
	}
	assert_int_equal(bench_count(COUNTER_IPV4), verified ? 11 : 0);
	assert_int_equal(bench_count(COUNTER_IPV6), verified ? 14 : 0);
	assert_int_equal(bench_count(COUNTER_LLC), verified ? 6 : 0);
}
CASE_AGAIN(unverified, what_passes)

/* RFC 4861, 4.1 and 4.3, and RFC 3590: MLD, and solicitations of routers and of one's own address. */
CASE(before_there_is_an_address) {
	static const uint8_t types[] = {131, 132, 133, 135, 143};
	uint32_t passed = 0;

	for (unsigned type = 0; type < 256; type++) {
		bool passes = memchr(types, (int)type, sizeof(types)) != NULL;

		make(ETHERTYPE_IPV6, unspecified, ICMPV6, (uint16_t)(type << 8), 0);
		check(SIZE, passes ? DROP_REASONS : DROP_SOURCE_ADDRESS);
		passed += passes;
	}
	assert_int_equal(passed, sizeof(types));
}

/* So many frames of these pass, of all kinds in turn, and no more. */
static void pass_and_no_more(unsigned count) {
	for (unsigned i = 0; i < count + 2; i++) {
		if (i % 3 == 0)
			make(ETHERTYPE_ARP, unspecified, 0, 0, 0);
		else if (i % 3 == 1)
			ipv6(link_local, ICMPV6);
		else
			ipv4(unspecified, IGMP);
		check(SIZE, i < count ? DROP_REASONS : DROP_SOURCE_RATE);
	}
}

/* All kinds count together, by modem; what has an address of the modem's does not. */
CASE(they_have_a_rate) {
	static const struct {
		uint64_t ns;
		unsigned passes;
	} steps[] = {
		{77 * (uint64_t)INTERVAL_NS, AT_ONCE},
		{INTERVAL_NS - 1, 0},
		{1, 1},
		{3 * (uint64_t)INTERVAL_NS, 3},
		{1000 * (uint64_t)INTERVAL_NS, AT_ONCE},
	};

	for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
		bench->clock.now += steps[i].ns;
		pass_and_no_more(steps[i].passes);
	}
	ipv4(unspecified, IP_PROTOCOL_TCP); /* not of these: another reason */
	check(SIZE, DROP_SOURCE_ADDRESS);
	ipv4(own4, IP_PROTOCOL_TCP);
	check(SIZE, DROP_REASONS);
}

/* The frame in `f` with a tag: `size` becomes that with it. */
static size_t put_tag(uint16_t type, uint16_t control, size_t size) {
	memmove(f + 16, f + 12, size - 12);
	store_be16(f + 12, type);
	store_be16(f + 14, control);
	return size + 4;
}

/* IEEE 802.1Q, 6.9: a tag without a VLAN says a priority, which no medium here has: it is taken off. */
CASE(tags_without_a_vlan) {
	static const uint16_t controls[] = {0, 0xe000, 0x1000, 0x7000};
	uint8_t plain[SIZE], bytes[BENCH_FRAME_MAX];

	for (unsigned i = 0; i < ARRAY_COUNT(controls); i++) {
		ipv6(own, IP_PROTOCOL_TCP);
		store_be16(f + IP + 4, SIZE - 4 - UDP6);
		memcpy(plain, f, SIZE - 4);
		put_tag(ETHERTYPE_VLAN, controls[i], SIZE - 4);
		bench_handle(FRAMED, bytes, bench_clear(2, DOCSIS_KIND_PACKET, f, SIZE, bytes));
		assert_int_equal(bench->others, i + 1);
		assert_int_equal(bench->other_size, SIZE - 4);
		assert_memory_equal(bench->other, plain, SIZE - 4);
	}
}
CASE_AGAIN(unverified, tags_without_a_vlan)

CASE(tags_that_are_looked_behind) {
	static const uint16_t types[] = {ETHERTYPE_VLAN, ETHERTYPE_SERVICE_VLAN, ETHERTYPE_VLAN};
	static const uint16_t vlans[] = {1, 0, 0};

	ipv4(free4, IP_PROTOCOL_UDP);
	store_be16(f + IP + 2, SIZE - 4 - IP);
	store_be16(f + IP + 10, ipv4_checksum(f + IP, IPV4_HEADER));
	check_raw(put_tag(ETHERTYPE_VLAN, 0, SIZE - 4), DROP_SOURCE_ADDRESS);
	f[IP + 4 + 12] ^= 1; /* its source address */
	check_raw(SIZE, DROP_IPV4_CHECKSUM);
	for (unsigned i = 0; i < ARRAY_COUNT(types); i++) {
		ipv6(own, IP_PROTOCOL_TCP);
		if (i == 2) /* behind another */
			put_tag(ETHERTYPE_VLAN, 0, SIZE - 8);
		check_raw(put_tag(types[i], vlans[i], SIZE - 4), DROP_VLAN);
	}
}
