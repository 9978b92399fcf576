/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests l2tpv3.h: writes and patches DEPI encapsulation, parses L2TPv3 over IPv4, IPv6 and UDP. */
#include "test_main.h"

#include "wire/bytes.h"
#include "wire/ip.h"
#include "wire/l2tpv3.h"
#include "wire/vlan.h"
#include "wire_kit.h"

#define IPV4_OFFSET 14

static enum l2tp_verdict parse(const struct vector *v, struct l2tp_data *out) {
	return l2tp_parse(guard_copy(&guard, v->bytes, v->size), v->size, out);
}

static const struct depi_encap captured = {
	.source_mac = {0xac, 0x1f, 0x6b, 0x1b, 0xaa, 0xc1},
	.destination_mac = {0x08, 0x00, 0x27, 0x78, 0x6a, 0x0f},
	.family = 4,
	.source_ip = {10, 100, 102, 72},
	.destination_ip = {10, 100, 102, 10},
	.dscp = 4,
	.ttl = 64,
	.session = 0x00430000,
};

static const struct depi_encap over_ipv6 = {
	.source_mac = {2, 0, 0, 0, 0, 1},
	.destination_mac = {2, 0, 0, 0, 0, 2},
	.family = 6,
	.source_ip = {0x20, 0x01, 0x0d, 0xb8, [15] = 1},
	.destination_ip = {0x20, 0x01, 0x0d, 0xb8, [15] = 2},
	.dscp = 4,
	.ttl = 64,
	.session = 0x00010001,
};

/* The vector map_extra is from a real core. The IPv4 identification is excluded: with DF it has no
 * meaning. A VLAN tag is inserted after the MAC addresses and changes nothing else. */
TEST(written_headers_match_captured) {
	static const struct {
		const struct depi_encap *encap;
		const char *name;
		size_t size;
	} cases[] = {{&captured, "map_extra", 38},
		     {&over_ipv6, "ipv6", DEPI_ENCAP_MAX - VLAN_TAG_SIZE}};
	static const uint8_t tag[] = {0x81, 0x00, 0x0f, 0xfe};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct depi_encap e = *cases[i].encap;
		size_t size = depi_encap_size(&e);
		uint8_t *out = guard_tail(&guard, size), *ip = out + IPV4_OFFSET,
			untagged[DEPI_ENCAP_MAX];
		struct vector v;

		assert_int_equal(size, cases[i].size);
		vector_get("l2tpv3.txt", cases[i].name, &v);
		assert_int_equal(depi_encap_write(&e, v.size - size, out), size);
		memcpy(untagged, out, size);
		if (e.family == 4) {
			assert_true(ipv4_checksum_good(ip));
			assert_int_equal(load_be16(ip + 4), 0);
			memcpy(ip + 4, v.bytes + IPV4_OFFSET + 4, 2);
			store_be16(ip + 10, ipv4_checksum(ip, IPV4_HEADER));
		}
		assert_memory_equal(out, v.bytes, size);

		e.vlan = VLAN_MAX;
		out = guard_tail(&guard, size + sizeof(tag));
		assert_int_equal(depi_encap_size(&e), size + sizeof(tag));
		assert_int_equal(depi_encap_write(&e, v.size - size, out), size + sizeof(tag));
		assert_memory_equal(out, untagged, 12);
		assert_memory_equal(out + 12, tag, sizeof(tag));
		assert_memory_equal(out + 16, untagged + 12, size - 12);
	}
}

