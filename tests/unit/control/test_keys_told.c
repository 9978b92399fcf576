/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of keys as what is told of an object has them. */
#include "test_main.h"

#include <string.h>

#include "control/keys_told.h"
#include "model/keys/key_rows.h"

/* clang-format off */
static const struct choice sizes[] = {{"32", 16}, {NULL, 0}};
static const struct key inner_keys[] = {
	{.name = "id", .required = true, INTEGER(1, 9), HELP("number")},
	{.name = "hidden", .kind = KIND_HEX, .secret = true, .choices = sizes, HELP("a key")},
	{0},
};
static const struct key inner_item = {.kind = KIND_MAP, .keys = inner_keys, HELP("one")};
static const struct key number_item = {INTEGER(1, 9), HELP("a number")};
static const struct key keys[] = {
	{.name = "needed", .required = true, INTEGER(1, 9), HELP("always given")},
	{.name = "size", SIZE(1, 1000000), .fallback = "2 kB", HELP("by default")},
	{.name = "given", SIZE(1, 9), HELP("where it was given")},
	{.name = "key", .kind = KIND_HEX, .secret = true, .choices = sizes, HELP("a key")},
	{.name = "after", INTEGER(1, 9), .follows = true, HELP("follows from others")},
	{.name = "there", INTEGER(1, 9), .fallback = "3", .beside = true, HELP("beside others")},
	{.name = "ports", .kind = KIND_PORTS, .fallback = "0-65535", HELP("not told where all")},
	{.name = "protocol", .kind = KIND_PROTOCOL, HELP("a number or a word")},
	{.name = "numbers", .kind = KIND_LIST, .item = &number_item, HELP("may be empty")},
	{.name = "list", .kind = KIND_LIST, .item = &inner_item, HELP("maps")},
	{.name = "map", .kind = KIND_MAP, .keys = inner_keys, HELP("a map")},
	{0},
};
static const struct key more_inner_keys[] = {
	{.name = "count", .required = true, INTEGER(0, 9), HELP("of it")},
	{0},
};
static const struct key more_item = {.kind = KIND_MAP, .keys = more_inner_keys, HELP("one")};
static const struct key more[] = {
	{.name = "list", .kind = KIND_LIST, .item = &more_item},
	{.name = "whose", .required = true, INTEGER(1, 9), HELP("besides")},
	{0},
};
/* clang-format on */

static struct arena *arena;
static const struct key *told;

static int begin(void **state) {
	arena = arena_new();
	assert_non_null(arena);
	told = keys_told(arena, keys, more);
	assert_non_null(told);
	return 0;
}

static int end(void **state) {
	arena_free(arena);
	return 0;
}

static const struct key *row(const char *name) {
	const struct key *key = told;

	while (strcmp(key->name, name) != 0)
		key++;
	return key;
}

TEST(what_is_always_there) {
	static const struct {
		const char *name;
		bool always;
	} of[] = {
		{"needed", true}, {"size", true},   {"given", false},	 {"after", true},
		{"there", false}, {"ports", false}, {"protocol", false}, {"numbers", true},
		{"list", true},	  {"map", false},   {"whose", true},
	};

	for (size_t i = 0; i < ARRAY_COUNT(of); i++) {
		if (row(of[i].name)->required != of[i].always)
			fail_msg("%s", of[i].name);
	}
}

TEST(words_become_numbers) {
	assert_int_equal(row("size")->kind, KIND_INTEGER);
	assert_int_equal(row("size")->max, 1000000);
	assert_string_equal(row("size")->example, "2000");
	assert_null(row("size")->fallback);
	assert_null(row("given")->example);
	assert_int_equal(row("protocol")->kind, KIND_INTEGER);
	assert_int_equal(row("protocol")->max, 255);
	assert_string_equal(row("there")->example, "3");
	assert_null(row("there")->fallback);
}

ALL_TESTS(begin, end)
