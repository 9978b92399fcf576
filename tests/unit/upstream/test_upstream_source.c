/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the stage verify_source: addresses, frames that need none, their rate limit, VLAN tags. */
#include "wire/bytes.h"
#include "wire/ip.h"

#include "packets.h"
#include "upstream_cases.h"

/* Frames of stream SEGMENTED, whose modem has 10.0.2.1 and 2001:db8::3. */
#define SIZE 90
#define IP ETHERNET_HEADER
#define UDP6 (IP + IPV6_HEADER)
#define ICMPV6 58
#define IGMP 2
#define MIN_FRAME 60 /* bytes of the shortest Ethernet frame without CRC */
#define AT_ONCE 200 /* burst of the rate limit, frames */
#define INTERVAL_NS 10000000 /* per frame of the rate limit */

static uint8_t f[SIZE]; /* the frame to send */

static const char own[16] = {0x20, 0x01, 0x0d, (char)0xb8, [15] = 3};
static const char unspecified[16];
static const char link_local[16] = {(char)0xfe, (char)0x80, [15] = 9};
static const char link_local_end[16] = {(char)0xfe, (char)0xbf, [15] = 9};
static const char site_local[16] = {(char)0xfe, (char)0xc0, [15] = 9};
/* of modem 2, of no modem, of modem 3 */
static const char own4[4] = {10, 0, 2, 1}, free4[4] = {10, 0, 2, 9}, foreign4[4] = {10, 0, 3, 1};

/* Sends the frame unchanged. Expects this drop, or with DROP_REASONS the frame. */
static void check_unchanged(size_t size, enum drop_reason reason) {
	uint8_t bytes[KIT_FRAME_MAX];
	uint32_t other_frames = kit->other_frames;

	kit_process(SEGMENTED, bytes, kit_write_clear_frame(2, DOCSIS_KIND_PACKET, f, size, bytes));
	if (reason != DROP_REASONS) {
		kit_check_dropped(reason, 1);
		assert_int_equal(kit->other_frames, other_frames);
		return;
	}
	assert_int_equal(kit->other_frames, other_frames + 1);
	assert_int_equal(kit->other_size, size < MIN_FRAME ? MIN_FRAME : size);
	assert_memory_equal(kit->other, f, size);
	for (size_t i = size; i < MIN_FRAME; i++)
		assert_int_equal(kit->other[i], 0);
}

/* The same, with a correct checksum if the frame is IPv4. */
static void check_frame(size_t size, enum drop_reason reason) {
	if (load_be16(f + 12) == ETHERTYPE_IPV4)
		store_be16(f + IP + 10, ipv4_checksum(f + IP, IPV4_HEADER));
	check_unchanged(size, reason);
}

/* Writes a frame from this address. `from` and `to`: the 32 bits behind the IP header. */
static void write_frame(uint16_t ethertype, const char *source, uint8_t protocol, uint16_t from,
			uint16_t to) {
	static const uint8_t to4[] = {198, 51, 100, 1}, to6[16] = {0x20, 1, 0x0d, 0xb8};
	uint8_t *behind = f + (ethertype == ETHERTYPE_IPV6 ? UDP6 : IP + IPV4_HEADER);

	if (ethertype == ETHERTYPE_ARP) {
		packet_write_arp(f, SIZE, 0, to4);
		memcpy(f + IP + 14, source, 4);
	} else if (ethertype == ETHERTYPE_IPV4) {
		packet_write_ipv4(f, SIZE, 0, to4);
		f[IP + 9] = protocol;
		memcpy(f + IP + 12, source, 4);
	} else if (ethertype == ETHERTYPE_IPV6) {
		packet_write_ipv6(f, SIZE, 0, to6);
		f[IP + 6] = protocol;
		memcpy(f + IP + 8, source, 16);
	} else {
		packet_write_llc(f, SIZE, 0, kit->sg.rphy.core_mac);
		store_be16(f + 12, ethertype);
	}
	if (ethertype != ETHERTYPE_IPV4 && ethertype != ETHERTYPE_IPV6)
		return;
	store_be16(behind, from);
	store_be16(behind + 2, to);
}

static void write_ipv4(const char *source, uint8_t protocol) {
	write_frame(ETHERTYPE_IPV4, source, protocol, 1000, 2000);
}

static void write_ipv6(const char *source, uint8_t protocol) {
	write_frame(ETHERTYPE_IPV6, source, protocol, 1000, 2000);
}

