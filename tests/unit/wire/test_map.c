/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests map.h: reads, writes and checks MAP messages of versions 1 and 5. */
#include "test_main.h"

#include "wire/management.h"
#include "wire/map.h"
#include "wire_kit.h"

_Static_assert(MAP_BODY_MAX == MANAGEMENT_BODY_MAX, "the longest MAP fills the longest message");

#define BODY_OFFSET 26 /* in a PSP packet of the MAP pseudowire: 4 + 2, then the message's header */

static enum map_verdict read_guarded(struct map *out, uint8_t version, const void *body,
				     size_t size) {
	return map_read(out, version, guard_copy(&guard, body, size), size);
}

/* Version 5: 9 bits of element count, 4 bits of MAP category, as tshark decodes them. */
static const uint8_t body_5[] = {
	0x09, 0x07, 0x01, 0x80, 0x00, 0x00, 0x00, 0x10, 0xff, 0xff,
	0xff, 0xf0, 0x03, 0x06, 0x02, 0x08, 0x00, 0x05, 0x40, 0x00, /* SID 1, IUC 5 */
	0xff, 0xfc, 0x40, 0x09, /* request region, minislots 9 to 16382 */
	0x00, 0x01, 0xff, 0xff, /* null element at 16383 */
};

/* Version, channel, UCD count, element count, back-off windows, allocation start, ACK time. */
static struct map expected[] = {
	{1, 1, 0, 0, 4, 0, 10, 4, 0x01556601, 0x01556471},
	{5, 9, 7, 3, 6, 2, 8, 3, 0x10, 0xfffffff0},
};

/* SID, offset, IUC. */
static const struct map_element elements[][4] = {
	{{0x3fff, 0, MAP_INITIAL},
	 {0x3fff, 40, MAP_REQUEST},
	 {0x3fff, 295, MAP_REQUEST},
	 {0, 320, MAP_NULL}},
	{{1, 0, MAP_SHORT}, {0x3fff, 9, MAP_REQUEST}, {0, 16383, MAP_NULL}},
};

/* Writing what was read, or the expected MAP, gives the same bytes. */
TEST(both_versions_round_trip) {
	static struct map map;
	struct vector v;

	vector_get("psp.txt", "map_bare", &v);
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *body = i == 0 ? v.bytes + BODY_OFFSET : body_5;
		size_t size = i == 0 ? v.size - BODY_OFFSET : sizeof(body_5);
		uint8_t written[64];

		memcpy(expected[i].elements, elements[i], sizeof(elements[i]));
		assert_int_equal(read_guarded(&map, expected[i].version, body, size), MAP_OK);
		assert_int_equal(map.count, expected[i].count);
		assert_int_equal(map_check(&map), MAP_OK);
		assert_int_equal(map_minislots(&map), i == 0 ? 320 : 16383);
		assert_int_equal(map_write(written, size - 1, &map), 0);
		assert_int_equal(map_write(written, size, &map), size);
		assert_memory_equal(written, body, size);
		assert_int_equal(map_write(written, size, &expected[i]), size);
		assert_memory_equal(written, body, size);
	}
}

TEST(truncated_map_is_rejected) {
	static struct map map;
	struct vector v;
	uint8_t *body = v.bytes + BODY_OFFSET;

	vector_get("psp.txt", "map_bare", &v);
	memset(v.bytes + v.size, 0, 4);
	for (size_t size = 0; size <= 36; size++)
		assert_int_equal(read_guarded(&map, 1, body, size), size < 32	 ? MAP_TRUNCATED
								    : size == 32 ? MAP_OK
										 : MAP_TRAILING);
	body[2] = 0; /* no elements */
	assert_int_equal(read_guarded(&map, 1, body, 15), MAP_TRUNCATED);
	assert_int_equal(read_guarded(&map, 1, body, 16), MAP_OK);
	assert_int_equal(map.count, 0);
	assert_int_equal(map_check(&map), MAP_NO_NULL);
	map.elements[0].offset = 7; /* beyond the count: ignored */
	assert_int_equal(map_minislots(&map), 0);
}

