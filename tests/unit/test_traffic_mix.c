/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares are exact, sizes are what was asked for, and the rate is kept. */
#include "mix.h"
#include "pacing.h"
#include "test.h"

#include <string.h>

#define MAX_SIZE 1996

static char error[128];

static void imix_is_the_published_mix(void **state) {
	struct mix m;

	(void)state;
	assert_int_equal(mix_parse("imix", MAX_SIZE, &m, error, sizeof(error)), 0);
	assert_int_equal(m.count, 3);
	assert_int_equal(m.sizes[0], 84);
	assert_int_equal(m.sizes[1], 256);
	assert_int_equal(m.sizes[2], 1280);
	assert_int_equal(mix_largest(&m), 1280);
	assert_true(mix_mean(&m) > 998.19 && mix_mean(&m) < 998.21);
}

static void shares_are_exact_in_every_deck(void **state) {
	struct random random = {42};
	struct mix m;
	struct deck d;

	(void)state;
	assert_int_equal(mix_parse("imix", MAX_SIZE, &m, error, sizeof(error)), 0);
	assert_int_equal(mix_deck(&m, &d), 0);
	assert_int_equal(d.size, 20); /* 3 + 2 + 15 cards */
	for (int round = 0; round < 100; round++) {
		unsigned counts[3] = {0};

		for (uint32_t i = 0; i < d.size; i++)
			counts[deck_draw(&d, &random)]++;
		assert_int_equal(counts[0], 3);
		assert_int_equal(counts[1], 2);
		assert_int_equal(counts[2], 15);
	}
	deck_free(&d);
}

static void decks_are_shuffled_anew(void **state) {
	struct random random = {1};
	uint16_t first[10];
	struct deck d;
	int same = 0;

	(void)state;
	assert_int_equal(deck_create(&d, (const uint32_t[]){50, 50}, 2), 0);
	assert_int_equal(d.size, 2); /* the divisor is taken out */
	deck_free(&d);
	assert_int_equal(deck_create(&d, (const uint32_t[]){5, 4}, 2), 0);
	for (unsigned i = 0; i < 9; i++)
		first[i] = deck_draw(&d, &random);
	for (int round = 0; round < 20; round++) {
		bool equal = true;

		for (unsigned i = 0; i < 9; i++)
			equal = deck_draw(&d, &random) == first[i] && equal;
		same += equal;
	}
	assert_true(same < 5);
	deck_free(&d);
}

static void empty_and_oversized_decks_are_refused(void **state) {
	struct deck d;

	(void)state;
	assert_int_equal(deck_create(&d, (const uint32_t[]){0, 0}, 2), -1);
	assert_int_equal(deck_create(&d, (const uint32_t[]){1, DECK_MAX_CARDS}, 2), -1);
}

static void mixes_are_read(void **state) {
	static const char *const good[] = {"64", "1996", "84:15,256:10,1280:75", "100,200",
					   "64:10000"};
	static const char *const bad[] = {
		"",
		"imi",
		"63",
		"1997",
		"84:",
		"84:0",
		":1",
		"84:1,",
		"84:1 ,85:1",
		"-84",
		"+84",
		"84:1;85:1",
		"99999999999",
		"84:10001",
		"84:9999,85:2",
		"0x54",
		"64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80",
	};
	struct mix m;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(good); i++)
		assert_int_equal(mix_parse(good[i], MAX_SIZE, &m, error, sizeof(error)), 0);
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		error[0] = '\0';
		assert_int_equal(mix_parse(bad[i], MAX_SIZE, &m, error, sizeof(error)), -1);
		assert_non_null(strstr(error, "allowed: "));
	}
}

#define HZ 2300000000ull

/* Bits sent in `seconds` of TSC time by rounds of `step` cycles. */
static uint64_t bits_sent(struct pacing *p, uint64_t step, double seconds) {
	uint64_t end = (uint64_t)(seconds * HZ);
	struct random random = {3};
	uint64_t bits = 0;

	for (uint64_t now = step; now <= end; now += step) {
		unsigned n = pacing_round(p, now, 32);

		assert_true(n <= 32);
		for (unsigned i = 0; i < n; i++) {
			uint32_t size = 64 + random_below(&random, 1933);

			pacing_spend(p, size);
			bits += size * 8ull;
		}
	}
	return bits;
}

static void the_rate_is_kept(void **state) {
	static const uint64_t rates[] = {1000000, 250000000, 2000000000, 9500000000};
	static const uint64_t steps[] = {500, 3333, 20000};
	struct pacing p;

	(void)state;
	for (size_t r = 0; r < ARRAY_COUNT(rates); r++) {
		for (size_t s = 0; s < ARRAY_COUNT(steps); s++) {
			double expected = (double)rates[r] * 0.5;
			double sent;

			pacing_start(&p, rates[r], HZ, 1030, 1996, 0);
			sent = (double)bits_sent(&p, steps[s], 0.5);
			/* A part in a thousand, and the packet that ends the time. */
			assert_true(sent > expected * 0.999 - 16000 &&
				    sent < expected * 1.001 + 16000);
			assert_int_equal(p.descheduled, 0);
		}
	}
}

static void catching_up_is_bounded(void **state) {
	uint64_t packets = 0;
	struct pacing p;
	unsigned n;

	(void)state;
	pacing_start(&p, 8000000000, HZ, 1000, 1000, 0);
	pacing_round(&p, 100, 32);
	while ((n = pacing_round(&p, HZ, 32)) > 0) {
		pacing_spend(&p, n * 1000ull);
		packets += n;
	}
	/* 1 ms at 8 Gbps: 1000 packets of 1000 bytes. */
	assert_in_range(packets, 1000, 1001);
	assert_int_equal(p.descheduled, 1);
	assert_true(pacing_longest_us(&p) > 999990 && pacing_longest_us(&p) < 1000001);
}

static void a_millisecond_is_not_yet_descheduled(void **state) {
	struct pacing p;

	(void)state;
	pacing_start(&p, 0, HZ, 1000, 1000, 0);
	assert_int_equal(pacing_round(&p, HZ / 1000, 32), 32); /* max: always a burst */
	assert_int_equal(p.descheduled, 0);
	pacing_idle(&p, HZ / 1000 * 2 + HZ / 100000);
	assert_int_equal(p.descheduled, 1);
	/* A clock that goes back a little is no round at all. */
	assert_int_equal(pacing_round(&p, HZ / 1000, 32), 32);
	assert_int_equal(p.descheduled, 1);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(imix_is_the_published_mix),
		cmocka_unit_test(shares_are_exact_in_every_deck),
		cmocka_unit_test(decks_are_shuffled_anew),
		cmocka_unit_test(empty_and_oversized_decks_are_refused),
		cmocka_unit_test(mixes_are_read),
		cmocka_unit_test(the_rate_is_kept),
		cmocka_unit_test(catching_up_is_bounded),
		cmocka_unit_test(a_millisecond_is_not_yet_descheduled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
