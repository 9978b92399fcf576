/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests expected_rewrite.h: the TOS values that a packet may have while TOS masks change. */
#include "test_main.h"

#include "proof/expected_rewrite.h"
#include "vectors.h"
#include "wire/tos.h"

#define STREAMS 2
#define FIRST_MAGIC UINT32_MAX /* tags wrap */

/* The TOS of a generation, which begins with `magic`. */
struct generation {
	uint32_t magic;
	uint8_t tos; /* 0: not overwritten */
	uint8_t between; /* TOS before it that the traffic did not see; 0: none */
};

static const struct generation generations[] = {
	{FIRST_MAGIC, 0, 0},
	{FIRST_MAGIC + 1, 0x11, 0},
	{FIRST_MAGIC + 3, 0x22, 0x33}, /* a restart used the magic between */
	{FIRST_MAGIC + 4, 0, 0},
};
static struct rewrites newest, former[ARRAY_COUNT(generations) - 1];
static struct vector sent;

static struct rewrite make_rewrite(uint8_t tos) {
	const struct tos_masks masks = {.and_mask = 0, .or_mask = tos};

	return rewrite_of(tos != 0, &masks);
}

static void make_generation(struct rewrites *r, const struct generation *g) {
	const struct rewrite_between between[] = {{0, make_rewrite(0x77)},
						  {1, make_rewrite(g->between)}};

	assert_true(rewrites_create(r, STREAMS, g->magic));
	r->of[1] = make_rewrite(g->tos);
	assert_true(rewrites_add_between(r, between, g->between != 0 ? 2 : 0));
}

static int set_up(void **state) {
	make_generation(&newest, &generations[0]);
	for (size_t i = 0; i < ARRAY_COUNT(former); i++) {
		make_generation(&former[i], &generations[i + 1]);
		rewrites_apply(&newest, &former[i], generations[i + 1].magic);
	}
	return 0;
}

static int tear_down(void **state) {
	rewrites_free(&newest);
	for (size_t i = 0; i < ARRAY_COUNT(former); i++)
		rewrites_free(&former[i]);
	return 0;
}

/* Whether a packet made with `magic` on stream 1 may be received with this TOS; 0: unchanged. */
static bool is_allowed(uint32_t magic, uint8_t tos) {
	struct vector received = sent;

	if (tos != 0)
		tos_overwrite(received.bytes, received.size, 0, tos);
	return expected_rewrite(&newest, magic, 1, sent.bytes, received.bytes, 6, received.size);
}

static void assert_allowed(uint32_t magic, const char *expected) {
	static const uint8_t all[] = {0, 0x11, 0x22, 0x33, 0x44, 0x77};
	char actual[64] = "";

	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		sprintf(actual + strlen(actual), is_allowed(magic, all[i]) ? "%02x " : "", all[i]);
	assert_string_equal(actual, expected);
}

TEST(tos_of_any_later_generation_is_allowed) {
	static const char *const names[] = {"udp4", "tcp4_options", "udp4_later", "udp6",
					    "tcp6_extensions"};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		vector_get("frames.txt", names[i], &sent);
		assert_allowed(FIRST_MAGIC, "00 11 22 33 ");
		assert_allowed(FIRST_MAGIC + 1, "00 11 22 33 ");
		assert_allowed(FIRST_MAGIC + 2, "00 11 22 33 "); /* made after a restart */
		assert_allowed(FIRST_MAGIC + 3, "00 22 ");
		assert_allowed(FIRST_MAGIC + 4, "00 ");
		assert_allowed(FIRST_MAGIC + 5, "00 ");
		former[1].older = NULL; /* the oldest is freed */
		assert_allowed(FIRST_MAGIC, "00 11 22 33 ");
		former[1].older = &former[0];
	}
}

/* Other bytes must be unchanged, and the checksum must match the TOS. */
TEST(other_changed_bytes_are_rejected) {
	struct vector received;

	vector_get("frames.txt", "udp4", &sent);
	received = sent;
	tos_overwrite(received.bytes, received.size, 0, 0x22);
	for (size_t at = 0; at < received.size; at++) {
		received.bytes[at] ^= 1;
		assert_int_equal(expected_rewrite(&newest, FIRST_MAGIC, 1, sent.bytes,
						  received.bytes, 6, received.size),
				 at < 6);
		received.bytes[at] ^= 1;
	}
	assert_false(expected_rewrite(&newest, FIRST_MAGIC, 0, sent.bytes, received.bytes, 6,
				      received.size));
}

ALL_TESTS(set_up, tear_down)