/* For each payload length, patching a header gives the same bytes as writing a header. */
TEST(patched_length_matches_written) {
	struct depi_encap tagged = captured, tagged_ipv6 = over_ipv6;
	const struct depi_encap *const encaps[] = {&captured, &over_ipv6, &tagged, &tagged_ipv6};
	struct l2tp_data data;

	tagged.vlan = tagged_ipv6.vlan = 10;
	for (size_t i = 0; i < ARRAY_COUNT(encaps); i++) {
		size_t size = depi_encap_size(encaps[i]);
		size_t tag = encaps[i]->vlan != 0 ? VLAN_TAG_SIZE : 0;
		size_t max = UINT16_MAX - (encaps[i]->family == 6 ? 4 : 24);
		uint8_t written[DEPI_ENCAP_MAX];
		uint8_t patched[DEPI_ENCAP_MAX];

		depi_encap_write(encaps[i], 0, patched);
		for (size_t n = 0; n <= max; n++) {
			size_t payload = n * 7919 % (max + 1); /* prime: each length once, mixed */

			assert_int_equal(depi_encap_write(encaps[i], payload, written), size);
			depi_encap_patch(patched + tag, encaps[i]->family, payload);
			if (memcmp(patched, written, size) != 0)
				fail_msg("family %u, payload %zu", encaps[i]->family, payload);
		}
		assert_int_equal(depi_encap_write(encaps[i], max + 1, written), 0);
		assert_int_equal(depi_encap_write(encaps[i], SIZE_MAX, written), 0);

		uint8_t *frame = guard_tail(&guard, size + max);

		depi_encap_write(encaps[i], max, frame);
		assert_int_equal(l2tp_parse(frame, size + max, &data), L2TP_OK);
		assert_int_equal(data.payload_size, max);
		assert_int_equal(data.session, encaps[i]->session);
	}
}

TEST(every_encapsulation_is_parsed) {
	static const struct {
		const char *name;
		enum l2tp_verdict verdict;
		uint8_t family;
		uint32_t session;
		size_t payload_offset;
		size_t source_offset;
	} cases[] = {
		{"map_extra", L2TP_OK, 4, 0x00430000, 38, 26},
		{"map_bare", L2TP_OK, 4, 0x00d40000, 38, 26},
		{"sccrq", L2TP_CONTROL, 4, 0, 38, 26},
		{"udp", L2TP_OK, 4, 0x11, 50, 26},
		{"udp_tagged", L2TP_OK, 4, 0x11, 54, 30},
		{"ipv6", L2TP_OK, 6, 0x00010001, 58, 22},
	};
	struct l2tp_data data;
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		vector_get("l2tpv3.txt", cases[i].name, &v);

		size_t payload_size = v.size - cases[i].payload_offset;

		memset(v.bytes + v.size, 0, 22); /* Ethernet padding */
		assert_int_equal(l2tp_parse(v.bytes, v.size + 22, &data), cases[i].verdict);
		assert_int_equal(data.family, cases[i].family);
		assert_int_equal(data.session, cases[i].session);
		assert_ptr_equal(data.payload, v.bytes + cases[i].payload_offset);
		assert_int_equal(data.payload_size, payload_size);
		assert_ptr_equal(data.source_ip, v.bytes + cases[i].source_offset);
		assert_ptr_equal(data.destination_ip, v.bytes + cases[i].source_offset +
							      ip_address_size(cases[i].family));
	}
}

static int parse_verdict(const uint8_t *bytes, size_t size) {
	struct l2tp_data data;

	return l2tp_parse(bytes, size, &data);
}

TEST(truncated_packets_are_rejected) {
	FILE *f = vectors_open("l2tpv3.txt");
	struct vector v;

	while (vector_next(f, &v)) {
		size_t link = strcmp(v.name, "udp_tagged") == 0 ? 18 : 14;
		size_t headers = link + (strcmp(v.name, "ipv6") == 0 ? 40 : 20);

		assert_prefixes(parse_verdict, v.bytes, 0, link, L2TP_RUNT);
		assert_prefixes(parse_verdict, v.bytes, link, headers, L2TP_IP_HEADER);
		assert_prefixes(parse_verdict, v.bytes, headers, v.size, L2TP_IP_LENGTH);
	}
	fclose(f);
}

static void set_ipv4_length(struct vector *v, uint16_t total) {
	uint8_t *ip = v->bytes + IPV4_OFFSET;

	store_be16(ip + 2, total);
	store_be16(ip + 10, ipv4_checksum(ip, IPV4_HEADER));
}

