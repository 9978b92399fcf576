/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests parse and modem lookup: each drop reason, size limits, checksum offload and chained mbufs.
 * Also compares the fast parser of plain headers with the full one. */
#include "test_main.h"

#include "downstream/plain.h"
#include "pipeline/packet.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#include "lookup_kit.h"
#include "random.h"

#define MAX_FRAME 1996 /* without CRC */
#define FRAME_SIZE 100 /* bytes, for the fast parser */

static struct random rng = {.state = 9};
static const uint8_t known[4] = {10, 0, 0, 1};
static const uint8_t unknown[4] = {10, 0, 0, 99};
static const uint8_t known_mac[6] = {2, 1, 0, 0, 0, 2};
static const uint8_t known6[16] = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, [15] = 1};

enum frame_type { IPV4, IPV6, ARP, LLC };

static size_t write_frame(enum frame_type type, uint8_t *out, size_t size, const uint8_t *to) {
	switch (type) {
	case IPV4: return packet_write_ipv4(out, size, 1, to);
	case IPV6: return packet_write_ipv6(out, size, 1, to);
	case ARP: return packet_write_arp(out, size, 1, to);
	default: return packet_write_llc(out, size, 1, to);
	}
}

/* Passes a frame through the stages. It must be dropped for `reason`, or kept (DROP_NONE). */
static void check_result(struct rte_mbuf *m, enum drop_reason reason, const char *description) {
	struct counters *c = &lookup_kit.upper.counters;
	uint16_t n;

	*c = (struct counters){0};
	n = lookup_run(&m, 1);
	if (n != (reason == DROP_NONE))
		fail_msg("%s: kept %u", description, n);
	if (reason != DROP_NONE && c->drops[reason] != 1)
		fail_msg("%s: not dropped as %s", description, drop_name(reason));
	assert_int_equal(counters_dropped(c), reason != DROP_NONE);
	assert_int_equal(c->values[COUNTER_LOOKUP_MATCHED], reason == DROP_NONE);
	if (n == 1)
		rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_in_use_count(lookup_kit.packets), 0);
}