/* Sends a frame from an address of either family. */
static void check_address(uint8_t family, const uint8_t *source, enum drop_reason reason) {
	if (family == 4)
		write_ipv4((const char *)source, IP_PROTOCOL_UDP);
	else
		write_ipv6((const char *)source, IP_PROTOCOL_TCP);
	check_frame(SIZE, reason);
}

CASE(address_with_flipped_bit_is_dropped) {
	for (unsigned i = 0; i < 2; i++) {
		struct ip_address a = kit->modems[2].addresses[i];

		check_address(a.family, a.bytes, DROP_REASONS);
		for (unsigned bit = 0; bit < (a.family == 4 ? 32 : 128); bit++) {
			a.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			check_address(a.family, a.bytes, DROP_SOURCE_ADDRESS);
			a.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	assert_int_equal(kit_counter(COUNTER_IPV4), 33);
	assert_int_equal(kit_counter(COUNTER_IPV6), 129);
}

static struct ip_address several[] = {
	{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 0x21}}, {4, {10, 0, 2, 7}},
	{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 0x22}}, {4, {10, 0, 2, 9}},
	{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 0x23}}, {4, {10, 0, 2, 8}},
};

static void use_several_addresses(void) {
	kit->modems[2].addresses = several;
	kit->modems[2].address_count = ARRAY_COUNT(several);
}

/* Several addresses of both families pass. Those of neighboring modems in the tables do not. */
CASE(each_address_of_modem_passes, .prepare = use_several_addresses) {
	for (unsigned a = 0; a < ARRAY_COUNT(several); a++)
		check_address(several[a].family, several[a].bytes, DROP_REASONS);
	for (unsigned i = 0; i < 4; i++) {
		const struct ip_address *a = &kit->modems[1 + i / 2 * 2].addresses[i % 2];

		check_address(a->family, a->bytes, DROP_SOURCE_ADDRESS);
	}
}

/* If `at` is not 0, the 16 bits there become `value`. A `size` of 0: the whole frame. */
static const struct {
	uint16_t ethertype;
	const char *source;
	uint8_t protocol;
	uint16_t from, to; /* ports, or other bytes behind the IP header */
	enum drop_reason reason; /* DROP_REASONS: the frame passes */
	uint16_t at, value;
	size_t size;
} cases[] = {
	/* DHCP, only to the server's port */
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
	/* RFC 8415, 7.2: servers listen on port 547, and any source port is allowed */
	{ETHERTYPE_IPV6, link_local, IP_PROTOCOL_UDP, 1000, 2000, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV6, link_local, IP_PROTOCOL_UDP, 546, 547, DROP_REASONS},
	{ETHERTYPE_IPV6, link_local, IP_PROTOCOL_UDP, 1, 547, DROP_REASONS},
	{ETHERTYPE_IPV6, link_local, IP_PROTOCOL_UDP, 547, 546, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV6, unspecified, IP_PROTOCOL_UDP, 546, 547, DROP_SOURCE_ADDRESS},
	{ETHERTYPE_IPV6, unspecified, IP_PROTOCOL_TCP, 135 << 8, 0, DROP_SOURCE_ADDRESS},
	/* MLD with router alert; no payload; RFC 6980: never in a fragment */
	{ETHERTYPE_IPV6, unspecified, 0, ICMPV6 << 8, 0, DROP_REASONS, UDP6 + 8, 143 << 8},
	{ETHERTYPE_IPV6, unspecified, ICMPV6, 135 << 8, 0, DROP_SOURCE_ADDRESS, IP + 4, 0},
	{ETHERTYPE_IPV6, unspecified, 44, ICMPV6 << 8, 1, DROP_SOURCE_ADDRESS, UDP6 + 8, 135 << 8,
	 0},
	/* neither IP nor ARP: with a payload, without, and with an 802.3 length */
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

static void without_verification(void) {
	kit->sg.upstream.verify_source = false;
}

/* If verification is off, all of them pass unchanged. */
CASE(frame_passes_or_drops_by_its_source) {
	bool verified = kit->sg.upstream.verify_source;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		write_frame(cases[i].ethertype, cases[i].source, cases[i].protocol, cases[i].from,
			    cases[i].to);
		if (cases[i].at > 0)
			store_be16(f + cases[i].at, cases[i].value);
		check_frame(cases[i].size > 0 ? cases[i].size : SIZE,
			    verified ? cases[i].reason : DROP_REASONS);
	}
	assert_int_equal(kit_counter(COUNTER_IPV4), verified ? 11 : 0);
	assert_int_equal(kit_counter(COUNTER_IPV6), verified ? 14 : 0);
	assert_int_equal(kit_counter(COUNTER_LLC), verified ? 6 : 0);
}
CASE_WITH(without_verification, frame_passes_or_drops_by_its_source)

