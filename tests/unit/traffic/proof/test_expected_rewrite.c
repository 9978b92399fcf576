/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "proof/expected_rewrite.h"
#include "vectors.h"
#include "wire/tos.h"

#define STREAMS 2
#define FIRST_MAGIC UINT32_MAX /* tags wrap */

/* The TOS is `tos` from the generation on that begins with `magic`. */
struct generation {
	uint32_t magic;
	uint8_t tos; /* 0: it stays */
	uint8_t between; /* that the server had before it, unknown to the traffic; 0: none */
};

static const struct generation generations[] = {
	{FIRST_MAGIC, 0, 0},
	{FIRST_MAGIC + 1, 0x11, 0},
	{FIRST_MAGIC + 3, 0x22, 0x33}, /* the magic between is of a restart */
	{FIRST_MAGIC + 4, 0, 0},
};
static struct rewrites newest, former[ARRAY_COUNT(generations) - 1];
static struct vector sent;

static struct rewrite to(uint8_t tos) {
	const struct tos_masks masks = {.and_mask = 0, .or_mask = tos};

	return rewrite_of(tos != 0, &masks);
}

static void generation_make(struct rewrites *r, const struct generation *g) {
	const struct rewrite_between between[] = {{0, to(0x77)}, {1, to(g->between)}};

	assert_true(rewrites_create(r, STREAMS, g->magic));
	r->of[1] = to(g->tos);
	assert_true(rewrites_add_between(r, between, g->between != 0 ? 2 : 0));
}

static int begin(void **state) {
	generation_make(&newest, &generations[0]);
	for (size_t i = 0; i < ARRAY_COUNT(former); i++) {
		generation_make(&former[i], &generations[i + 1]);
		rewrites_take(&newest, &former[i], generations[i + 1].magic);
	}
	return 0;
}

static int end(void **state) {
	rewrites_free(&newest);
	for (size_t i = 0; i < ARRAY_COUNT(former); i++)
		rewrites_free(&former[i]);
	return 0;
}

/* Whether a packet that was made with `magic` on stream 1 may come with this TOS, 0: as it was sent. */
static bool may_come(uint32_t magic, uint8_t tos) {
	struct vector came = sent;

	if (tos != 0)
		tos_overwrite(came.bytes, came.size, 0, tos);
	return expected_rewrite(&newest, magic, 1, sent.bytes, came.bytes, 6, came.size);
}

static void expect_may_come(uint32_t magic, const char *wanted) {
	static const uint8_t all[] = {0, 0x11, 0x22, 0x33, 0x44, 0x77};
	char found[64] = "";

	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		sprintf(found + strlen(found), may_come(magic, all[i]) ? "%02x " : "", all[i]);
	assert_string_equal(found, wanted);
}

TEST(a_packet_shows_a_generation_since_it_was_made) {
	static const char *const names[] = {"udp4", "tcp4_options", "udp4_later", "udp6",
					    "tcp6_extensions"};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		vector_get("frames.txt", names[i], &sent);
		expect_may_come(FIRST_MAGIC, "00 11 22 33 ");
		expect_may_come(FIRST_MAGIC + 1, "00 11 22 33 ");
		expect_may_come(FIRST_MAGIC + 2, "00 11 22 33 "); /* made behind a restart */
		expect_may_come(FIRST_MAGIC + 3, "00 22 ");
		expect_may_come(FIRST_MAGIC + 4, "00 ");
		expect_may_come(FIRST_MAGIC + 5, "00 ");
		former[1].older = NULL; /* the first is forgotten */
		expect_may_come(FIRST_MAGIC, "00 11 22 33 ");
		former[1].older = &former[0];
	}
}

/* A rewrite excuses no other byte, nor the checksum of another generation. */
TEST(all_other_bytes_are_those_sent) {
	struct vector came;

	vector_get("frames.txt", "udp4", &sent);
	came = sent;
	tos_overwrite(came.bytes, came.size, 0, 0x22);
	for (size_t at = 0; at < came.size; at++) {
		came.bytes[at] ^= 1;
		assert_int_equal(expected_rewrite(&newest, FIRST_MAGIC, 1, sent.bytes, came.bytes,
						  6, came.size),
				 at < 6);
		came.bytes[at] ^= 1;
	}
	assert_false(
		expected_rewrite(&newest, FIRST_MAGIC, 0, sent.bytes, came.bytes, 6, came.size));
}

ALL_TESTS(begin, end)
