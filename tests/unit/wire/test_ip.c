/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests ip.h: the parser of Ethernet frames (IPv4, IPv6, ARP) and the IPv4 checksum. */
#include "test_main.h"

#include "wire/bytes.h"
#include "wire/ip.h"
#include "wire_kit.h"

static enum frame_verdict parse(const struct vector *v, struct frame_fields *out) {
	return frame_parse(guard_copy(&guard, v->bytes, v->size), v->size, out);
}

struct expectation {
	const char *name;
	enum frame_kind kind;
	uint16_t ethertype;
	uint8_t tos;
	uint8_t protocol;
	bool fragment;
	size_t source_offset; /* offset of the source address in the frame; 0: none */
	size_t address_step; /* bytes from source to destination address */
	uint16_t source_port;
	uint16_t destination_port;
	size_t upper_size;
	uint16_t extensions;
};

static const struct expectation expectations[] = {
	{"udp4", FRAME_IPV4, 0x0800, 0xb8, 17, false, 26, 4, 50000, 5004, 12},
	{"tcp4_options", FRAME_IPV4, 0x0800, 0, 6, false, 26, 4, 443, 40000, 20},
	{"udp4_first", FRAME_IPV4, 0x0800, 0, 17, true, 26, 4, 50000, 5004, 8},
	{"udp4_later", FRAME_IPV4, 0x0800, 0, 17, true, 26, 4, 0, 0, 8},
	{"udp6", FRAME_IPV6, 0x86dd, 0x28, 17, false, 22, 16, 1234, 53, 8},
	{"tcp6_extensions", FRAME_IPV6, 0x86dd, 0, 6, false, 22, 16, 80, 8080, 20, 0x13},
	{"udp6_first", FRAME_IPV6, 0x86dd, 0, 17, true, 22, 16, 1234, 53, 8, 0x04},
	{"udp6_later", FRAME_IPV6, 0x86dd, 0, 17, true, 22, 16, 0, 0, 8, 0x04},
	{"udp6_atomic", FRAME_IPV6, 0x86dd, 0, 17, false, 22, 16, 1234, 53, 8, 0x04},
	{"arp", FRAME_ARP, 0x0806, 0, 0, false, 28, 10, 0, 0, 0},
	{"stp", FRAME_OTHER, 0x0026, 0, 0, false, 0, 0, 0, 0, 0},
};

static void assert_fields(const struct expectation *e, const uint8_t *frame,
			  const struct frame_fields *f) {
	uint8_t family = e->kind == FRAME_IPV6 ? 6 : e->kind == FRAME_OTHER ? 0 : 4;

	assert_int_equal(f->kind, e->kind);
	assert_int_equal(f->ethertype, e->ethertype);
	assert_int_equal(f->tos, e->tos);
	assert_int_equal(f->protocol, e->protocol);
	assert_int_equal(f->fragment, e->fragment);
	assert_int_equal(f->family, family);
	assert_ptr_equal(f->source, e->source_offset ? frame + e->source_offset : NULL);
	assert_ptr_equal(f->destination,
			 e->source_offset ? frame + e->source_offset + e->address_step : NULL);
	assert_int_equal(f->source_port, e->source_port);
	assert_int_equal(f->destination_port, e->destination_port);
	assert_int_equal(f->upper_size, e->upper_size);
	assert_int_equal(f->extensions, e->extensions);
	assert_int_equal(f->has_ports, e->destination_port != 0);
}

static enum frame_verdict truncation_verdict(const struct expectation *e, size_t length) {
	if (length < ETHERNET_HEADER)
		return FRAME_RUNT;
	length -= ETHERNET_HEADER;
	switch (e->kind) {
	case FRAME_IPV4:
		return length < (e->source_port == 443 ? 24 : 20) ? FRAME_IPV4_HEADER
								  : FRAME_IPV4_LENGTH;
	case FRAME_IPV6: return length < IPV6_HEADER ? FRAME_IPV6_HEADER : FRAME_IPV6_LENGTH;
	case FRAME_ARP: return FRAME_ARP_MALFORMED;
	case FRAME_OTHER: break;
	}
	return FRAME_GOOD;
}

/* Each vector as it is, with Ethernet padding, and truncated. */
TEST(every_frame_kind_is_parsed) {
	struct frame_fields fields;
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(expectations); i++) {
		const struct expectation *e = &expectations[i];

		vector_get("frames.txt", e->name, &v);
		assert_int_equal(parse(&v, &fields), FRAME_GOOD);
		assert_fields(e, guard.base + guard.size - v.size, &fields);
		memset(v.bytes + v.size, 0xff, 40);
		assert_int_equal(frame_parse(v.bytes, v.size + 40, &fields), FRAME_GOOD);
		assert_fields(e, v.bytes, &fields);
		while (v.size-- > 0)
			assert_int_equal(parse(&v, &fields), truncation_verdict(e, v.size));
	}
}

