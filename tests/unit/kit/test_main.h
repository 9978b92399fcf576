/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests register themselves where they are written: a file that includes this needs no list of them and no main(). */
#pragma once

#include "test.h"

#define TESTS_MOST 64

static struct CMUnitTest registered[TESTS_MOST];
static size_t registered_count;

/* Around each test of the file, and around all of them. */
static CMFixtureFunction each_setup, each_teardown, all_setup, all_teardown;

/* TEST(what_it_shows) { .. }: they run in the order of the file. `state` is cmocka's. */
#define TEST(test)                                                             \
	static void test(void **state);                                        \
	__attribute__((constructor)) static void register_##test(void) {       \
		assert_true(registered_count < TESTS_MOST);                    \
		registered[registered_count++] =                               \
			(struct CMUnitTest){.name = #test, .test_func = test}; \
	}                                                                      \
	static void test(void **state)

/* At most once in a file each; NULL: nothing. */
#define EACH_TEST(setup, teardown)                                          \
	__attribute__((constructor)) static void register_each_test(void) { \
		each_setup = setup;                                         \
		each_teardown = teardown;                                   \
	}

#define ALL_TESTS(setup, teardown)                                          \
	__attribute__((constructor)) static void register_all_tests(void) { \
		all_setup = setup;                                          \
		all_teardown = teardown;                                    \
	}

int main(void) {
	for (size_t i = 0; i < registered_count; i++) {
		registered[i].setup_func = each_setup;
		registered[i].teardown_func = each_teardown;
	}
	return _cmocka_run_group_tests("tests", registered, registered_count, all_setup,
				       all_teardown);
}
