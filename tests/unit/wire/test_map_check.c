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
				{MAP_SID_BROADCAST, 0, MAP_REQUEST},
				{5, 6, MAP_LONG},
				{6, 7, MAP_STATION},
				{0, 100, MAP_NULL},
				{7, 100, MAP_SHORT},
				{5, 100, MAP_ACK},
			},
	};
}

TEST(rules_are_checked) {
	static const struct {
		unsigned at;
		struct map_element element;
		enum map_verdict wanted;
	} rows[] = {
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