/* A valid frame with some bytes changed. The IPv4 checksum is updated unless `old_checksum`. */
static const struct frame_case {
	const char *description;
	enum frame_type type;
	const uint8_t *to;
	enum drop_reason reason;
	uint16_t size; /* 0: 100 */
	uint16_t cut; /* truncated to this size; 0: not */
	struct {
		uint8_t at, value;
	} changes[2];
	bool old_checksum;
} frame_cases[] = {
	{"good", IPV4, known, DROP_NONE},
	{"version 5", IPV4, known, DROP_IPV4_HEADER, .changes = {{14, 0x55}}},
	{"header of 16 bytes", IPV4, known, DROP_IPV4_HEADER, .changes = {{14, 0x44}}},
	{"shorter than its header", IPV4, known, DROP_IPV4_LENGTH, .changes = {{17, 19}}},
	{"one byte longer than the frame", IPV4, known, DROP_IPV4_LENGTH, .changes = {{17, 87}}},
	{"as long as the frame", IPV4, known, DROP_NONE, .changes = {{17, 86}}},
	{"padded", IPV4, known, DROP_NONE, .changes = {{17, 60}}},
	{"checksum", IPV4, known, DROP_IPV4_CHECKSUM, .changes = {{24, 0x55}},
	 .old_checksum = true},
	{"changed", IPV4, known, DROP_IPV4_CHECKSUM, .changes = {{22, 63}}, .old_checksum = true},
	{"802.1Q", IPV4, known, DROP_VLAN, .changes = {{12, 0x81}}},
	{"802.1ad", IPV4, known, DROP_VLAN, .changes = {{12, 0x88}, {13, 0xa8}}},
	{"unknown", IPV4, unknown, DROP_UNKNOWN_DESTINATION},
	{"first multicast", IPV4, (const uint8_t[]){224, 0, 0, 1}, DROP_MULTICAST},
	{"last multicast", IPV4, (const uint8_t[]){239, 255, 255, 255}, DROP_MULTICAST},
	{"broadcast", IPV4, (const uint8_t[]){255, 255, 255, 255}, DROP_MULTICAST},
	{"last unicast", IPV4, (const uint8_t[]){223, 255, 255, 255}, DROP_UNKNOWN_DESTINATION},
	{"reserved", IPV4, (const uint8_t[]){240, 0, 0, 0}, DROP_UNKNOWN_DESTINATION},
	{"all of the header cut off", IPV4, known, DROP_IPV4_HEADER, .cut = 14},
	{"cut off in the header", IPV4, known, DROP_IPV4_HEADER, .cut = 33},
	{"the largest frame", IPV4, known, DROP_NONE, .size = MAX_FRAME},
	{"one byte more", IPV4, known, DROP_FRAME_TOO_LONG, .size = MAX_FRAME + 1},
	{"IPv6", IPV6, known6, DROP_NONE},
	{"IPv6, one byte short", IPV6, known6, DROP_IPV6_LENGTH, .cut = 99},
	{"IPv6, cut off in the header", IPV6, known6, DROP_IPV6_HEADER, .cut = 53},
	{"version 4", IPV6, known6, DROP_IPV6_HEADER, .changes = {{14, 0x40}}},
	/* hop-by-hop options longer than the frame */
	{"extension header", IPV6, known6, DROP_IPV6_HEADER, .changes = {{20, 0}, {55, 200}}},
	{"IPv6, unknown", IPV6, known6, DROP_UNKNOWN_DESTINATION, .changes = {{53, 2}}},
	{"IPv6, multicast", IPV6, known6, DROP_MULTICAST, .changes = {{38, 0xff}}},
	{"ARP for a known address", ARP, known, DROP_NONE, .size = 60},
	{"ARP without padding", ARP, known, DROP_NONE, .size = 42},
	{"ARP cut off", ARP, known, DROP_ARP_MALFORMED, .size = 60, .cut = 41},
	{"ARP of another hardware", ARP, known, DROP_ARP_MALFORMED, .changes = {{15, 6}}},
	{"ARP for an unknown address", ARP, unknown, DROP_UNKNOWN_DESTINATION},
	{"a modem itself", LLC, known_mac, DROP_NONE},
	{"the smallest frame", LLC, known_mac, DROP_NONE, .size = 14},
	{"the largest runt", LLC, known_mac, DROP_RUNT, .cut = 13},
	{"the smallest runt", LLC, known_mac, DROP_RUNT, .cut = 1},
	{"unknown MAC address", LLC, known_mac, DROP_UNKNOWN_DESTINATION, .changes = {{5, 0x42}}},
	{"group MAC address", LLC, known_mac, DROP_MULTICAST, .changes = {{0, 3}}},
};

static bool is_parsed(enum drop_reason reason) {
	return reason == DROP_NONE || reason == DROP_UNKNOWN_DESTINATION ||
	       reason == DROP_MULTICAST || reason == DROP_IPV4_CHECKSUM;
}

static size_t write_case(const struct frame_case *c, uint8_t *frame) {
	size_t size = write_frame(c->type, frame, c->size ? c->size : 100, c->to);

	for (size_t k = 0; k < ARRAY_COUNT(c->changes); k++) {
		if (c->changes[k].at != 0 || c->changes[k].value != 0)
			frame[c->changes[k].at] = c->changes[k].value;
	}
	if (c->type == IPV4 && !c->old_checksum)
		packet_update_ipv4_checksum(frame);
	return c->cut ? c->cut : size;
}

TEST(invalid_frames_are_dropped_for_their_reason) {
	const uint64_t *values = lookup_kit.upper.counters.values;

	for (size_t i = 0; i < ARRAY_COUNT(frame_cases); i++) {
		const struct frame_case *c = &frame_cases[i];
		uint8_t frame[PACKET_MAX];
		size_t size = write_case(c, frame);
		bool read = is_parsed(c->reason);

		check_result(fixture_packet_create(lookup_kit.packets, frame, size), c->reason,
			     c->description);
		assert_int_equal(values[COUNTER_IPV4], read && c->type == IPV4);
		assert_int_equal(values[COUNTER_IPV6], read && c->type == IPV6);
		assert_int_equal(values[COUNTER_LLC], read && (c->type == ARP || c->type == LLC));
	}
	check_result(rte_pktmbuf_alloc(lookup_kit.packets), DROP_RUNT, "an empty buffer");
}

