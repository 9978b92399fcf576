/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client may request, and what is said of the rest: one line that names what is allowed. */
#include "test_main.h"

#include "capture/live/request.h"
#include "random.h"

static struct tap_request w;
static char why[TAP_LINE];

static bool reads(const char *line) {
	memset(why, 0, sizeof(why));
	return tap_request_read(line, strlen(line), &w, why);
}

TEST(defaults) {
	assert_true(reads("{}"));
	assert_int_equal(__builtin_popcountll(w.down), 1);
	assert_int_equal(__builtin_popcountll(w.up), 1);
	assert_false(w.drops || w.has_group);
	assert_int_equal(w.rate, TAP_RATE_DEFAULT);
	assert_int_equal(w.size, TAP_SIZE_DEFAULT);
	assert_int_equal(w.snap, TAP_SNAP_MAX);
	assert_int_equal(w.sample, 1);
	assert_int_equal(w.wants, 0);
	assert_int_equal(w.count, 0);
	assert_int_equal(w.duration, 0);
}

TEST(all_keys) {
	static const uint8_t mac[6] = {2, 0xab, 0xcd, 0xef, 0, 1};

	assert_true(reads("{\"group\":0,\"stages\":[\"frame\",\"encrypt_submit\",\"depi:in\"],"
			  "\"direction\":\"downstream\",\"modem\":\"02:aB:CD:ef:00:01\",\"flow\":7,"
			  "\"session\":9,\"dropped\":[\"filter_deny\",\"runt\"],\"count\":3,"
			  "\"seconds\":1.5,\"rate\":5,\"sample\":6,\"snaplen\":100,"
			  "\"max_size\":5000}"));
	assert_int_equal(__builtin_popcountll(w.down), 3);
	assert_int_equal(w.up, 0);
	assert_true(w.has_group && w.group == 0 && w.drops);
	assert_memory_equal(w.mac, mac, 6);
	assert_int_equal(w.wants, TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION);
	assert_int_equal(w.sfid, 7);
	assert_int_equal(w.session, 9);
	assert_int_equal(w.duration, 1500000000);
	assert_int_equal(w.count, 3);
	assert_int_equal(w.rate, 5);
	assert_int_equal(w.sample, 6);
	assert_int_equal(w.snap, 100);
	assert_int_equal(w.size, 5000);
	for (unsigned r = 0; r < DROP_REASONS; r++)
		assert_int_equal(w.reasons[r / 64] >> r % 64 & 1,
				 r == DROP_FILTER_DENY || r == DROP_RUNT);
}

/* All reasons of a direction, and no stage unless one is asked for. */
TEST(drops) {
	assert_true(reads("{\"dropped\":true,\"direction\":\"upstream\"}"));
	assert_int_equal(w.down | w.up, 0);
	for (enum drop_reason r = 0; r < DROP_REASONS; r++)
		assert_int_equal(w.reasons[r / 64] >> r % 64 & 1, drop_in(r, DIRECTION_UP));
	assert_true(reads("{\"dropped\":false}"));
	assert_true(!w.drops && w.down != 0);
}

TEST(refusals) {
	static const char *const lines[][2] = {
		{"", "found no JSON"},
		{"[]", "found no JSON object"},
		{"{\"nix\":1}", "allowed: group, stages"},
		{"{\"group\":-1}", "group: allowed: a whole number"},
		{"{\"group\":4294967296}", "group: allowed"},
		{"{\"group\":\"1\"}", "group: allowed"},
		{"{\"stages\":[]}", "stages: allowed: a list"},
		{"{\"stages\":\"frame\"}", "stages: allowed: a list"},
		{"{\"stages\":[1]}", "stages: allowed: a list"},
		{"{\"stages\":[\"frames\"]}", "found \"frames\", allowed: receive"},
		{"{\"stages\":[\"frame:up\"]}", "found \"frame:up\""},
		{"{\"stages\":[\"transmit:out\"]}", "found \"transmit:out\""},
		{"{\"stages\":[\"frame\"],\"direction\":\"upstream\"}", "found \"frame\""},
		{"{\"direction\":\"up\"}", "allowed: downstream, upstream"},
		{"{\"modem\":\"02:00:00:00:00:0\"}", "a MAC address"},
		{"{\"modem\":\"02:00:00:00:00:010\"}", "a MAC address"},
		{"{\"modem\":\"02-00-00-00-00-01\"}", "a MAC address"},
		{"{\"modem\":2}", "a MAC address"},
		{"{\"flow\":0}", "flow: allowed"},
		{"{\"session\":0}", "session: allowed"},
		{"{\"dropped\":[]}", "dropped: allowed: true, or a list"},
		{"{\"dropped\":\"runt\"}", "dropped: allowed: true, or a list"},
		{"{\"dropped\":[\"nix\"]}", "found \"nix\", allowed: runt"},
		{"{\"dropped\":[\"runt\"],\"direction\":\"upstream\"}", "found \"runt\""},
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
		 "modem: it is not known"},
		{"{\"flow\":1,\"stages\":[\"depi\"]}", "flow: it is not known"},
		{"{\"session\":1,\"stages\":[\"filter\"]}", "session: it is not known"},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(lines); i++) {
		assert_false(reads(lines[i][0]));
		assert_non_null(strstr(why, lines[i][1]));
		assert_null(strchr(why, '\n'));
	}
}

/* Whatever is broken in a good line is refused, or good in its turn; nothing is read behind its end. */
TEST(broken_lines) {
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
		assert_true(tap_request_read(line, size, &w, why) || why[0] != '\0');
	}
}