TEST(reserved_bits_and_back_offs_are_rejected) {
	uint8_t body[20] = {[19] = 0};
	static struct map map;

	for (unsigned version = 0; version < 256; version++) {
		if (version != 1 && version != 5)
			assert_int_equal(read_guarded(&map, (uint8_t)version, body, 16),
					 MAP_BAD_VERSION);
	}
	for (unsigned bits = 1; bits < 256; bits++) {
		body[3] = (uint8_t)bits;
		assert_int_equal(read_guarded(&map, 1, body, 16), MAP_RESERVED);

		enum map_verdict verdict = bits & 0x70	      ? MAP_RESERVED
					   : (bits & 15) == 1 ? MAP_PROBE
					   : (bits & 15) > 1  ? MAP_BAD_CATEGORY
							      : MAP_TRUNCATED; /* one element */

		assert_int_equal(read_guarded(&map, 5, body, 16), verdict);
	}
	body[3] = 0;
	for (unsigned at = 12; at < 16; at++) {
		body[at] = 15;
		assert_int_equal(read_guarded(&map, 1, body, 16), MAP_OK);
		body[at] = 16;
		assert_int_equal(read_guarded(&map, 1, body, 16), MAP_BAD_BACK_OFF);
		assert_int_equal(read_guarded(&map, 5, body, 16), MAP_BAD_BACK_OFF);
		body[at] = 0;
	}
}

TEST(probe_map_is_distinguished) {
	static const uint8_t body[] = {3, 9, 0x00, 0x81, 0x12, 0x34, 0x56, 0x78, 1, 2, 3, 4};
	static struct map map;

	assert_int_equal(read_guarded(&map, 5, body, sizeof(body)), MAP_PROBE);
	assert_int_equal(map.channel, 3);
	assert_int_equal(map.ucd_count, 9);
	assert_int_equal(map.count, 1);
	assert_int_equal(map.alloc_start, 0x12345678);
	assert_int_equal(read_guarded(&map, 5, body, 8), MAP_PROBE); /* elements are not parsed */
	assert_int_equal(read_guarded(&map, 5, body, 7), MAP_TRUNCATED);
}

/* A MAP of `count` elements, the null element included; each grant has one minislot. */
static void make_map(struct map *map, uint8_t version, unsigned count) {
	*map = (struct map){.version = version, .count = (uint16_t)count};
	for (unsigned i = 0; i < count; i++)
		map->elements[i] = (struct map_element){1, (uint16_t)i, MAP_LONG};
	map->elements[count - 1] = (struct map_element){0, (uint16_t)(count - 1), MAP_NULL};
}

TEST(element_count_is_limited) {
	static uint8_t body[MAP_HEADER + MAP_ELEMENT * 511];
	static struct map map, parsed;

	for (uint8_t version = 1; version <= 5; version += 4) {
		unsigned max = version == 1 ? MAP_ELEMENTS_1 : MAP_ELEMENTS_5;
		size_t size = MAP_HEADER + MAP_ELEMENT * (size_t)max;

		make_map(&map, version, max);
		assert_int_equal(map_check(&map), MAP_OK);
		assert_int_equal(map_write(guard_tail(&guard, size), size, &map), size);
		memcpy(body, guard.base + guard.size - size, size);
		assert_int_equal(read_guarded(&parsed, version, body, size), MAP_OK);
		assert_memory_equal(&parsed, &map, sizeof(map));
		map.count++;
		assert_int_equal(map_check(&map), MAP_TOO_MANY);
		assert_int_equal(map_write(body, sizeof(body), &map), 0);
		max++;
		body[2] = (uint8_t)(version == 1 ? max : max >> 1);
		body[3] = (uint8_t)(version == 1 ? 0 : max << 7);
		assert_int_equal(map_read(&parsed, version, body, size + MAP_ELEMENT),
				 MAP_TOO_MANY);
	}
}

static bool is_writable(const struct map *map) {
	uint8_t body[64];

	return map_write(body, sizeof(body), map) == 24;
}

#define ASSERT_NOT_WRITABLE(change)              \
	do {                                     \
		make_map(&map, 1, 2);            \
		assert_true(is_writable(&map));  \
		change;                          \
		assert_false(is_writable(&map)); \
	} while (0)

TEST(value_too_large_for_field_is_not_written) {
	static struct map map;

	ASSERT_NOT_WRITABLE(map.elements[0].sid = 0x4000);
	ASSERT_NOT_WRITABLE(map.elements[0].iuc = 16);
	ASSERT_NOT_WRITABLE(map.elements[1].offset = MAP_OFFSET_MAX + 1);
	ASSERT_NOT_WRITABLE(map.ranging_start = 16);
	ASSERT_NOT_WRITABLE(map.ranging_end = 16);
	ASSERT_NOT_WRITABLE(map.data_start = 16);
	ASSERT_NOT_WRITABLE(map.data_end = 16);
	ASSERT_NOT_WRITABLE(map.version = 2);
	map = (struct map){1,
			   .count = 2,
			   .ranging_start = 15,
			   .ranging_end = 15,
			   .data_start = 15,
			   .data_end = 15};
	map.elements[0] = (struct map_element){0x3fff, 0, 15};
	map.elements[1].offset = MAP_OFFSET_MAX;
	assert_true(is_writable(&map));
}