/* The checksum result of the port is used; without one, the checksum is computed. */
TEST(checksum_result_of_port_is_used) {
	static const struct {
		uint64_t flags;
		enum drop_reason reasons[2]; /* with a right and a wrong checksum */
	} cases[] = {
		{RTE_MBUF_F_RX_IP_CKSUM_GOOD, {DROP_NONE, DROP_NONE}},
		{RTE_MBUF_F_RX_IP_CKSUM_BAD, {DROP_IPV4_CHECKSUM, DROP_IPV4_CHECKSUM}},
		/* verified; the field may be unset */
		{RTE_MBUF_F_RX_IP_CKSUM_NONE, {DROP_NONE, DROP_NONE}},
		{RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN, {DROP_NONE, DROP_IPV4_CHECKSUM}},
	};

	for (size_t i = 0; i < 2 * ARRAY_COUNT(cases); i++) {
		uint8_t frame[100];
		struct rte_mbuf *m;

		packet_write_ipv4(frame, sizeof(frame), 1, known);
		frame[24] ^= i % 2 ? 0x10 : 0;
		m = fixture_packet_create(lookup_kit.packets, frame, sizeof(frame));
		m->ol_flags = cases[i / 2].flags;
		check_result(m, cases[i / 2].reasons[i % 2],
			     i % 2 ? "wrong checksum" : "right checksum");
	}
}

/* Splits the frame into buffers of `first`, `second` and the remaining bytes. */
static struct rte_mbuf *create_chain(const uint8_t *frame, size_t size, size_t first,
				     size_t second) {
	struct rte_mbuf *m = fixture_packet_create(lookup_kit.packets, frame, first);
	const size_t both = first + second;

	assert_int_equal(rte_pktmbuf_chain(m, fixture_packet_create(lookup_kit.packets,
								    frame + first, second)),
			 0);
	assert_int_equal(rte_pktmbuf_chain(m, fixture_packet_create(lookup_kit.packets,
								    frame + both, size - both)),
			 0);
	return m;
}

TEST(chained_packet_is_joined) {
	static const size_t cuts[][2] = {{1, 1},  {13, 1},   {14, 20},
					 {20, 0}, {33, 500}, {1000, 995}};
	uint8_t frame[PACKET_MAX];
	struct rte_mbuf *m;

	packet_write_ipv4(frame, MAX_FRAME, 1, known);
	for (size_t i = 0; i < ARRAY_COUNT(cuts); i++) {
		m = create_chain(frame, MAX_FRAME, cuts[i][0], cuts[i][1]);
		assert_int_equal(lookup_run(&m, 1), 1);
		fixture_packet_check(m);
		assert_int_equal(m->nb_segs, 1);
		assert_int_equal(rte_pktmbuf_data_len(m), MAX_FRAME);
		assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 6), frame + 6,
				    MAX_FRAME - 6);
		rte_pktmbuf_free(m);
	}
	/* the first buffer is too small for the frame */
	m = create_chain(frame, MAX_FRAME, 20, 20);
	m->data_off = (uint16_t)(m->buf_len - m->data_len - 100);
	check_result(m, DROP_NO_SPACE, "first buffer too small");
}

/* Checks the flow key of a frame that the fast parser does not accept. */
static void check_key(const uint8_t *frame, size_t size, const struct flow_key *expected) {
	const struct flow_key *key = &lookup_kit.upper.records->key.flow;

	check_result(fixture_packet_create(lookup_kit.packets, frame, size), DROP_NONE,
		     "rare frame");
	assert_int_equal(key->family, expected->family);
	assert_int_equal(key->flags, expected->flags);
	if (key->family == RULE_LLC) {
		assert_int_equal(key->llc.ethertype, expected->llc.ethertype);
		return;
	}
	assert_int_equal(key->protocol, expected->protocol);
	assert_int_equal(key->tos, expected->tos);
	assert_int_equal(key->source_port | key->destination_port, 0);
	if (key->family == RULE_IPV4)
		assert_memory_equal(&key->ipv4, frame + 26, 8);
	else
		assert_memory_equal(&key->ipv6, frame + 22, 32);
}

