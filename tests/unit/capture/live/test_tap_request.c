/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the parser of capture requests: values, defaults and refusals. */
#include "test_main.h"

#include "capture/live/request.h"
#include "random.h"

static struct tap_request parsed;
static char why[TAP_LINE];

static bool parse(const char *line) {
	memset(why, 0, sizeof(why));
	return tap_request_read(line, strlen(line), &parsed, why);
}

TEST(empty_request_has_defaults) {
	assert_true(parse("{}"));
	assert_int_equal(__builtin_popcountll(parsed.down), 1);
	assert_int_equal(__builtin_popcountll(parsed.up), 1);
	assert_false(parsed.drops || parsed.has_group);
	assert_int_equal(parsed.rate, TAP_RATE_DEFAULT);
	assert_int_equal(parsed.size, TAP_SIZE_DEFAULT);
	assert_int_equal(parsed.snap, TAP_SNAP_MAX);
	assert_int_equal(parsed.sample, 1);
	assert_int_equal(parsed.wants, 0);
	assert_int_equal(parsed.count, 0);
	assert_int_equal(parsed.duration, 0);
}

TEST(each_key_sets_its_field) {
	static const uint8_t mac[6] = {2, 0xab, 0xcd, 0xef, 0, 1};

	assert_true(parse("{\"group\":0,\"stages\":[\"frame\",\"encrypt_submit\",\"depi:in\"],"
			  "\"direction\":\"downstream\",\"modem\":\"02:aB:CD:ef:00:01\",\"flow\":7,"
			  "\"session\":9,\"dropped\":[\"filter_deny\",\"runt\"],\"count\":3,"
			  "\"seconds\":1.5,\"rate\":5,\"sample\":6,\"snaplen\":100,"
			  "\"max_size\":5000}"));
	assert_int_equal(__builtin_popcountll(parsed.down), 3);
	assert_int_equal(parsed.up, 0);
	assert_true(parsed.has_group && parsed.group == 0 && parsed.drops);
	assert_memory_equal(parsed.mac, mac, 6);
	assert_int_equal(parsed.wants, TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION);
	assert_int_equal(parsed.sfid, 7);
	assert_int_equal(parsed.session, 9);
	assert_int_equal(parsed.duration, 1500000000);
	assert_int_equal(parsed.count, 3);
	assert_int_equal(parsed.rate, 5);
	assert_int_equal(parsed.sample, 6);
	assert_int_equal(parsed.snap, 100);
	assert_int_equal(parsed.size, 5000);
	for (unsigned r = 0; r < DROP_REASONS; r++)
		assert_int_equal(parsed.reasons[r / 64] >> r % 64 & 1,
				 r == DROP_FILTER_DENY || r == DROP_RUNT);
}

/* `dropped: true` selects all drop reasons of the direction and no stage. */
TEST(dropped_selects_all_reasons_of_direction) {
	assert_true(parse("{\"dropped\":true,\"direction\":\"upstream\"}"));
	assert_int_equal(parsed.down | parsed.up, 0);
	for (enum drop_reason r = 0; r < DROP_REASONS; r++)
		assert_int_equal(parsed.reasons[r / 64] >> r % 64 & 1, drop_in(r, DIRECTION_UP));
	assert_true(parse("{\"dropped\":false}"));
	assert_true(!parsed.drops && parsed.down != 0);
}

