/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys that roll, in a group that is in service. */
#include "test_live.h"
#include "test_main.h"

#include "model/live/key_roll.h"

#define D16 "0011223344556677"
#define D32 D16 "8899aabbccddeeff"
#define D64 D32 D32

static const char aes_128[] = "said: 1, key: \"000102030405060708090a0b0c0d0e0f\", "
			      "iv: \"000102030405060708090a0b0c0d0e0e\"";
static const char aes_256[] = "said: 1, cipher: aes-256, key: \"" D64 "\", iv: \"" D32 "\"";
static const char des[] = "said: 1, cipher: des, key: \"" D16 "\", iv: \"" D16 "\"";

static const struct security_association *association(const struct live_group *l) {
	return &l->sg.modems[0].security;
}

/* A key that is removed is in no other place either. */
static bool key_rolls(struct live_group *l, const struct live_next_key *next, char *why) {
	static const uint8_t none[CIPHER_MAX_KEY];
	struct live_changes changes;

	if (!live_key_install(l, 1, next, &changes, why))
		return false;
	expect_taken(l, &changes, "1 modem changed");
	assert_true(live_key_use(l, 1, &changes, why));
	expect_taken(l, &changes, "1 modem changed");
	assert_memory_equal(association_key(association(l)), next->key, CIPHER_MAX_KEY);
	assert_true(live_key_remove(l, 1, &changes, why));
	expect_taken(l, &changes, "1 modem changed");
	assert_memory_equal(association(l)->next_key, none, sizeof(none));
	assert_memory_equal(association(l)->next_iv, none, sizeof(association(l)->next_iv));
	return true;
}

/* A roll keeps the cipher: the next key is as long as the present one. */
TEST(a_key_rolls_in_its_cipher) {
	static const struct {
		const char *security;
		size_t key, iv;
		const char *refusal;
	} all[] = {
		{aes_128, 16, 16, "32 hexadecimal digits each, as aes-128 has them"},
		{aes_256, 32, 16, "64 and 32 hexadecimal digits, as aes-256 has them"},
		{des, 8, 8, "16 hexadecimal digits each, as des has them"},
	};
	static const size_t keys[] = {8, 16, 32}, ivs[] = {8, 16};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		char *text = replaced(aes_128, all[i].security), expected[LIVE_LINE];
		struct live_group l = live_of(text);
		unsigned rolls = 0;

		snprintf(expected, sizeof(expected),
			 "said 0x0001: found a key or iv of another length, allowed: %s",
			 all[i].refusal);
		for (size_t n = 0; n < ARRAY_COUNT(keys) * ARRAY_COUNT(ivs); n++) {
			struct live_next_key next = {.key_size = keys[n / 2],
						     .iv_size = ivs[n % 2]};
			bool fits = next.key_size == all[i].key && next.iv_size == all[i].iv;
			char why[LIVE_LINE] = "";

			memset(next.key, 0x5a, next.key_size);
			memset(next.iv, 0xa5, next.iv_size);
			assert_int_equal(key_rolls(&l, &next, why), fits);
			assert_string_equal(why, fits ? "" : expected);
			rolls += fits;
			assert_int_equal(association(&l)->key_sequence, rolls);
		}
		assert_int_equal(rolls, 1);
		free(text);
		live_group_free(&l);
	}
}