TEST(flow_keys_of_rare_frames) {
	static const struct flow_key icmp = {
		.family = RULE_IPV4, .flags = FLOW_NO_PORTS, .protocol = 1, .tos = 0xb8};
	struct flow_key icmp6 = {
		.family = RULE_IPV6, .flags = FLOW_NO_PORTS, .protocol = 58, .tos = 0xa5};
	const struct flow_key llc = {.family = RULE_LLC,
				     .flags = FLOW_ALONE | FLOW_NO_PORTS,
				     .llc.ethertype = rte_cpu_to_be_32(0x88b5)};
	uint8_t frame[100];

	packet_write_ipv4(frame, sizeof(frame), 1, known);
	frame[15] = 0xb8;
	frame[23] = 1;
	packet_update_ipv4_checksum(frame);
	check_key(frame, sizeof(frame), &icmp);
	packet_write_ipv6(frame, sizeof(frame), 1, known6);
	frame[14] = 0x6a;
	frame[15] = 0x50;
	frame[20] = 58;
	check_key(frame, sizeof(frame), &icmp6);
	/* destination options before ICMPv6: rules match all headers, and the flow is not cached */
	frame[20] = 60;
	memcpy(frame + 54, (const uint8_t[]){58, 0, 1, 4, 0, 0, 0, 0}, 8);
	icmp6.flags |= FLOW_ALONE;
	check_key(frame, sizeof(frame), &icmp6);
	packet_write_llc(frame, 60, 1, known_mac);
	check_key(frame, 60, &llc);
}

/* The flow key by the full parser. */
static struct flow_key create_key(const struct frame_fields *f) {
	const bool ipv4 = f->kind == FRAME_IPV4;
	struct flow_key key = {
		.family = ipv4 ? RULE_IPV4 : RULE_IPV6, .protocol = f->protocol, .tos = f->tos};

	store_be16((uint8_t *)&key.source_port, f->source_port);
	store_be16((uint8_t *)&key.destination_port, f->destination_port);
	memcpy(ipv4 ? key.ipv4.source : key.ipv6.source, f->source, ipv4 ? 4 : 16);
	memcpy(ipv4 ? key.ipv4.destination : key.ipv6.destination, f->destination, ipv4 ? 4 : 16);
	return key;
}

/* Writes valid headers, changes some bits, and returns a random length, which may truncate them. */
static uint32_t random_frame(uint8_t *frame, bool ipv6) {
	uint32_t length = random_between(&rng, ETHERNET_HEADER, FRAME_SIZE);
	uint32_t space = length - ETHERNET_HEADER;
	uint8_t *ip = frame + ETHERNET_HEADER;

	random_fill(&rng, frame, FRAME_SIZE);
	store_be16(frame + 12, ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
	ip[0] = ipv6 ? 0x60 : 0x45;
	ip[ipv6 ? 6 : 9] = random_below(&rng, 2) ? IP_PROTOCOL_TCP : IP_PROTOCOL_UDP;
	store_be16(ip + (ipv6 ? 4 : 2), (uint16_t)(!ipv6 || space < 40 ? space : space - 40));
	if (!ipv6)
		store_be16(ip + 6, 0x4000);
	for (uint32_t change = random_below(&rng, 3); change > 0; change--)
		frame[random_between(&rng, 12, 60)] ^= (uint8_t)(1u << random_below(&rng, 8));
	return length;
}

TEST(fast_parser_agrees_with_full_parser) {
	uint32_t plain = 0, rejected = 0;

	for (unsigned i = 0; i < 2000000; i++) {
		uint8_t frame[FRAME_SIZE];
		uint32_t length = random_frame(frame, i % 2);
		struct flow_key key, full;
		struct frame_fields f;

		memset(&key, 0xee, sizeof(key));
		if (!plain_ipv4(frame, length, &key) && !plain_ipv6(frame, length, &key)) {
			rejected++;
			continue;
		}
		plain++;
		assert_int_equal(frame_parse(frame, length, &f), FRAME_GOOD);
		assert_true(f.kind == FRAME_IPV4 || f.kind == FRAME_IPV6);
		assert_false(f.fragment);
		assert_true(f.has_ports);
		assert_int_equal(f.extensions, 0);
		full = create_key(&f);
		assert_memory_equal(&key, &full, f.kind == FRAME_IPV4 ? 16 : 40);
	}
	assert_true(plain > 500000);
	assert_true(rejected > 500000);
}

TEST(no_packet_leaks) {
	lookup_kit_free();
}

ALL_TESTS(lookup_kit_open, fixture_stop)
