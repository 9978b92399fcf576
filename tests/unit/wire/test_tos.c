/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests tos.h: overwrites the TOS byte or traffic class of frames by an AND and an OR mask. */
#include "test_main.h"

#include "wire/bytes.h"
#include "wire/ip.h"
#include "wire/tos.h"
#include "wire/vlan.h"
#include "wire_kit.h"

#define AND_MASK 0x83
#define OR_MASK 0x28

/* Sets the TOS or traffic class of the IP header at offset `at`. Computes an IPv4 checksum over the whole header. */
static void set_tos(uint8_t *frame, size_t at, uint8_t tos) {
	uint8_t *ip = frame + at;

	if (ip[0] >> 4 == 6) {
		store_be16(ip, (uint16_t)((load_be16(ip) & 0xf00f) | tos << 4));
		return;
	}
	ip[1] = tos;
	store_be16(ip + 10, ipv4_checksum(ip, 4 * (size_t)(ip[0] & 0x0f)));
}

/* Rewrites a guarded copy of `v`. Fails unless its v->size bytes equal those of `expected`. */
static void assert_rewrite(const struct vector *v, const struct vector *expected) {
	uint8_t *frame = guard_copy(&guard, v->bytes, v->size);

	tos_overwrite(frame, v->size, AND_MASK, OR_MASK);
	assert_memory_equal(frame, expected->bytes, v->size);
}

/* Inserts VLAN tags behind the addresses; all but the last are service tags (802.1ad). */
static void insert_tags(struct vector *v, unsigned tags) {
	memmove(v->bytes + 12 + (size_t)tags * VLAN_TAG_SIZE, v->bytes + 12, v->size - 12);
	for (unsigned t = 0; t < tags; t++) {
		store_be16(v->bytes + 12 + (size_t)t * VLAN_TAG_SIZE,
			   t + 1 < tags ? ETHERTYPE_SERVICE_VLAN : ETHERTYPE_VLAN);
		store_be16(v->bytes + 14 + (size_t)t * VLAN_TAG_SIZE, 0x4007);
	}
	v->size += (size_t)tags * VLAN_TAG_SIZE;
}

/* An IP packet behind up to two VLAN tags, also a fragment, is rewritten if its fixed header is complete. All other
 * frames stay unchanged. */
TEST(only_complete_fixed_ip_headers_are_rewritten) {
	FILE *f = vectors_open("frames.txt");
	struct vector plain;

	while (vector_next(f, &plain)) {
		struct frame_fields fields;

		if (frame_parse(plain.bytes, plain.size, &fields) != FRAME_GOOD)
			continue;
		for (unsigned tags = 0; tags <= 3; tags++) {
			size_t at = ETHERNET_HEADER + (size_t)tags * VLAN_TAG_SIZE;
			size_t whole = at + (fields.kind == FRAME_IPV4 ? 20 : 40);
			bool ip = fields.kind == FRAME_IPV4 || fields.kind == FRAME_IPV6;
			struct vector v = plain, expected;

			insert_tags(&v, tags);
			expected = v;
			if (ip && tags <= 2)
				set_tos(expected.bytes, at, (fields.tos & AND_MASK) | OR_MASK);
			for (; v.size >= whole; v.size--)
				assert_rewrite(&v, &expected);
			expected = v;
			for (size_t size = v.size + 1; size-- > 0;) {
				v.size = size;
				assert_rewrite(&v, &expected);
			}
		}
	}
	fclose(f);
}

/* RFC 1624: for each pair of TOS values and for each checksum, the update gives the checksum of the whole header. A
 * wrong checksum stays wrong. */
TEST(ipv4_checksum_is_updated) {
	struct vector v;

	vector_get("frames.txt", "udp4", &v);
	for (unsigned from = 0; from < 256; from++) {
		for (unsigned to = 0; to < 256; to++) {
			struct vector expected;

			set_tos(v.bytes, ETHERNET_HEADER, (uint8_t)from);
			expected = v;
			set_tos(expected.bytes, ETHERNET_HEADER, (uint8_t)to);
			tos_overwrite(v.bytes, v.size, 0, (uint8_t)to);
			assert_memory_equal(v.bytes, expected.bytes, v.size);
		}
	}
	for (unsigned id = 0; id <= UINT16_MAX; id++) { /* takes the checksum through all values */
		struct vector expected;

		store_be16(v.bytes + ETHERNET_HEADER + 4, (uint16_t)id);
		set_tos(v.bytes, ETHERNET_HEADER, id & 1 ? 0xff : 0);
		expected = v;
		set_tos(expected.bytes, ETHERNET_HEADER, id & 1 ? 0 : 0xff);
		tos_overwrite(v.bytes, v.size, 0, id & 1 ? 0 : 0xff);
		assert_memory_equal(v.bytes, expected.bytes, v.size);
	}
	v.bytes[24] ^= 1;
	tos_overwrite(v.bytes, v.size, AND_MASK, OR_MASK);
	assert_false(ipv4_checksum_good(v.bytes + ETHERNET_HEADER));
}

TEST(malformed_headers_are_unchanged) {
	struct vector v;

	vector_get("frames.txt", "udp4", &v);
	for (unsigned first = 0; first < 256; first++) {
		v.bytes[14] = (uint8_t)first;
		if (first < 0x45 || first > 0x4f)
			assert_rewrite(&v, &v);
	}
}

ALL_TESTS(guard_group_open, guard_group_close)
