/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests cpu_check.h. tests/e2e/deploy/test_cpu.py runs programs on emulated CPUs. */
#include "platform/cpu/cpu_check.h"

#include "test_main.h"

#define BIT(n) ((uint32_t)1 << (n))

static char line[512];

static const char *missing_line(const struct cpu_words *needs, const struct cpu_words *has) {
	size_t length = cpu_missing(needs, has, "vcmtsd", line, sizeof(line) - 1);

	line[length] = '\0';
	return line;
}

TEST(missing_features_are_named) {
	static const struct cpu_words none,
		all = {{~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u}},
		some = {{BIT(9) | BIT(20) | BIT(23), BIT(8), 0, BIT(5), 0, 0, 0}},
		wide = {{BIT(20) | BIT(28), BIT(16), 0, 0, 0, 0, 0}},
		dots = {{0, 0, 0, 0, BIT(4), BIT(4) | BIT(10), 0}};
	static const struct {
		const struct cpu_words *needs;
		struct cpu_words has;
		const char *missing;
	} cases[] = {
		{&none, {{0}}, NULL},
		{&all, {{~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u}}, NULL},
		{&none, {{~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u}}, NULL},
		{&some,
		 {{BIT(9) | BIT(23), ~BIT(8), ~0u, ~BIT(5), 0, 0, ~0u}},
		 "SSE4.2, BMI2, LZCNT"},
		{&some, {{0}}, "SSSE3, SSE4.2, POPCNT, BMI2, LZCNT"},
		/* without OS support for wide registers, AVX counts as missing */
		{&wide, {{~0u, ~0u, ~0u, ~0u, 0, 0, 0}}, "AVX, AVX512F"},
		{&wide, {{~0u, ~0u, ~0u, ~0u, 0, 0, CPU_YMM | 1}}, "AVX512F"},
		{&wide, {{~0u, ~0u, ~0u, ~0u, 0, 0, CPU_ZMM | 1}}, NULL},
		{&dots,
		 {{~0u, ~0u, ~0u, ~0u, 0, 0, ~0u}},
		 "AVX-VNNI, AVX-VNNI-INT8, AVX-VNNI-INT16"},
		{&dots, {{0, 0, 0, 0, BIT(4), BIT(4) | BIT(10), CPU_YMM}}, NULL},
	};
	char expected[128];

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		snprintf(expected, sizeof(expected),
			 "vcmtsd: this build needs %s, which this CPU does not have\n",
			 cases[i].missing != NULL ? cases[i].missing : "nothing");
		assert_string_equal(missing_line(cases[i].needs, &cases[i].has),
				    cases[i].missing != NULL ? expected : "");
	}
}

TEST(message_is_truncated_to_buffer) {
	const struct cpu_words all = {{~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0}}, none = {{0}};
	char small[13];

	memset(small, '#', sizeof(small));
	assert_int_equal(cpu_missing(&all, &none, "vcmtsd", small, 12), 12);
	assert_memory_equal(small, "vcmtsd: this#", 13);
	assert_true(strlen(missing_line(&all, &none)) < sizeof(line) - 1);
}

/* This CPU runs the test, so it has the features that the test was compiled for. */
TEST(this_cpu_passes) {
	char name[] = "test", *arguments[] = {name, NULL};
	struct cpu_words has;

	cpu_read(&has);
	assert_string_equal(missing_line(&cpu_needs, &has), "");
	cpu_check(1, arguments, NULL);
#if defined(__x86_64__)
	assert_true(has.word[CPU_1_ECX] != 0);
	assert_int_equal((cpu_needs.word[CPU_1_ECX] & BIT(20)) != 0, __SSE4_2__ + 0);
#endif
#if defined(__AVXVNNI__)
	assert_true((cpu_needs.word[CPU_7_1_EAX] & BIT(4)) != 0);
#endif
#if defined(__AVX2__)
	assert_true((cpu_needs.word[CPU_7_EBX] & BIT(5)) != 0);
#elif defined(__x86_64__)
	assert_int_equal(cpu_needs.word[CPU_7_EBX] & BIT(5), 0);
#endif
}
