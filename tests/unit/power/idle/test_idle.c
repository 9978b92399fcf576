/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests idle.h: when an idle worker pauses or sleeps, and for how long, by simulated time. */
#include "root_kit.h"
#include "test_main.h"

#include "power/idle/cpu.h"
#include "power/idle/idle.h"
#include "power/idle/instructions.h"

#include "random.h"

#define ROUNDS 32
#define LONGEST_NS 20000
#define HZ UINT64_C(2500000000)

static struct idle idle;

static void set_up(enum idle_kind kind) {
	const struct idle_config c = {
		.kind = kind, .empty_rounds = ROUNDS, .longest = LONGEST_NS, .tsc_hz = HZ};

	memset(&idle, 0, sizeof(idle));
	idle_set(&idle, &c);
}

/* Asserts that each of `rounds` empty rounds returns a pause of `length` ns. */
static void assert_pauses(unsigned rounds, uint64_t length) {
	for (unsigned r = 0; r < rounds; r++)
		assert_int_equal(idle_empty(&idle, 0, 0), length);
}

TEST(pauses_double_up_to_longest) {
	set_up(IDLE_SPIN);
	assert_pauses(ROUNDS - 1, 0);
	for (uint64_t length = 1000; length < LONGEST_NS; length *= 2)
		assert_pauses(ROUNDS, length);
	assert_pauses(10 * ROUNDS, LONGEST_NS);
	assert_int_equal(idle_empty(&idle, 1, 0), 0); /* a busy round in between */
	for (unsigned r = 2; r < ROUNDS; r++)
		assert_int_equal(idle_empty(&idle, 1, 0), 0);
	assert_int_equal(idle_empty(&idle, 1, 0), 1000);
}

/* The longest pause is below the first; then each empty round leads to a pause. */
TEST(settings_at_their_limits) {
	for (unsigned rounds = 0; rounds < 2; rounds++) {
		set_up(IDLE_SPIN);
		idle.config.empty_rounds = rounds;
		idle.config.longest = 600;
		assert_pauses(50, 600);
	}
	set_up(IDLE_SPIN);
	idle.config.empty_rounds = 1;
	assert_pauses(1, 1000);
	assert_pauses(1, 2000);
	assert_pauses(1, 4000);
}

/* A pause never ends after the due time; idle.bounded counts the shortened pauses. */
TEST(pause_ends_before_due_time) {
	struct random random = {.state = 42};
	uint64_t now = 0, bounded = 0;

	set_up(IDLE_SPIN);
	for (unsigned round = 0; round < 200000; round++) {
		uint64_t due = now + random_below(&random, 30000);
		uint64_t length, left;

		if (random_below(&random, 100) == 0)
			idle.busy_rounds--; /* as if a round was busy */
		length = idle_empty(&idle, 0, now);
		left = idle_bound(&idle, length, now, due);
		assert_true(now + left <= due && left <= length);
		assert_true(left == length || now + left == due);
		bounded += left < length;
		now += left + random_below(&random, 300);
	}
	assert_int_equal(idle.bounded, bounded);
	assert_in_range(bounded, 1000, 200000);
	assert_int_equal(idle_bound(&idle, 500, 1000, 1000), 0); /* now */
	assert_int_equal(idle_bound(&idle, 500, 1000, 0), 0); /* the past */
	assert_int_equal(idle_bound(&idle, 500, 1000, UINT64_MAX), 500); /* never */
}

/* With IDLE_SLEEP, a worker sleeps after its pauses have grown to the longest. */
TEST(sleep_follows_longest_pause) {
	uint64_t second = 1000000000;

	set_up(IDLE_SLEEP);
	assert_int_equal(idle_empty(&idle, 1, 7 * second), 0);
	for (unsigned r = 2; r < ROUNDS; r++)
		assert_int_equal(idle_empty(&idle, 1, 7 * second), 0);
	for (uint64_t length = 1000; length < LONGEST_NS; length *= 2) {
		assert_int_equal(idle_empty(&idle, 1, 7 * second), length);
		assert_false(idle_is_long(&idle));
	}
	assert_int_equal(idle_empty(&idle, 1, 7 * second), LONGEST_NS);
	assert_true(idle_is_long(&idle));
	assert_int_equal(idle_sleep(&idle, 7 * second, UINT64_MAX, false), IDLE_SLEEP_NS);
	assert_int_equal(idle_sleep(&idle, 8 * second - 1, UINT64_MAX, false), IDLE_SLEEP_NS);
	assert_int_equal(idle_sleep(&idle, 8 * second, UINT64_MAX, false), IDLE_SLEEP_LATER_NS);
	assert_int_equal(idle_sleep(&idle, 7 * second, UINT64_MAX, true), IDLE_SLEEP_WOKEN_NS);
	assert_int_equal(idle_empty(&idle, 2, 9 * second), 0); /* work restarts the pauses */
	assert_int_equal(idle_sleep(&idle, 9 * second, UINT64_MAX, false), IDLE_SLEEP_NS);
	set_up(IDLE_SPIN);
	idle.length = LONGEST_NS;
	assert_false(idle_is_long(&idle)); /* IDLE_SPIN never sleeps */
}