/* RFC 4861, 4.1 and 4.3, RFC 3590: MLD, router and neighbor solicitations pass. */
CASE(unspecified_address_passes_with_mld_and_solicitations) {
	static const uint8_t types[] = {131, 132, 133, 135, 143};
	uint32_t passed = 0;

	for (unsigned type = 0; type < 256; type++) {
		bool passes = memchr(types, (int)type, sizeof(types)) != NULL;

		write_frame(ETHERTYPE_IPV6, unspecified, ICMPV6, (uint16_t)(type << 8), 0);
		check_frame(SIZE, passes ? DROP_REASONS : DROP_SOURCE_ADDRESS);
		passed += passes;
	}
	assert_int_equal(passed, sizeof(types));
}

/* Sends frames without an address: `count` of them pass, and the next two are dropped. */
static void check_allowance(unsigned count) {
	for (unsigned i = 0; i < count + 2; i++) {
		if (i % 3 == 0)
			write_frame(ETHERTYPE_ARP, unspecified, 0, 0, 0);
		else if (i % 3 == 1)
			write_ipv6(link_local, ICMPV6);
		else
			write_ipv4(unspecified, IGMP);
		check_frame(SIZE, i < count ? DROP_REASONS : DROP_SOURCE_RATE);
	}
}

/* All kinds share one rate limit per modem. Frames with an address of the modem do not count. */
CASE(frames_without_address_are_rate_limited) {
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
		kit->clock.now += steps[i].ns;
		check_allowance(steps[i].passes);
	}
	write_ipv4(unspecified, IP_PROTOCOL_TCP); /* not one of these frames: another reason */
	check_frame(SIZE, DROP_SOURCE_ADDRESS);
	write_ipv4(own4, IP_PROTOCOL_TCP);
	check_frame(SIZE, DROP_REASONS);
}

/* Inserts a tag into the frame. Returns its new size. */
static size_t insert_tag(uint16_t type, uint16_t control, size_t size) {
	memmove(f + 16, f + 12, size - 12);
	store_be16(f + 12, type);
	store_be16(f + 14, control);
	return size + 4;
}

/* IEEE 802.1Q, 6.9: a tag with VLAN 0 has only a priority. It is removed. */
CASE(priority_tag_is_removed) {
	static const uint16_t controls[] = {0, 0xe000, 0x1000, 0x7000};
	uint8_t plain[SIZE], bytes[KIT_FRAME_MAX];

	for (unsigned i = 0; i < ARRAY_COUNT(controls); i++) {
		write_ipv6(own, IP_PROTOCOL_TCP);
		store_be16(f + IP + 4, SIZE - 4 - UDP6);
		memcpy(plain, f, SIZE - 4);
		insert_tag(ETHERTYPE_VLAN, controls[i], SIZE - 4);
		kit_process(SEGMENTED, bytes,
			    kit_write_clear_frame(2, DOCSIS_KIND_PACKET, f, SIZE, bytes));
		assert_int_equal(kit->other_frames, i + 1);
		assert_int_equal(kit->other_size, SIZE - 4);
		assert_memory_equal(kit->other, plain, SIZE - 4);
	}
}
CASE_WITH(without_verification, priority_tag_is_removed)

CASE(frame_behind_priority_tag_is_verified) {
	static const uint16_t types[] = {ETHERTYPE_VLAN, ETHERTYPE_SERVICE_VLAN, ETHERTYPE_VLAN};
	static const uint16_t vlans[] = {1, 0, 0};

	write_ipv4(free4, IP_PROTOCOL_UDP);
	store_be16(f + IP + 2, SIZE - 4 - IP);
	store_be16(f + IP + 10, ipv4_checksum(f + IP, IPV4_HEADER));
	check_unchanged(insert_tag(ETHERTYPE_VLAN, 0, SIZE - 4), DROP_SOURCE_ADDRESS);
	f[IP + 4 + 12] ^= 1; /* its source address */
	check_unchanged(SIZE, DROP_IPV4_CHECKSUM);
	for (unsigned i = 0; i < ARRAY_COUNT(types); i++) {
		write_ipv6(own, IP_PROTOCOL_TCP);
		if (i == 2) /* a second tag */
			insert_tag(ETHERTYPE_VLAN, 0, SIZE - 8);
		check_unchanged(insert_tag(types[i], vlans[i], SIZE - 4), DROP_VLAN);
	}
}
