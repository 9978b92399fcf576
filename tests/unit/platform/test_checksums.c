/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests checksums.h: completes TCP and UDP checksums that a sender left to hardware. The reference
 * sums the pseudo-header and all bytes, as RFC 768, RFC 793 and RFC 8200 define. */
#include "test_main.h"

#include "platform/checksums.h"

#include "checksums.h"

#define PAYLOAD_MAX 1500

/* A packet, and the offsets of its parts. */
struct sample {
	uint8_t bytes[PAYLOAD_MAX + 64];
	size_t size, l3, l4, end; /* `end` of the IP packet; Ethernet padding may follow */
	bool ipv6;
	uint8_t protocol;
};

static uint8_t *checksum_field(struct sample *s) {
	return s->bytes + s->l4 + (s->protocol == IP_PROTOCOL_TCP ? 16 : 6);
}

static uint16_t pseudo_header_sum(const struct sample *s) {
	const uint8_t *ip = s->bytes + s->l3;
	uint32_t upper = s->protocol + (uint32_t)(s->end - s->l4);

	return s->ipv6 ? ones_complement_sum(ip + 8, 32, upper)
		       : ones_complement_sum(ip + 12, 8, upper);
}

static uint16_t expected_checksum(struct sample s) {
	uint16_t sum;

	store_be16(checksum_field(&s), 0);
	sum = (uint16_t)~ones_complement_sum(s.bytes + s.l4, s.end - s.l4, pseudo_header_sum(&s));
	return sum == 0 && s.protocol == IP_PROTOCOL_UDP ? 0xffff : sum;
}

/* A packet with `tags` VLAN tags, `more` bytes (0 or 8) of IPv6 extension headers or IPv4 options,
 * and `payload` bytes after the TCP or UDP header. */