/* Three grants, the null element, a pending grant and a data acknowledgement. */
static struct map good_map(uint8_t version) {
	return (struct map){
		.version = version,
		.count = 6,
		.data_end = 3,
		.elements =
			{
				{MAP_SID_BROADCAST, 0, MAP_REQUEST},
				{5, 6, MAP_LONG},
				{6, 7, MAP_STATION},
				{0, 100, MAP_NULL},
				{7, 100, MAP_SHORT},
				{5, 100, MAP_ACK},
			},
	};
}

TEST(map_check_enforces_element_rules) {
	static const struct {
		unsigned at;
		struct map_element element;
		enum map_verdict verdict;
	} cases[] = {
		{0, {5, 1, MAP_LONG}, MAP_BAD_START},
		{0, {5, 0, 0}, MAP_BAD_IUC},
		{0, {5, 0, MAP_LONG}, MAP_OK},
		{1, {5, 0, MAP_LONG}, MAP_BAD_ORDER},
		{1, {5, 7, MAP_LONG}, MAP_BAD_ORDER},
		{1, {5, 1, MAP_LONG}, MAP_OK},
		{1, {5, 6, MAP_ACK}, MAP_BAD_IUC},
		{1, {5, 6, 14}, MAP_BAD_IUC},
		{1, {5, 6, MAP_EXPANDED}, MAP_BAD_IUC},
		{1, {0, 6, MAP_PROFILE_13}, MAP_OK},
		{1, {0, 6, MAP_ADVANCED_SHORT}, MAP_OK},
		{1, {0, 6, MAP_REQUEST_DATA}, MAP_OK},
		{2, {0, 7, MAP_NULL}, MAP_BAD_NULL},
		{3, {1, 100, MAP_NULL}, MAP_BAD_NULL},
		{3, {0, 7, MAP_NULL}, MAP_BAD_ORDER},
		{3, {1, 100, MAP_LONG}, MAP_NO_NULL},
		{4, {7, 99, MAP_SHORT}, MAP_BAD_BEHIND},
		{4, {7, 101, MAP_SHORT}, MAP_BAD_BEHIND},
		{4, {7, 100, MAP_REQUEST}, MAP_BAD_BEHIND},
		{4, {7, 100, MAP_STATION}, MAP_BAD_BEHIND},
		{5, {7, 100, 14}, MAP_BAD_BEHIND},
		{5, {7, 100, MAP_ADVANCED_UGS}, MAP_OK},
		{5, {0, 100, MAP_NULL}, MAP_BAD_NULL},
	};

	for (unsigned version = 1; version <= 5; version += 4) {
		struct map map = good_map((uint8_t)version);

		assert_int_equal(map_check(&map), MAP_OK);
		assert_int_equal(map_minislots(&map), 100);
		for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
			map = good_map((uint8_t)version);
			map.elements[cases[i].at] = cases[i].element;
			assert_int_equal(map_check(&map), cases[i].verdict);
		}
	}
}

TEST(map_longer_than_limit_is_rejected) {
	for (uint8_t version = 1; version <= 5; version += 4) {
		struct map map = good_map(version);

		for (uint16_t beyond = 0; beyond < 2; beyond++) {
			for (unsigned i = 3; i < 6; i++)
				map.elements[i].offset = (version == 1 ? 4096 : 16383) + beyond;
			assert_int_equal(map_check(&map), beyond ? MAP_TOO_LONG : MAP_OK);
		}
	}
}

TEST(reversed_back_off_window_is_rejected) {
	for (unsigned n = 0; n < 2 * 256; n++) {
		const uint8_t start = n % 16, end = n / 16 % 16;
		struct map map = good_map(1);

		*(n < 256 ? &map.ranging_start : &map.data_start) = start;
		*(n < 256 ? &map.ranging_end : &map.data_end) = end;
		assert_int_equal(map_check(&map), start <= end ? MAP_OK : MAP_BAD_WINDOW);
	}
}

ALL_TESTS(guard_group_open, guard_group_close)