/* A sleep ends IDLE_SLEEP_EARLY_NS before the due time, or does not start if that is too near. */
TEST(sleep_ends_before_due_time) {
	set_up(IDLE_SLEEP);
	for (uint64_t left = 0; left < 30000000; left += 1 + left / 50) {
		uint64_t length = idle_sleep(&idle, 1000, 1000 + left, true);

		assert_true(length == 0 || length + IDLE_SLEEP_EARLY_NS <= left);
		assert_int_equal(length == 0, left <= 2 * IDLE_SLEEP_EARLY_NS);
		assert_true(length <= IDLE_SLEEP_WOKEN_NS);
	}
	assert_int_equal(idle_sleep(&idle, 1000, 0, true), 0);
}

TEST(supported_kinds_match_cpu) {
	enum idle_kind best = idle_best(false);

	assert_true(idle_supported(IDLE_POLL) && idle_supported(IDLE_SPIN) &&
		    idle_supported(IDLE_SLEEP));
	assert_false(idle_supported(IDLE_AUTO));
	assert_int_equal(idle_supported(IDLE_TPAUSE_C02), cpu_has_waitpkg());
	assert_int_equal(idle_supported(IDLE_TPAUSE_C01), cpu_has_waitpkg());
	assert_int_equal(idle_supported(IDLE_UMWAIT), cpu_has_waitpkg());
	assert_int_equal(idle_supported(IDLE_MWAITX), cpu_has_mwaitx());
	assert_true(idle_supported(best) && best != IDLE_POLL && best != IDLE_SLEEP);
	assert_int_equal(idle_best(true), IDLE_SLEEP);
}

/* For each supported kind, a pause is as long as requested, unless the kernel limits it. */
TEST(pause_lasts_as_requested) {
	const uint64_t ticks = 20000;

	for (enum idle_kind kind = IDLE_SPIN; kind < IDLE_KINDS; kind++) {
		uint64_t start;

		if (!idle_supported(kind))
			continue;
		set_up(kind);
		for (unsigned p = 1; p <= 20; p++) {
			uint64_t before = idle.ticks;

			start = power_tsc();
			idle_pause(&idle, start, ticks);
			assert_int_equal(idle.pauses, p);
			if (kind == IDLE_SPIN || kind == IDLE_SLEEP)
				assert_true(idle.ticks - before >= ticks);
		}
		assert_true(idle.limited <= idle.pauses);
	}
	set_up(IDLE_SPIN);
	assert_int_equal(idle_ticks(&idle, 1000), 2500);
	assert_int_equal(idle_ticks(&idle, 60000000000), 60 * HZ);
}

/* The kernel's limit of UMWAIT and TPAUSE is read from its files. Invalid contents are rejected. */
TEST(kernel_limit_is_read) {
	static const char *const invalid[] = {"", "\n", "no\n", "-\n"};
	struct umwait_limit limit = {0};

	assert_int_equal(root_create(state), 0);
	assert_false(umwait_limit_read(root, &limit)); /* no files */
	root_write("max_time", "100000\n");
	assert_false(umwait_limit_read(root, &limit));
	root_write("enable_c02", "1\n");
	assert_true(umwait_limit_read(root, &limit));
	assert_true(limit.known && limit.c02);
	assert_int_equal(limit.max_time, 100000);
	root_write("enable_c02", "0\n");
	assert_true(umwait_limit_read(root, &limit));
	assert_false(limit.c02);
	limit.known = false;
	for (unsigned i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		root_write("max_time", invalid[i]);
		assert_false(umwait_limit_read(root, &limit));
		assert_false(limit.known);
	}
	assert_int_equal(root_remove(state), 0);
}