TEST(invalid_request_is_refused_with_allowed_values) {
	static const char *const lines[][2] = {
		{"", "found no JSON"},
		{"[]", "found no JSON object, allowed: one object of keys"},
		{"{\"nix\":1}", "unknown key \"nix\"; known: group, stages, direction"},
		{"{\"group\":-1}", "group: allowed: a whole number"},
		{"{\"group\":4294967296}", "group: allowed"},
		{"{\"group\":\"1\"}", "group: allowed"},
		{"{\"stages\":[]}", "stages: allowed: a list"},
		{"{\"stages\":\"frame\"}", "stages: allowed: a list"},
		{"{\"stages\":[1]}", "stages: allowed: a list"},
		{"{\"stages\":[\"frames\"]}",
		 "unknown stage \"frames\"; did you mean frame? `vcmts capture --list`"},
		{"{\"stages\":[\"frame:up\"]}",
		 "no packets at \"frame:up\"; NAME:in and NAME:out are"},
		{"{\"stages\":[\"transmit:out\"]}", "no packets at \"transmit:out\""},
		{"{\"stages\":[\"frame\"],\"direction\":\"upstream\"}",
		 "unknown upstream stage \"frame\"; `vcmts capture --list` shows all"},
		{"{\"direction\":\"up\"}", "allowed: downstream, upstream"},
		{"{\"modem\":\"02:00:00:00:00:0\"}", "a MAC address"},
		{"{\"modem\":\"02:00:00:00:00:010\"}", "a MAC address"},
		{"{\"modem\":\"02-00-00-00-00-01\"}", "a MAC address"},
		{"{\"modem\":2}", "a MAC address"},
		{"{\"flow\":0}", "flow: allowed"},
		{"{\"session\":0}", "session: allowed"},
		{"{\"dropped\":[]}", "dropped: allowed: true, or a list"},
		{"{\"dropped\":\"runt\"}", "dropped: allowed: true, or a list"},
		{"{\"dropped\":[\"nix\"]}",
		 "unknown drop reason \"nix\"; `vcmts capture --list` shows all"},
		{"{\"dropped\":[\"filter_den\"]}", "did you mean filter_deny? `vcmts capture"},
		{"{\"dropped\":[\"runt\"],\"direction\":\"upstream\"}",
		 "unknown upstream drop reason \"runt\"; `vcmts"},
		{"{\"count\":0}", "count: allowed"},
		{"{\"seconds\":0}", "seconds: allowed"},
		{"{\"seconds\":1e-10}", "seconds: allowed"},
		{"{\"seconds\":1e99}", "seconds: allowed"},
		{"{\"seconds\":\"1\"}", "seconds: allowed"},
		{"{\"rate\":1000001}", "rate: allowed: a whole number from 1 to 1000000"},
		{"{\"sample\":0}", "sample: allowed"},
		{"{\"snaplen\":65536}", "snaplen: allowed"},
		{"{\"max_size\":100}", "max_size: allowed"},
		{"{\"modem\":\"02:00:00:00:00:01\",\"stages\":[\"parse\"]}",
		 "modem: unknown at these stages"},
		{"{\"flow\":1,\"stages\":[\"depi\"]}", "flow: unknown at these stages"},
		{"{\"session\":1,\"stages\":[\"filter\"]}", "session: unknown at these stages"},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(lines); i++) {
		assert_false(parse(lines[i][0]));
		assert_non_null(strstr(why, lines[i][1]));
		assert_null(strchr(why, '\n'));
	}
}

/* A damaged request is accepted or refused with a reason. The parser must not read past its end. */
TEST(damaged_request_is_parsed_or_refused) {
	static const char good[] =
		"{\"group\":1,\"stages\":[\"frame\"],\"modem\":\"02:00:00:00:00:01\""
		",\"dropped\":[\"runt\"],\"seconds\":1.5,\"count\":10}";
	struct random random = {7};
	char line[sizeof(good)];

	for (int i = 0; i < 20000; i++) {
		size_t size = random_below(&random, sizeof(good));
		unsigned flips = 1 + random_below(&random, 3);

		memcpy(line, good, sizeof(good));
		for (unsigned f = 0; f < flips; f++)
			line[random_below(&random, sizeof(good) - 1)] =
				(char)random_below(&random, 256);
		why[0] = '\0';
		assert_true(tap_request_read(line, size, &parsed, why) || why[0] != '\0');
	}
}
