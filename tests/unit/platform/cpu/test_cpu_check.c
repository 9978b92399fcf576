/* SPDX-License-Identifier: BSD-3-Clause */
/* What a build needs of a CPU, held against what it has. tests/e2e/deploy/test_cpu.py runs the programs on emulated ones. */
#include "platform/cpu/cpu_check.h"

#include <string.h>

#include "test_main.h"

#define BIT(n) ((uint32_t)1 << (n))

static char line[512];

static const char *missing(const struct cpu_words *needs, const struct cpu_words *has) {
	size_t length = cpu_missing(needs, has, "vcmtsd", line, sizeof(line) - 1);

	line[length] = '\0';
	return line;
}

TEST(nothing_is_missing) {
	const struct cpu_words none = {{0}}, all = {{~0u, ~0u, ~0u, ~0u, ~0u}};

	assert_string_equal(missing(&none, &none), "");
	assert_string_equal(missing(&all, &all), "");
	assert_string_equal(missing(&none, &all), "");
}

TEST(what_is_missing_has_its_name) {
	const struct cpu_words needs = {{BIT(9) | BIT(20) | BIT(23), BIT(8), 0, BIT(5), 0}};
	const struct cpu_words has = {{BIT(9) | BIT(23), ~BIT(8), ~0u, ~BIT(5), ~0u}};
	const struct cpu_words none = {{0}};

	assert_string_equal(missing(&needs, &has),
			    "vcmtsd: this build needs SSE4.2, BMI2, LZCNT, which this CPU does "
			    "not have\n");
	assert_string_equal(missing(&needs, &none),
			    "vcmtsd: this build needs SSSE3, SSE4.2, POPCNT, BMI2, LZCNT, which "
			    "this CPU does not have\n");
}

/* A system that saves no wide registers has no AVX, whatever the CPU has. */
TEST(registers_are_the_system_s) {
	const struct cpu_words needs = {{BIT(20) | BIT(28), BIT(16), 0, 0, 0}};
	struct cpu_words has = {{~0u, ~0u, ~0u, ~0u, 0}};

	assert_string_equal(
		missing(&needs, &has),
		"vcmtsd: this build needs AVX, AVX512F, which this CPU does not have\n");
	has.word[CPU_STATE] = CPU_YMM | 1;
	assert_string_equal(missing(&needs, &has),
			    "vcmtsd: this build needs AVX512F, which this CPU does not have\n");
	has.word[CPU_STATE] = CPU_ZMM | 1;
	assert_string_equal(missing(&needs, &has), "");
}

/* A line that has no room is cut, and nothing behind it is written. */
TEST(a_line_that_is_too_long) {
	const struct cpu_words all = {{~0u, ~0u, ~0u, ~0u, 0}}, none = {{0}};
	char small[13];

	memset(small, '#', sizeof(small));
	assert_int_equal(cpu_missing(&all, &none, "vcmtsd", small, 12), 12);
	assert_memory_equal(small, "vcmtsd: this#", 13);
	assert_true(strlen(missing(&all, &none)) < sizeof(line) - 1);
}

/* What the test was compiled for it has, as it runs; and it goes on. */
TEST(this_cpu_is_good) {
	char name[] = "test", *arguments[] = {name, NULL};
	struct cpu_words has;

	cpu_read(&has);
	assert_string_equal(missing(&cpu_needs, &has), "");
	cpu_check(1, arguments, NULL);
#if defined(__x86_64__)
	assert_true(has.word[CPU_1_ECX] != 0);
	assert_int_equal((cpu_needs.word[CPU_1_ECX] & BIT(20)) != 0, __SSE4_2__ + 0);
#endif
#if defined(__AVX2__)
	assert_true((cpu_needs.word[CPU_7_EBX] & BIT(5)) != 0);
#elif defined(__x86_64__)
	assert_int_equal(cpu_needs.word[CPU_7_EBX] & BIT(5), 0);
#endif
}