static struct sample make_sample(bool ipv6, uint8_t protocol, unsigned tags, unsigned more,
				 size_t payload, unsigned seed) {
	struct sample s = {.ipv6 = ipv6, .protocol = protocol, .l3 = 14 + 4 * tags};
	size_t inner = payload + (protocol == IP_PROTOCOL_TCP ? 20 : 8);
	uint8_t *ip = s.bytes + s.l3;

	for (size_t i = 0; i < sizeof(s.bytes); i++) {
		seed = seed * 1103515245 + 12345;
		s.bytes[i] = (uint8_t)seed ^ (uint8_t)(seed >> 16);
	}
	for (unsigned t = 0; t < tags; t++)
		store_be16(s.bytes + 12 + 4 * t, t == 0 && tags == 2 ? 0x88a8 : 0x8100);
	store_be16(ip - 2, ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
	s.l4 = s.l3 + (ipv6 ? IPV6_HEADER : IPV4_HEADER) + more;
	s.end = s.l4 + inner;
	s.size = s.end + seed % 7;
	if (ipv6) {
		ip[0] = 0x60;
		store_be16(ip + 4, (unsigned)(more + inner));
		ip[6] = more > 0 ? 60 : protocol;
		if (more > 0)
			store_be16(ip + IPV6_HEADER, (unsigned)protocol << 8);
	} else {
		ip[0] = (uint8_t)(0x45 + more / 4);
		store_be16(ip + 2, (unsigned)(s.end - s.l3));
		store_be16(ip + 6, 0x4000);
		ip[9] = protocol;
	}
	if (protocol == IP_PROTOCOL_UDP)
		store_be16(s.bytes + s.l4 + 4, (unsigned)inner);
	return s;
}

/* Calls checksum_complete(), which changes the bytes. Whether it completed the checksum. */
static bool completed(struct sample *s) {
	struct rte_mbuf m = {.buf_addr = s->bytes, .data_len = (uint16_t)s->size, .nb_segs = 1};

	return checksum_complete(&m);
}

/* Asserts that checksum_complete() does not change the packet. */
static void assert_unchanged(struct sample *s) {
	struct sample before = *s;

	assert_false(completed(s));
	assert_memory_equal(s->bytes, before.bytes, sizeof(s->bytes));
}

/* Sets the checksum that a sender leaves to hardware: the sum of the pseudo-header. */
static void set_partial_checksum(struct sample *s) {
	store_be16(checksum_field(s), pseudo_header_sum(s));
}

TEST(partial_checksums_are_completed) {
	static const uint8_t protocols[] = {IP_PROTOCOL_TCP, IP_PROTOCOL_UDP};

	for (unsigned i = 0; i < 4000; i++) {
		struct sample s = make_sample(i & 1, protocols[i >> 1 & 1], i / 4 % 3,
					      (i / 12 & 1) * 8, i * 7 % 1400, i + 1);
		uint16_t checksum = expected_checksum(s);
		struct sample before;

		set_partial_checksum(&s);
		before = s;
		if (checksum == pseudo_header_sum(&s)) {
			assert_unchanged(&s);
			continue;
		}
		assert_true(completed(&s));
		assert_int_equal(load_be16(checksum_field(&s)), checksum);
		store_be16(checksum_field(&before), checksum);
		assert_memory_equal(s.bytes, before.bytes, sizeof(s.bytes)); /* unchanged */
		assert_unchanged(&s); /* already complete */
	}
}

/* RFC 768: UDP transmits a checksum of zero as all ones, because zero means no checksum. */
TEST(zero_udp_checksum_becomes_ones) {
	for (unsigned i = 0; i < 2; i++) {
		struct sample s = make_sample(i, IP_PROTOCOL_UDP, 0, 0, 10, 5);
		uint8_t *last = s.bytes + s.end - 2;

		store_be16(last, 0);
		store_be16(last, expected_checksum(s));
		assert_int_equal(expected_checksum(s), 0xffff);
		set_partial_checksum(&s);
		assert_true(completed(&s));
		assert_int_equal(load_be16(checksum_field(&s)), 0xffff);
	}
}

TEST(other_packets_are_unchanged) {
	struct sample s;

	for (unsigned i = 0; i < 400; i++) { /* correct, wrong and no checksum */
		s = make_sample(i & 1, i & 2 ? IP_PROTOCOL_TCP : IP_PROTOCOL_UDP, i % 3,
				i & 4 ? 8 : 0, i, i);
		store_be16(checksum_field(&s), expected_checksum(s));
		assert_unchanged(&s);
		store_be16(checksum_field(&s), pseudo_header_sum(&s) ^ (1u << i % 16));
		assert_unchanged(&s);
		store_be16(checksum_field(&s), 0);
		assert_unchanged(&s);
	}
	/* fragments: the kernel completes their checksums */
	for (unsigned flags = 0x2000; flags != 0; flags = flags == 0x2000 ? 0x0001 : 0) {
		s = make_sample(false, IP_PROTOCOL_TCP, 0, 0, 80, 3);
		store_be16(s.bytes + s.l3 + 6, flags);
		set_partial_checksum(&s);
		assert_unchanged(&s);
	}
	/* other protocols, too short for a header, and truncated packets */
	s = make_sample(false, IP_PROTOCOL_UDP, 0, 0, 80, 3);
	s.bytes[s.l3 + 9] = s.protocol = IP_PROTOCOL_ICMP;
	set_partial_checksum(&s);
	assert_unchanged(&s);
	s = make_sample(false, IP_PROTOCOL_TCP, 0, 0, 80, 3);
	store_be16(s.bytes + s.l3 + 2, 20 + 19);
	s.end = s.l4 + 19;
	set_partial_checksum(&s);
	assert_unchanged(&s);
	s = make_sample(false, IP_PROTOCOL_UDP, 0, 0, 80, 3);
	set_partial_checksum(&s);
	for (size_t size = s.end; size-- > 0;) {
		s.size = size;
		assert_unchanged(&s);
	}
}