/* Headers beyond the length that IP states are ignored, even if the frame contains them. */
TEST(ip_length_limits_headers) {
	struct frame_fields fields;
	struct vector v;

	vector_get("frames.txt", "udp4", &v);
	for (uint16_t total = 0; total < 64; total++) {
		store_be16(v.bytes + 16, total);
		if (total < 20 || total > 32) {
			assert_int_equal(parse(&v, &fields), FRAME_IPV4_LENGTH);
			continue;
		}
		assert_int_equal(parse(&v, &fields), FRAME_GOOD);
		assert_int_equal(fields.upper_size, total - 20);
		assert_int_equal(fields.destination_port, total < 24 ? 0 : 5004);
	}
	vector_get("frames.txt", "tcp6_extensions", &v);
	for (uint16_t payload = 0; payload <= 68; payload++) {
		store_be16(v.bytes + 18, payload);
		v.size = 54 + payload;
		assert_int_equal(parse(&v, &fields), payload < 48 ? FRAME_IPV6_HEADER : FRAME_GOOD);
		if (payload >= 48)
			assert_int_equal(fields.destination_port, payload < 52 ? 0 : 8080);
	}
}

TEST(malformed_headers_are_rejected) {
	struct frame_fields fields;
	struct vector v;

	vector_get("frames.txt", "udp4", &v);
	for (unsigned first = 0; first < 256; first++) {
		enum frame_verdict expected = FRAME_IPV4_HEADER;

		if (first >= 0x45 && first <= 0x48) /* options fit up to 32 bytes of header */
			expected = FRAME_GOOD;
		v.bytes[14] = (uint8_t)first;
		assert_int_equal(parse(&v, &fields), expected);
	}
	vector_get("frames.txt", "udp6", &v);
	v.bytes[14] = 0x52;
	assert_int_equal(parse(&v, &fields), FRAME_IPV6_HEADER);
	vector_get("frames.txt", "arp", &v);
	for (size_t at = 14; at < 20; at++) {
		v.bytes[at] ^= 1;
		assert_int_equal(parse(&v, &fields), FRAME_ARP_MALFORMED);
		v.bytes[at] ^= 1;
	}
	v.bytes[21] = 2; /* ARP reply */
	assert_int_equal(parse(&v, &fields), FRAME_GOOD);
	store_be16(v.bytes + 12, ETHERTYPE_VLAN);
	assert_int_equal(parse(&v, &fields), FRAME_VLAN);
	store_be16(v.bytes + 12, ETHERTYPE_SERVICE_VLAN);
	assert_int_equal(parse(&v, &fields), FRAME_VLAN);
	assert_int_equal(fields.ethertype, ETHERTYPE_SERVICE_VLAN);
}

/* Loads a UDP packet and inserts `count` extension headers of 8 bytes each. */
static void load_udp_with_extensions(struct vector *v, const uint8_t *types, unsigned count) {
	vector_get("frames.txt", "udp6", v);
	memmove(v->bytes + 54 + 8 * count, v->bytes + 54, 8);
	memset(v->bytes + 54, 0, 8 * (size_t)count);
	for (unsigned i = 0; i < count; i++)
		v->bytes[54 + 8 * i] = i + 1 < count ? types[i + 1] : IP_PROTOCOL_UDP;
	if (count > 0)
		v->bytes[20] = types[0];
	store_be16(v->bytes + 18, (uint16_t)(8 + 8 * count));
	v->size += 8 * (size_t)count;
}

TEST(more_than_16_extensions_are_rejected) {
	struct frame_fields fields;
	struct vector v;
	uint8_t types[20];

	memset(types, 60, sizeof(types));
	for (unsigned count = 0; count <= 18; count++) {
		load_udp_with_extensions(&v, types, count);
		if (count > IPV6_EXTENSIONS_MAX) {
			assert_int_equal(parse(&v, &fields), FRAME_IPV6_EXTENSIONS);
			continue;
		}
		assert_int_equal(parse(&v, &fields), FRAME_GOOD);
		assert_int_equal(fields.protocol, IP_PROTOCOL_UDP);
		assert_int_equal(fields.destination_port, 53);
		assert_int_equal(fields.extensions, count > 0 ? 0x10 : 0);
	}
}

