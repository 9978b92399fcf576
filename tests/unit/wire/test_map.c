/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "wire/management.h"
#include "wire/map.h"
#include "wire_kit.h"

_Static_assert(MAP_BODY_MAX == MANAGEMENT_BODY_MAX, "the longest MAP fills the longest message");

#define BODY_AT 26 /* in a PSP packet of the MAP pseudowire: 4 + 2, then the message's header */

static enum map_verdict read_guarded(struct map *out, uint8_t version, const void *body,
				     size_t size) {
	return map_read(out, version, guard_copy(&guard, body, size), size);
}

/* What is read of the bytes keeps the rules, and is written as the same bytes; so is what is expected. */
static void comes_back(const struct map *expected, const uint8_t *body, size_t size) {
	static struct map map;
	uint8_t written[64];

	assert_int_equal(read_guarded(&map, expected->version, body, size), MAP_OK);
	assert_int_equal(map.count, expected->count);
	assert_int_equal(map_check(&map), MAP_OK);
	assert_int_equal(map_minislots(&map), expected->elements[expected->count - 1].offset);
	assert_int_equal(map_write(written, size - 1, &map), 0);
	assert_int_equal(map_write(written, size, &map), size);
	assert_memory_equal(written, body, size);
	assert_int_equal(map_write(written, size, expected), size);
	assert_memory_equal(written, body, size);
}

TEST(captured_comes_back) {
	static const struct map expected = {
		.version = 1,
		.channel = 1,
		.ranging_end = 4,
		.data_end = 10,
		.count = 4,
		.alloc_start = 0x01556601,
		.ack_time = 0x01556471,
		.elements = {{MAP_SID_BROADCAST, 0, MAP_INITIAL},
			     {MAP_SID_BROADCAST, 40, MAP_REQUEST},
			     {MAP_SID_BROADCAST, 295, MAP_REQUEST},
			     {0, 320, MAP_NULL}},
	};
	struct vector v;

	vector_get("psp.txt", "map_bare", &v);
	comes_back(&expected, v.bytes + BODY_AT, v.size - BODY_AT);
}

/* Version 5 as tshark reads it: a count of 9 bits, a category of 4. */
TEST(version_5_counts_by_nine_bits) {
	static const uint8_t body[] = {
		0x09, 0x07, 0x01, 0x80, 0x00, 0x00, 0x00, 0x10, 0xff, 0xff,
		0xff, 0xf0, 0x03, 0x06, 0x02, 0x08, 0x00, 0x05, 0x40, 0x00, /* SID 1, IUC 5 */
		0xff, 0xfc, 0x40, 0x09, /* a request region from minislot 9 on */
		0x00, 0x01, 0xff, 0xff, /* null at 16383 */
	};
	static const struct map expected = {
		5,
		9,
		7,
		3,
		6,
		2,
		8,
		3,
		0x10,
		0xfffffff0,
		{{1, 0, MAP_SHORT}, {MAP_SID_BROADCAST, 9, MAP_REQUEST}, {0, 16383, MAP_NULL}},
	};

	comes_back(&expected, body, sizeof(body));
}

TEST(every_truncation_is_told) {
	static struct map map;
	struct vector v;

	vector_get("psp.txt", "map_bare", &v);
	for (size_t size = 0; size < 32; size++)
		assert_int_equal(read_guarded(&map, 1, v.bytes + BODY_AT, size), MAP_TRUNCATED);
	memset(v.bytes + v.size, 0, 4);
	for (size_t more = 1; more <= 4; more++)
		assert_int_equal(read_guarded(&map, 1, v.bytes + BODY_AT, 32 + more), MAP_TRAILING);
	/* without elements the header is all */
	v.bytes[BODY_AT + 2] = 0;
	assert_int_equal(read_guarded(&map, 1, v.bytes + BODY_AT, 16), MAP_OK);
	assert_int_equal(map.count, 0);
	assert_int_equal(map_check(&map), MAP_NO_NULL);
	map.elements[0].offset = 7; /* beyond the count */
	assert_int_equal(map_minislots(&map), 0);
	assert_int_equal(read_guarded(&map, 1, v.bytes + BODY_AT, 15), MAP_TRUNCATED);
}

