/* SPDX-License-Identifier: BSD-3-Clause */
/* When a worker pauses and for how long, by a clock of the test's own. */
#include "root_kit.h"
#include "test_main.h"

#include "power/idle/cpu.h"
#include "power/idle/idle.h"
#include "power/idle/instructions.h"

#include "random.h"

#define ROUNDS 32
#define LONGEST 20000
#define HZ UINT64_C(2500000000)

static struct idle idle;

static void begin(enum idle_kind kind) {
	const struct idle_config c = {
		.kind = kind, .empty_rounds = ROUNDS, .longest = LONGEST, .tsc_hz = HZ};

	memset(&idle, 0, sizeof(idle));
	idle_set(&idle, &c);
}

/* So many rounds in which nothing came, all of which are to give the same pause. */
static void expect_rounds(unsigned rounds, uint64_t length) {
	for (unsigned r = 0; r < rounds; r++)
		assert_int_equal(idle_empty(&idle, 0, 0), length);
}

TEST(pauses_grow) {
	begin(IDLE_SPIN);
	expect_rounds(ROUNDS - 1, 0);
	for (uint64_t length = 1000; length < LONGEST; length *= 2)
		expect_rounds(ROUNDS, length);
	expect_rounds(10 * ROUNDS, LONGEST);
	assert_int_equal(idle_empty(&idle, 1, 0), 0); /* something came meanwhile */
	for (unsigned r = 2; r < ROUNDS; r++)
		assert_int_equal(idle_empty(&idle, 1, 0), 0);
	assert_int_equal(idle_empty(&idle, 1, 0), 1000);
}

/* A longest pause below the first one; a pause behind each empty round. */
TEST(limits_of_the_settings) {
	for (unsigned rounds = 0; rounds < 2; rounds++) {
		begin(IDLE_SPIN);
		idle.config.empty_rounds = rounds;
		idle.config.longest = 600;
		expect_rounds(50, 600);
	}
	begin(IDLE_SPIN);
	idle.config.empty_rounds = 1;
	expect_rounds(1, 1000);
	expect_rounds(1, 2000);
	expect_rounds(1, 4000);
}

/* Whatever is due, and whenever: a pause has ended by then, and the count tells of those that were shorter. */
TEST(no_pause_ends_behind_what_is_due) {
	struct random random = {.state = 42};
	uint64_t now = 0, bounded = 0;

	begin(IDLE_SPIN);
	for (unsigned turn = 0; turn < 200000; turn++) {
		uint64_t due = now + random_below(&random, 30000);
		uint64_t length, left;

		if (random_below(&random, 100) == 0)
			idle.busy_rounds--; /* something came */
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

/* Those who sleep pause for as long as it takes to see that nothing comes, each pause longer than the one before. */
TEST(sleep_comes_soon) {
	uint64_t second = 1000000000;

	begin(IDLE_SLEEP);
	assert_int_equal(idle_empty(&idle, 1, 7 * second), 0);
	for (unsigned r = 2; r < ROUNDS; r++)
		assert_int_equal(idle_empty(&idle, 1, 7 * second), 0);
	for (uint64_t length = 1000; length < LONGEST; length *= 2) {
		assert_int_equal(idle_empty(&idle, 1, 7 * second), length);
		assert_false(idle_is_long(&idle));
	}
	assert_int_equal(idle_empty(&idle, 1, 7 * second), LONGEST);
	assert_true(idle_is_long(&idle));
	assert_int_equal(idle_sleep(&idle, 7 * second, UINT64_MAX, false), IDLE_SLEEP_NS);
	assert_int_equal(idle_sleep(&idle, 8 * second - 1, UINT64_MAX, false), IDLE_SLEEP_NS);
	assert_int_equal(idle_sleep(&idle, 8 * second, UINT64_MAX, false), IDLE_SLEEP_LATER_NS);
	assert_int_equal(idle_sleep(&idle, 7 * second, UINT64_MAX, true), IDLE_SLEEP_WOKEN_NS);
	assert_int_equal(idle_empty(&idle, 2, 9 * second), 0); /* what came begins it anew */
	assert_int_equal(idle_sleep(&idle, 9 * second, UINT64_MAX, false), IDLE_SLEEP_NS);
	begin(IDLE_SPIN);
	idle.length = LONGEST;
	assert_false(idle_is_long(&idle)); /* others never sleep */
}

/* It leaves the system time to be late, and does not begin where there is little. */
TEST(sleep_ends_early) {
	begin(IDLE_SLEEP);
	for (uint64_t left = 0; left < 30000000; left += 1 + left / 50) {
		uint64_t length = idle_sleep(&idle, 1000, 1000 + left, true);

		assert_true(length == 0 || length + IDLE_SLEEP_EARLY_NS <= left);
		assert_int_equal(length == 0, left <= 2 * IDLE_SLEEP_EARLY_NS);
		assert_true(length <= IDLE_SLEEP_WOKEN_NS);
	}
	assert_int_equal(idle_sleep(&idle, 1000, 0, true), 0);
}

TEST(what_there_is) {
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

/* By every instruction that this CPU has: not less than was asked for, unless the kernel's limit says so. */
TEST(pauses_last) {
	const uint64_t ticks = 20000;

	for (enum idle_kind kind = IDLE_SPIN; kind < IDLE_KINDS; kind++) {
		uint64_t began;

		if (!idle_supported(kind))
			continue;
		begin(kind);
		for (unsigned p = 1; p <= 20; p++) {
			uint64_t before = idle.ticks;

			began = power_tsc();
			idle_pause(&idle, began, ticks);
			assert_int_equal(idle.pauses, p);
			if (kind == IDLE_SPIN || kind == IDLE_SLEEP)
				assert_true(idle.ticks - before >= ticks);
		}
		assert_true(idle.limited <= idle.pauses);
	}
	begin(IDLE_SPIN);
	assert_int_equal(idle_ticks(&idle, 1000), 2500);
	assert_int_equal(idle_ticks(&idle, 60000000000), 60 * HZ);
}

/* What the kernel says, and what it may say instead. */
TEST(the_kernels_limit) {
	static const char *const wrong[] = {"", "\n", "no\n", "-\n"};
	struct umwait_limit limit = {0};

	assert_int_equal(root_make(state), 0);
	assert_false(umwait_limit_read(root, &limit)); /* no files */
	root_put("max_time", "100000\n");
	assert_false(umwait_limit_read(root, &limit));
	root_put("enable_c02", "1\n");
	assert_true(umwait_limit_read(root, &limit));
	assert_true(limit.known && limit.c02);
	assert_int_equal(limit.max_time, 100000);
	root_put("enable_c02", "0\n");
	assert_true(umwait_limit_read(root, &limit));
	assert_false(limit.c02);
	limit.known = false;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		root_put("max_time", wrong[i]);
		assert_false(umwait_limit_read(root, &limit));
		assert_false(limit.known);
	}
	assert_int_equal(root_remove(state), 0);
}