/* Types as in RFC 7045, section 4. `unit` is the unit of the header's length field, in bytes. */
TEST(every_extension_type_is_skipped) {
	static const uint8_t types[] = {0, 43, 44, 51, 60, 135, 139, 140, 253, 254};
	struct frame_fields fields;
	struct vector v;

	for (unsigned i = 0; i < ARRAY_COUNT(types); i++) {
		unsigned unit = types[i] == 51 ? 4 : 8;

		assert_int_equal(ipv6_extension(i), types[i]);
		for (unsigned length = 0; length < 4; length++) {
			size_t size = types[i] == 44 ? 8 : 8 + unit * (size_t)length;

			load_udp_with_extensions(&v, &types[i], 1);
			memmove(v.bytes + 54 + size, v.bytes + 62, 8);
			v.bytes[55] = (uint8_t)length;
			memset(v.bytes + 56, 0, size - 2);
			store_be16(v.bytes + 18, (uint16_t)(size + 8));
			v.size = 54 + size + 8;
			assert_int_equal(parse(&v, &fields), FRAME_GOOD);
			assert_int_equal(fields.extensions, 1 << i);
			assert_int_equal(fields.protocol, IP_PROTOCOL_UDP);
			assert_int_equal(fields.destination_port, 53);
			store_be16(v.bytes + 18, (uint16_t)(size - 1));
			v.size = 54 + size - 1;
			if (types[i] < 253) {
				assert_int_equal(parse(&v, &fields), FRAME_IPV6_HEADER);
				continue;
			}
			assert_int_equal(parse(&v, &fields), FRAME_GOOD);
			assert_int_equal(fields.protocol, types[i]);
			assert_int_equal(fields.extensions, 0);
		}
	}
	for (unsigned type = 0; type < 256; type++) {
		bool known = memchr(types, (int)type, sizeof(types)) != NULL;

		load_udp_with_extensions(&v, (const uint8_t[]){(uint8_t)type}, 1);
		assert_int_equal(parse(&v, &fields), FRAME_GOOD);
		assert_int_equal(fields.extensions != 0, known);
		assert_int_equal(fields.protocol, known ? IP_PROTOCOL_UDP : type);
	}
}

/* RFC 7112: the first fragment contains the ports. Otherwise it could evade port rules. */
TEST(first_fragment_without_ports_is_rejected) {
	static const uint8_t types[] = {44, 60};
	struct frame_fields fields;
	struct vector v;

	for (unsigned upper = 0; upper <= 8; upper++) {
		for (unsigned more = 0; more <= 1; more++) {
			load_udp_with_extensions(&v, types, 2);
			v.bytes[57] = (uint8_t)more;
			store_be16(v.bytes + 18, (uint16_t)(16 + upper));
			v.size = 70 + upper;
			assert_int_equal(parse(&v, &fields),
					 more && upper < 4 ? FRAME_IPV6_HEADER : FRAME_GOOD);
			if (upper >= 4)
				assert_int_equal(fields.destination_port, 53);
		}
	}
	load_udp_with_extensions(&v, types, 2);
	v.bytes[57] = 9; /* a later fragment has no upper header */
	assert_int_equal(parse(&v, &fields), FRAME_GOOD);
	assert_int_equal(fields.protocol, 60);
	assert_int_equal(fields.extensions, 0x04);
	assert_false(fields.has_ports);
}

/* `words` is a sum whose carry, when added, carries again. */
TEST(ipv4_checksum_detects_bit_errors) {
	static const uint8_t words[IPV4_HEADER] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, [15] = 1,
	};
	struct vector v;

	for (size_t i = 0; expectations[i].kind == FRAME_IPV4; i++) {
		vector_get("frames.txt", expectations[i].name, &v);

		size_t size = 4 * (size_t)(v.bytes[14] & 0x0f);
		uint8_t *ip = guard_copy(&guard, v.bytes + 14, size);

		assert_true(ipv4_checksum_good(ip));
		assert_int_equal(ipv4_checksum(ip, size), load_be16(v.bytes + 24));
		for (size_t bit = 8; bit < 8 * size; bit++) {
			flip_bit(ip, bit);
			assert_false(ipv4_checksum_good(ip));
			store_be16(ip + 10, ipv4_checksum(ip, size));
			assert_true(ipv4_checksum_good(ip));
			memcpy(ip, v.bytes + 14, size);
		}
	}
	assert_int_equal(ipv4_checksum(words, sizeof(words)), 0xfffe);
}

ALL_TESTS(guard_group_open, guard_group_close)
