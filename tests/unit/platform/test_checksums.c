/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checksums that a sender has left to hardware. Each right one is summed up here byte by byte, as RFC 768, 793 and 8200 say,
 * from the whole pseudo-header.
 */
#include "test_main.h"

#include "platform/checksums.h"

#include "checksums.h"

#define LONGEST 1500

/* A packet: what is in it, and where its parts are. */
struct sample {
	uint8_t bytes[LONGEST + 64];
	size_t size, l3, l4, end; /* `end` of the IP packet: padding may follow */
	bool ipv6;
	uint8_t protocol;
};

static uint8_t *field_of(struct sample *s) {
	return s->bytes + s->l4 + (s->protocol == IP_PROTOCOL_TCP ? 16 : 6);
}

static uint16_t pseudo_of(const struct sample *s) {
	const uint8_t *ip = s->bytes + s->l3;
	uint32_t upper = s->protocol + (uint32_t)(s->end - s->l4);

	return s->ipv6 ? internet_sum(ip + 8, 32, upper) : internet_sum(ip + 12, 8, upper);
}

static uint16_t right_of(struct sample s) {
	uint16_t sum;

	store_be16(field_of(&s), 0);
	sum = (uint16_t)~internet_sum(s.bytes + s.l4, s.end - s.l4, pseudo_of(&s));
	return sum == 0 && s.protocol == IP_PROTOCOL_UDP ? 0xffff : sum;
}

/* With `tags` VLAN tags, `payload` bytes behind the header of TCP or UDP, and `more` bytes (0, or 8) of IPv6's extension
 * headers or IPv4's options. */
static struct sample sample_of(bool ipv6, uint8_t protocol, unsigned tags, unsigned more,
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

/* Whether it was completed; the bytes are those afterwards. */
static bool completed(struct sample *s) {
	struct rte_mbuf m = {.buf_addr = s->bytes, .data_len = (uint16_t)s->size, .nb_segs = 1};

	return checksum_complete(&m);
}

/* Stays as it is, in all its bytes. */
static void stays(struct sample *s) {
	struct sample before = *s;

	assert_false(completed(s));
	assert_memory_equal(s->bytes, before.bytes, sizeof(s->bytes));
}

/* As a sender leaves it to hardware: the sum of the pseudo-header alone. */
static void leave(struct sample *s) {
	store_be16(field_of(s), pseudo_of(s));
}

TEST(of_all_kinds) {
	static const uint8_t protocols[] = {IP_PROTOCOL_TCP, IP_PROTOCOL_UDP};

	for (unsigned i = 0; i < 4000; i++) {
		struct sample s = sample_of(i & 1, protocols[i >> 1 & 1], i / 4 % 3,
					    (i / 12 & 1) * 8, i * 7 % 1400, i + 1);
		uint16_t right = right_of(s);
		struct sample before;

		leave(&s);
		before = s;
		if (right == pseudo_of(&s)) {
			stays(&s);
			continue;
		}
		assert_true(completed(&s));
		assert_int_equal(load_be16(field_of(&s)), right);
		store_be16(field_of(&before), right);
		assert_memory_equal(s.bytes, before.bytes, sizeof(s.bytes)); /* and nothing else */
		stays(&s); /* once is enough */
	}
}

/* A sum that comes to zero is written as ones by UDP, to which zero is none (RFC 768). */
TEST(zero_of_udp) {
	for (unsigned i = 0; i < 2; i++) {
		struct sample s = sample_of(i, IP_PROTOCOL_UDP, 0, 0, 10, 5);
		uint8_t *last = s.bytes + s.end - 2;

		store_be16(last, 0);
		store_be16(last, right_of(s));
		assert_int_equal(right_of(s), 0xffff);
		leave(&s);
		assert_true(completed(&s));
		assert_int_equal(load_be16(field_of(&s)), 0xffff);
	}
}

TEST(what_stays) {
	struct sample s;

	for (unsigned i = 0; i < 400; i++) { /* right, wrong, none */
		s = sample_of(i & 1, i & 2 ? IP_PROTOCOL_TCP : IP_PROTOCOL_UDP, i % 3,
			      i & 4 ? 8 : 0, i, i);
		store_be16(field_of(&s), right_of(s));
		stays(&s);
		store_be16(field_of(&s), pseudo_of(&s) ^ (1u << i % 16));
		stays(&s);
		store_be16(field_of(&s), 0);
		stays(&s);
	}
	/* fragments: the kernel has completed them */
	for (unsigned flags = 0x2000; flags != 0; flags = flags == 0x2000 ? 0x0001 : 0) {
		s = sample_of(false, IP_PROTOCOL_TCP, 0, 0, 80, 3);
		store_be16(s.bytes + s.l3 + 6, flags);
		leave(&s);
		stays(&s);
	}
	/* other protocols, and packets that are too short for a header or cut off */
	s = sample_of(false, IP_PROTOCOL_UDP, 0, 0, 80, 3);
	s.bytes[s.l3 + 9] = s.protocol = IP_PROTOCOL_ICMP;
	leave(&s);
	stays(&s);
	s = sample_of(false, IP_PROTOCOL_TCP, 0, 0, 80, 3);
	store_be16(s.bytes + s.l3 + 2, 20 + 19);
	s.end = s.l4 + 19;
	leave(&s);
	stays(&s);
	s = sample_of(false, IP_PROTOCOL_UDP, 0, 0, 80, 3);
	leave(&s);
	for (size_t size = s.end; size-- > 0;) {
		s.size = size;
		stays(&s);
	}
}
