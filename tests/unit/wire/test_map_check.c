/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "wire/map.h"

/* Three elements, the null one, a grant pending and an acknowledgement. */
static struct map good_map(uint8_t version) {
	return (struct map){
		.version = version,
		.count = 6,
		.data_end = 3,
		.elements =
			{
				{.sid = MAP_SID_BROADCAST, .iuc = MAP_REQUEST, .offset = 0},
				{.sid = 5, .iuc = MAP_LONG, .offset = 6},
				{.sid = 6, .iuc = MAP_STATION, .offset = 7},
				{.iuc = MAP_NULL, .offset = 100},
				{.sid = 7, .iuc = MAP_SHORT, .offset = 100},
				{.sid = 5, .iuc = MAP_ACK, .offset = 100},
			},
	};
}

struct breach {
	unsigned at;
	struct map_element element;
	enum map_verdict wanted;
};

TEST(rules_are_checked) {
	static const struct breach rows[] = {
		{0, {.sid = 5, .iuc = MAP_LONG, .offset = 1}, MAP_BAD_START},
		{0, {.sid = 5, .iuc = 0, .offset = 0}, MAP_BAD_IUC},
		{0, {.sid = 5, .iuc = MAP_LONG, .offset = 0}, MAP_OK},
		{1, {.sid = 5, .iuc = MAP_LONG, .offset = 0}, MAP_BAD_ORDER},
		{1, {.sid = 5, .iuc = MAP_LONG, .offset = 7}, MAP_BAD_ORDER},
		{1, {.sid = 5, .iuc = MAP_LONG, .offset = 1}, MAP_OK},
		{1, {.sid = 5, .iuc = MAP_ACK, .offset = 6}, MAP_BAD_IUC},
		{1, {.sid = 5, .iuc = 14, .offset = 6}, MAP_BAD_IUC},
		{1, {.sid = 5, .iuc = MAP_EXPANDED, .offset = 6}, MAP_BAD_IUC},
		{1, {.sid = 0, .iuc = MAP_PROFILE_13, .offset = 6}, MAP_OK},
		{1, {.sid = 0, .iuc = MAP_ADVANCED_SHORT, .offset = 6}, MAP_OK},
		{1, {.sid = 0, .iuc = MAP_REQUEST_DATA, .offset = 6}, MAP_OK},
		{2, {.iuc = MAP_NULL, .offset = 7}, MAP_BAD_NULL},
		{3, {.sid = 1, .iuc = MAP_NULL, .offset = 100}, MAP_BAD_NULL},
		{3, {.iuc = MAP_NULL, .offset = 7}, MAP_BAD_ORDER},
		{3, {.sid = 1, .iuc = MAP_LONG, .offset = 100}, MAP_NO_NULL},
		{4, {.sid = 7, .iuc = MAP_SHORT, .offset = 99}, MAP_BAD_BEHIND},
		{4, {.sid = 7, .iuc = MAP_SHORT, .offset = 101}, MAP_BAD_BEHIND},
		{4, {.sid = 7, .iuc = MAP_REQUEST, .offset = 100}, MAP_BAD_BEHIND},
		{4, {.sid = 7, .iuc = MAP_STATION, .offset = 100}, MAP_BAD_BEHIND},
		{5, {.sid = 7, .iuc = 14, .offset = 100}, MAP_BAD_BEHIND},
		{5, {.sid = 7, .iuc = MAP_ADVANCED_UGS, .offset = 100}, MAP_OK},
		{5, {.sid = 0, .iuc = MAP_NULL, .offset = 100}, MAP_BAD_NULL},
	};

	for (unsigned version = 1; version <= 5; version += 4) {
		struct map map = good_map((uint8_t)version);

		assert_int_equal(map_check(&map), MAP_OK);
		assert_int_equal(map_minislots(&map), 100);
		for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
			map = good_map((uint8_t)version);
			map.elements[rows[i].at] = rows[i].element;
			assert_int_equal(map_check(&map), rows[i].wanted);
		}
	}
}

TEST(nothing_beyond_the_bounds) {
	static const struct {
		uint8_t version;
		uint16_t most;
	} rows[] = {{1, 4096}, {5, 16383}};

	for (unsigned r = 0; r < 2; r++) {
		struct map map = good_map(rows[r].version);

		for (unsigned i = 3; i < 6; i++)
			map.elements[i].offset = rows[r].most;
		assert_int_equal(map_check(&map), MAP_OK);
		for (unsigned i = 3; i < 6; i++)
			map.elements[i].offset++;
		assert_int_equal(map_check(&map), MAP_TOO_LONG);
	}
}

TEST(windows_end_behind_their_start) {
	struct map map = good_map(1);

	map.data_start = 3;
	assert_int_equal(map_check(&map), MAP_OK);
	map.data_start = 4;
	assert_int_equal(map_check(&map), MAP_BAD_WINDOW);
	map.data_start = 0;
	map.ranging_start = 1;
	assert_int_equal(map_check(&map), MAP_BAD_WINDOW);
	map.ranging_end = 1;
	assert_int_equal(map_check(&map), MAP_OK);
}