TEST(what_would_not_come_back_is_refused) {
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

		enum map_verdict wanted = bits & 0x70	     ? MAP_RESERVED
					  : (bits & 15) == 1 ? MAP_PROBE
					  : (bits & 15) > 1  ? MAP_BAD_CATEGORY
							     : MAP_TRUNCATED; /* one element */

		assert_int_equal(read_guarded(&map, 5, body, 16), wanted);
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

TEST(a_probe_map_is_told_apart) {
	static const uint8_t body[] = {3, 9, 0x00, 0x81, 0x12, 0x34, 0x56, 0x78, 1, 2, 3, 4};
	static struct map map;

	assert_int_equal(read_guarded(&map, 5, body, sizeof(body)), MAP_PROBE);
	assert_int_equal(map.channel, 3);
	assert_int_equal(map.ucd_count, 9);
	assert_int_equal(map.count, 1);
	assert_int_equal(map.alloc_start, 0x12345678);
	assert_int_equal(read_guarded(&map, 5, body, 8),
			 MAP_PROBE); /* what is left is not looked at */
	assert_int_equal(read_guarded(&map, 5, body, 7), MAP_TRUNCATED);
}

/* A MAP whose elements are all of one minislot, `count` with the null one. */
static void long_map(struct map *map, uint8_t version, unsigned count) {
	*map = (struct map){.version = version, .count = (uint16_t)count};
	for (unsigned i = 0; i < count && i < MAP_ELEMENTS_5; i++)
		map->elements[i] =
			(struct map_element){.sid = 1, .iuc = MAP_LONG, .offset = (uint16_t)i};
	if (count > 0 && count <= MAP_ELEMENTS_5)
		map->elements[count - 1] =
			(struct map_element){.iuc = MAP_NULL, .offset = (uint16_t)(count - 1)};
}

TEST(counts_have_bounds) {
	static const struct {
		uint8_t version;
		uint16_t most;
	} rows[] = {{1, MAP_ELEMENTS_1}, {5, MAP_ELEMENTS_5}};
	static uint8_t body[MAP_HEADER + MAP_ELEMENT * 511];
	static struct map map, back;

	for (unsigned r = 0; r < 2; r++) {
		size_t size = MAP_HEADER + MAP_ELEMENT * (size_t)rows[r].most;

		long_map(&map, rows[r].version, rows[r].most);
		assert_int_equal(map_check(&map), MAP_OK);
		assert_int_equal(map_write(guard_take(&guard, size), size, &map), size);
		assert_int_equal(
			map_read(&back, rows[r].version, guard.base + guard.room - size, size),
			MAP_OK);
		assert_memory_equal(&back, &map, sizeof(map));
		map.count++;
		assert_int_equal(map_check(&map), MAP_TOO_MANY);
		assert_int_equal(map_write(body, sizeof(body), &map), 0);
	}
	memset(body, 0, sizeof(body));
	body[2] = 241;
	assert_int_equal(map_read(&back, 1, body, MAP_HEADER + 241 * 4), MAP_TOO_MANY);
	body[2] = 491 >> 1;
	body[3] = (491 & 1) << 7;
	assert_int_equal(map_read(&back, 5, body, MAP_HEADER + 491 * 4), MAP_TOO_MANY);
}

static size_t long_written(const struct map *map) {
	uint8_t body[64];

	return map_write(body, sizeof(body), map);
}

TEST(a_field_that_does_not_hold_its_value) {
	static struct map map;
	uint8_t *const windows[] = {&map.ranging_start, &map.ranging_end, &map.data_start,
				    &map.data_end};

	long_map(&map, 1, 2);
	map.elements[0].sid = 0x4000;
	assert_int_equal(long_written(&map), 0);
	map.elements[0].sid = 0x3fff;
	map.elements[0].iuc = 16;
	assert_int_equal(long_written(&map), 0);
	map.elements[0].iuc = 15;
	map.elements[1].offset = MAP_OFFSET_MAX + 1;
	assert_int_equal(long_written(&map), 0);
	map.elements[1].offset = MAP_OFFSET_MAX;
	assert_int_equal(long_written(&map), 24);
	for (unsigned i = 0; i < 4; i++) {
		*windows[i] = 16;
		assert_int_equal(long_written(&map), 0);
		*windows[i] = 15;
	}
	assert_int_equal(long_written(&map), 24);
	map.version = 2;
	assert_int_equal(long_written(&map), 0);
}

ALL_TESTS(guard_group_open, guard_group_close)
