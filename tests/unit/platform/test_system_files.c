/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests huge_pages.h and core_speed.h with files of sysfs and procfs below a temporary folder. */
#include "root_kit.h"
#include "test_main.h"

#include "platform/core_speed.h"
#include "platform/huge_pages.h"

#define POOL "sys/kernel/mm/hugepages/hugepages-"
#define GROUP "sys/fs/cgroup/"

/* Limits of cgroups version 2 and 1. Files of earlier cases remain. */
TEST(free_huge_pages_are_limited_by_cgroup) {
	static const struct {
		const char *file, *text;
		unsigned page_mb, free_mb;
	} cases[] = {
		{POOL "2048kB/free_hugepages", "100\n", 2, 200},
		{GROUP "hugetlb.2MB.max", "max\n", 2, 200},
		{GROUP "hugetlb.2MB.max", "67108864\n", 2, 64},
		{GROUP "hugetlb.2MB.current", "20971520\n", 2, 44},
		{GROUP "hugetlb.2MB.current", "167108864\n", 2, 0},
		{GROUP "hugetlb.2MB.max", "nothing\n", 2, 200},
		{POOL "1048576kB/free_hugepages", "4\n", 1024, 4096},
		{GROUP "hugetlb/hugetlb.2MB.limit_in_bytes", "9223372036854771712\n", 2, 200},
		{GROUP "hugetlb/hugetlb.1GB.limit_in_bytes", "0\n", 1024, 0},
		{GROUP "hugetlb/hugetlb.1GB.limit_in_bytes", "2147483648\n", 1024, 2048},
		{GROUP "hugetlb/hugetlb.1GB.usage_in_bytes", "1073741824\n", 1024, 1024},
	};

	assert_int_equal(huge_pages_free_mb(root, 2), 0);
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		root_write(cases[i].file, cases[i].text);
		assert_int_equal(huge_pages_free_mb(root, cases[i].page_mb), cases[i].free_mb);
	}
	assert_true(huge_pages_enough(root, 1024));
	assert_false(huge_pages_enough(root, 1025));
	root_write(POOL "1048576kB/free_hugepages", "0\n");
	assert_true(huge_pages_enough(root, 200));
	assert_false(huge_pages_enough(root, 201));
}

#define MSR_PLATFORM_INFO 0xce

/* The sources of the base frequency, in ascending precedence. Files of earlier cases remain. */
TEST(base_frequency_source_has_precedence) {
	static const struct {
		const char *file, *text;
		unsigned now_khz, base_khz; /* 0: not known */
	} cases[] = {
		{"scaling_cur_freq", "1500000\n", 0, 0},
		{NULL, NULL, 1500000, 2100000}, /* base frequency of the MSR */
		{"scaling_max_freq", "1801000\n", 1500000, 2100000},
		{"scaling_driver", "intel_pstate\n", 1500000, 2100000},
		{"scaling_driver", "acpi-cpufreq\n", 1500000, 1800000}, /* with turbo */
		{"base_frequency", "1900000\n", 1500000, 1900000},
		{"scaling_cur_freq", "<unknown>\n", 0, 0},
		{"scaling_cur_freq", "", 0, 0},
	};
	const uint8_t info[8] = {0, 21};
	struct core_speed speed;
	char path[128];

	assert_false(core_speed_read(root, 3, &speed));
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu3/cpufreq/%s",
			 cases[i].file != NULL ? cases[i].file : "");
		if (cases[i].file != NULL)
			root_write(path, cases[i].text);
		else
			root_write_at("dev/cpu/3/msr", MSR_PLATFORM_INFO, info, sizeof(info));
		assert_int_equal(core_speed_read(root, 3, &speed), cases[i].now_khz > 0);
		if (cases[i].now_khz > 0) {
			assert_int_equal(speed.now_khz, cases[i].now_khz);
			assert_int_equal(speed.base_khz, cases[i].base_khz);
		}
	}
	assert_false(core_speed_read(root, 4, &speed));
}

ALL_TESTS(root_create, root_remove)