/* The payload length of IP or UDP is too short for L2TPv3. */
TEST(short_payloads_are_rejected) {
	struct l2tp_data data;
	struct vector v;

	vector_get("l2tpv3.txt", "map_bare", &v);
	for (uint16_t total = 20; total <= 30; total++) {
		set_ipv4_length(&v, total);
		v.size = IPV4_OFFSET + total;
		assert_int_equal(parse(&v, &data), total < 24 ? L2TP_TRUNCATED : L2TP_OK);
	}
	vector_get("l2tpv3.txt", "udp", &v);
	for (uint16_t udp = 0; udp <= 24; udp++) {
		enum l2tp_verdict expected = udp < 8 || udp > 20 ? L2TP_IP_LENGTH
					     : udp < 16		 ? L2TP_TRUNCATED
								 : L2TP_OK;

		store_be16(v.bytes + 38, udp);
		assert_int_equal(parse(&v, &data), expected);
		if (expected == L2TP_OK)
			assert_int_equal(data.payload_size, udp - 16);
	}
	for (uint16_t total = 20; total < 28; total++) {
		set_ipv4_length(&v, total);
		assert_int_equal(parse(&v, &data), L2TP_TRUNCATED);
	}
}

/* Each case sets one byte of a vector; the IPv4 checksum is updated. */
TEST(non_data_packets_are_rejected) {
	static const struct {
		const char *file, *name;
		size_t at;
		uint8_t value;
		enum l2tp_verdict expected;
	} cases[] = {
		{"l2tpv3.txt", "map_bare", 12, 0x88, L2TP_NOT_IP},
		{"l2tpv3.txt", "udp_tagged", 16, 0x81, L2TP_NOT_IP}, /* a second tag */
		{"l2tpv3.txt", "map_bare", IPV4_OFFSET, 0x65, L2TP_IP_HEADER},
		{"l2tpv3.txt", "map_bare", IPV4_OFFSET, 0x44, L2TP_IP_HEADER},
		{"l2tpv3.txt", "map_bare", IPV4_OFFSET + 6, 0x20, L2TP_FRAGMENT},
		{"l2tpv3.txt", "map_bare", IPV4_OFFSET + 7, 0x01, L2TP_FRAGMENT},
		{"l2tpv3.txt", "map_bare", IPV4_OFFSET + 9, 6, L2TP_NOT_L2TP},
		{"l2tpv3.txt", "udp", 42, 0x80, L2TP_CONTROL},
		{"l2tpv3.txt", "udp", 43, 0x02, L2TP_VERSION},
		{"l2tpv3.txt", "udp", 35, 0, L2TP_OK}, /* one L2TP port suffices */
		{"l2tpv3.txt", "udp", 37, 0, L2TP_OK},
		{"frames.txt", "udp6_first", 0, 2, L2TP_FRAGMENT},
		{"frames.txt", "arp", 0, 2, L2TP_NOT_IP},
		{"frames.txt", "stp", 0, 2, L2TP_NOT_IP},
	};
	struct l2tp_data data;
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		size_t at = cases[i].at;

		vector_get(cases[i].file, cases[i].name, &v);
		v.bytes[at] = cases[i].value;
		if (at >= IPV4_OFFSET && at < IPV4_OFFSET + 20)
			set_ipv4_length(&v, load_be16(v.bytes + IPV4_OFFSET + 2));
		assert_int_equal(parse(&v, &data), cases[i].expected);
	}
	vector_get("l2tpv3.txt", "udp", &v);
	v.bytes[35] = v.bytes[37] = 0;
	assert_int_equal(parse(&v, &data), L2TP_NOT_L2TP);
	v.bytes[IPV4_OFFSET + 8]--;
	assert_int_equal(parse(&v, &data), L2TP_IP_CHECKSUM);
}

ALL_TESTS(guard_group_open, guard_group_close)
