/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests cpus.h: core sets as text, and the cores of this machine that the process may use. */
#include "test_main.h"

#include "platform/cpus.h"

static cpu_set_t parse_set(const char *text) {
	cpu_set_t set;

	assert_true(cpus_parse(text, &set));
	return set;
}

TEST(sets_are_parsed_and_formatted) {
	static const char *const texts[][2] = {
		{"0-2,5,1023", "0-2,5,1023"},
		{"3,2,1,9", "1-3,9"},
		{"0-1023", "0-1023"},
		{"", "none"},
	};
	static const char *const invalid[] = {
		"1024", "0-1024", "3-2", "-1",	 "1-",	"1,",	 ",1",
		"a",	"1 ",	  " 1",	 "1,,2", "0x1", "1-2-3", "99999999999999999999999"};
	cpu_set_t set;

	for (unsigned i = 0; i < ARRAY_COUNT(texts); i++) {
		char out[CPUS_TEXT];

		set = parse_set(texts[i][0]);
		cpus_format(&set, out, sizeof(out));
		assert_string_equal(out, texts[i][1]);
		assert_int_equal(CPU_ISSET(1023, &set) != 0, strstr(out, "1023") != NULL);
	}
	for (unsigned i = 0; i < ARRAY_COUNT(invalid); i++) {
		if (cpus_parse(invalid[i], &set))
			fail_msg("cpus_parse() accepted \"%s\"", invalid[i]);
	}
}

/* A list that does not fit is truncated within the buffer. */
TEST(long_list_is_truncated) {
	cpu_set_t set;
	char out[CPUS_TEXT];

	CPU_ZERO(&set);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu += 2)
		CPU_SET(cpu, &set);
	cpus_format(&set, out, sizeof(out));
	assert_non_null(strstr(out, ",1020,1022"));
	for (size_t size = 1; size < 40; size++) {
		char *start = out;

		memset(out, 'x', sizeof(out));
		cpus_format(&set, start, size);
		assert_true(strnlen(start, size) < size);
		assert_int_equal(out[size], 'x');
	}
}

TEST(unusable_cores_have_a_fault) {
	struct cpus cpus = {parse_set("0-7"), parse_set("0-3"), parse_set("0-1")};

	assert_int_equal(cpus_fault(&cpus, 1), CPU_IS_USABLE);
	assert_int_equal(cpus_fault(&cpus, 3), CPU_IS_NOT_ALLOWED);
	assert_int_equal(cpus_fault(&cpus, 7), CPU_IS_OFFLINE);
	assert_int_equal(cpus_fault(&cpus, 8), CPU_IS_MISSING);
	assert_int_equal(cpus_fault(&cpus, CPU_SETSIZE), CPU_IS_MISSING);
	assert_int_equal(cpus_fault(&cpus, ~0U), CPU_IS_MISSING);
}

static bool within(const cpu_set_t *some, const cpu_set_t *all) {
	cpu_set_t both;

	CPU_AND(&both, some, all);
	return CPU_EQUAL(&both, some);
}

/* The cores of the process are usable, and reading them does not change its affinity. */
TEST(process_cores_are_usable) {
	cpu_set_t before, after;
	struct cpus cpus;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	cpus_read(&cpus);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	assert_true(within(&before, &cpus.usable));
	assert_true(within(&cpus.usable, &cpus.online) && within(&cpus.online, &cpus.present));
}

/* Cores outside of the affinity are not allowed, but isolated cores are added if they exist. */
TEST(isolated_cores_extend_affinity) {
	cpu_set_t whole, first, isolated, allowed, after;
	unsigned cpu = 0;
	struct cpus cpus;

	assert_int_equal(sched_getaffinity(0, sizeof(whole), &whole), 0);
	while (!CPU_ISSET(cpu, &whole))
		cpu++;
	CPU_ZERO(&first);
	CPU_SET(cpu, &first);
	assert_int_equal(sched_setaffinity(0, sizeof(first), &first), 0);
	cpus_read(&cpus);
	CPU_XOR(&isolated, &whole, &first);
	CPU_SET(CPU_SETSIZE - 1, &isolated);
	allowed = first;
	cpus_allow_isolated(&isolated, &allowed);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(whole), &whole), 0);
	assert_true(CPU_EQUAL(&allowed, &whole));
	assert_true(CPU_EQUAL(&after, &first));
	for (unsigned other = cpu + 1; other < CPU_SETSIZE; other++) {
		/* isolated cores are in no affinity, so `other` is not isolated */
		if (CPU_ISSET(other, &whole))
			assert_int_equal(cpus_fault(&cpus, other), CPU_IS_NOT_ALLOWED);
	}
	assert_int_equal(cpus_fault(&cpus, cpu), CPU_IS_USABLE);
}
