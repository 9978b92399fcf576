/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys that roll, come and go: frames of all generations that there are decrypt, whatever is on its way. */
#include "us_change_rig.h"

#define TWO_KEYS 0 /* modem of stream 0 */
#define OF_TWO_KEYS 0
#define ONE_KEY 1 /* modem of stream 3, no segment headers */
#define OF_ONE_KEY 3

static struct modem next;

static void *schedule(const uint8_t *key) {
	void *s = crypto_key_make(bench->crypto, CRYPTO_UPLINK, CIPHER_AES_128, key);

	assert_non_null(s);
	return s;
}

/* The next key becomes the present one, and another comes behind it. */
static void roll(struct modem *m) {
	struct security_association *sa = &m->security;

	memcpy(sa->key, sa->next_key, 16);
	memcpy(sa->iv, sa->next_iv, 16);
	sa->key_sequence = (sa->key_sequence + 1) & 0xf;
	for (unsigned i = 0; i < 16; i++) {
		sa->next_key[i] = (uint8_t)(sa->next_key[i] * 5 + 17 + i);
		sa->next_iv[i] = (uint8_t)(sa->next_iv[i] * 3 + 1);
	}
}

static void will_have_keys(unsigned m) {
	will_be(LIVE_MODEM, m, &next);
	given[0] = schedule(next.security.key);
	given[1] = next.security.has_next_key ? schedule(next.security.next_key) : NULL;
}

/* The server frees the old ones when all has passed. */
static void keys_are(unsigned m, struct us_change *c) {
	void *schedules[2] = {given[0], given[1]};

	finish(c);
	bench->modems[m] = next;
	for (unsigned g = 0; g < 2; g++) {
		crypto_key_free(bench->crypto, CRYPTO_UPLINK, CIPHER_AES_128,
				bench->schedules[2 * m + g]);
		bench->schedules[2 * m + g] = schedules[g];
	}
}

/* Frames of both generations before, between and behind the steps: bench_mac() takes them by turns. */
static void keys_roll(void **state) {
	(void)state;
	setup();
	for (unsigned turn = 0; turn < 40; turn++) {
		struct us_change *c;

		for (unsigned i = 0; i < 9; i++)
			put(OF_TWO_KEYS);
		to_segments();
		for (unsigned i = 0; i < 7; i++)
			put(OF_TWO_KEYS);
		next = bench->modems[TWO_KEYS];
		roll(&next);
		will_have_keys(TWO_KEYS);
		c = begin();
		take(c);
		bench_settle(bench);
		bench_complete(bench, OF_TWO_KEYS);
		pass(c);
		keys_are(TWO_KEYS, c);
		for (unsigned i = 0; i < 4; i++)
			whole(OF_TWO_KEYS);
		bench_complete(bench, OF_TWO_KEYS);
	}
	bench_close(bench);
}

/* Schedules are given for modems that there will be: one that goes in the same change has none. */
static void keys_behind_a_modem_that_goes(void **state) {
	struct us_change *c;

	(void)state;
	setup();
	will_be(LIVE_MODEM, ONE_KEY, NULL);
	next = bench->modems[TWO_KEYS];
	roll(&next);
	will_have_keys(TWO_KEYS);
	c = begin();
	take(c);
	pass(c);
	keys_are(TWO_KEYS, c);
	for (unsigned i = 0; i < 4; i++)
		whole(OF_TWO_KEYS);
	bench_complete(bench, OF_TWO_KEYS);
	bench_close(bench);
}

/* When all has passed, a key that was replaced is unknown. */
static void key_that_was_replaced(void **state) {
	struct modem before;
	struct us_change *c;

	(void)state;
	setup();
	before = bench->modems[TWO_KEYS];
	next = before;
	roll(&next);
	will_have_keys(TWO_KEYS);
	c = begin();
	take(c);
	whole(OF_TWO_KEYS); /* serial 0: the first generation */
	bench_complete(bench, OF_TWO_KEYS);
	pass(c);
	keys_are(TWO_KEYS, c);
	bench->modems[TWO_KEYS] = before;
	whole(OF_TWO_KEYS);
	lost(OF_TWO_KEYS, DROP_KEY_UNKNOWN, 1);
	whole(OF_TWO_KEYS); /* serial 2: what was the next one */
	bench_complete(bench, OF_TWO_KEYS);
	bench->modems[TWO_KEYS] = next;
	bench_close(bench);
}

/* A second generation comes and goes; the first keeps its session. */
static void next_key_comes_and_goes(void **state) {
	struct us_change *c;

	(void)state;
	setup();
	for (unsigned turn = 0; turn < 10; turn++) {
		next = bench->modems[ONE_KEY];
		next.security.has_next_key = !next.security.has_next_key;
		will_have_keys(ONE_KEY);
		c = begin();
		put(OF_ONE_KEY);
		to_segments();
		take(c);
		bench_settle(bench);
		bench_complete(bench, OF_ONE_KEY);
		pass(c);
		keys_are(ONE_KEY, c);
		for (unsigned i = 0; i < 4; i++)
			whole(OF_ONE_KEY);
		bench_complete(bench, OF_ONE_KEY);
	}
	bench_close(bench);
}

/* A change of something else leaves the sessions as they are, also where a flow comes. */
static void sessions_remain(void **state) {
	(void)state;
	setup();
	next = bench->modems[TWO_KEYS];
	next.upstream_flow_count = 1;
	will_be(LIVE_MODEM, TWO_KEYS, &next);
	change();
	whole(OF_TWO_KEYS);
	will_be(LIVE_MODEM, TWO_KEYS, &bench->modems[TWO_KEYS]);
	change();
	for (unsigned i = 0; i < 4; i++) {
		whole(OF_TWO_KEYS);
		put(2); /* of the flow that came again, on the OFDMA channel */
		bench_settle(bench);
	}
	bench_complete(bench, OF_TWO_KEYS);
	bench_complete(bench, 2);
	bench_close(bench);
}

static void cipher_goes(void **state) {
	struct us_change *c;

	(void)state;
	setup();
	put(OF_ONE_KEY);
	to_segments();
	next = bench->modems[ONE_KEY];
	next.security.cipher = CIPHER_NONE;
	will_be(LIVE_MODEM, ONE_KEY, &next);
	c = begin();
	take(c);
	bench_settle(bench);
	bench_complete(bench, OF_ONE_KEY); /* encrypted, on its way */
	pass(c);
	whole(OF_ONE_KEY);
	lost(OF_ONE_KEY, DROP_KEY_UNKNOWN, 1);
	keys_are(ONE_KEY, c);
	whole(OF_ONE_KEY);
	bench_complete(bench, OF_ONE_KEY);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_roll),
		cmocka_unit_test(keys_behind_a_modem_that_goes),
		cmocka_unit_test(key_that_was_replaced),
		cmocka_unit_test(next_key_comes_and_goes),
		cmocka_unit_test(sessions_remain),
		cmocka_unit_test(cipher_goes),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
