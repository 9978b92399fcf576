/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers tests where they are defined, and defines main(). One source file per test program includes this. */
#pragma once

#include "test.h"

#define MAX_TESTS 64

static struct CMUnitTest registered[MAX_TESTS];
static size_t registered_count;

/* Fixtures that run around each test, and around all tests; NULL if the file has none. */
static CMFixtureFunction test_setup, test_teardown, group_setup, group_teardown;

/* TEST(condition_and_result) { .. }: tests run in the order of the file. `state` is cmocka's. */
#define TEST(test)                                                             \
	static void test(void **state);                                        \
	__attribute__((constructor)) static void register_##test(void) {       \
		assert_true(registered_count < MAX_TESTS);                     \
		registered[registered_count++] =                               \
			(struct CMUnitTest){.name = #test, .test_func = test}; \
	}                                                                      \
	static void test(void **state)

/* Set the fixtures, each at most once per file; NULL for none. */
#define EACH_TEST(setup, teardown)                                          \
	__attribute__((constructor)) static void register_each_test(void) { \
		test_setup = setup;                                         \
		test_teardown = teardown;                                   \
	}

#define ALL_TESTS(setup, teardown)                                          \
	__attribute__((constructor)) static void register_all_tests(void) { \
		group_setup = setup;                                        \
		group_teardown = teardown;                                  \
	}

int main(void) {
	for (size_t i = 0; i < registered_count; i++) {
		registered[i].setup_func = test_setup;
		registered[i].teardown_func = test_teardown;
	}
	return _cmocka_run_group_tests("tests", registered, registered_count, group_setup,
				       group_teardown);
}
