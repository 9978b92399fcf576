/* SPDX-License-Identifier: BSD-3-Clause */
/* Huge pages that are free, within the limit of a container, by files of the test's. */
#include "test_main.h"
#include "test_root.h"

#include "platform/huge_pages.h"

#define POOL "sys/kernel/mm/hugepages/hugepages-"
#define GROUP "sys/fs/cgroup/"

TEST(what_is_free) {
	assert_int_equal(huge_pages_free_mb(root, 2), 0);
	root_put(POOL "2048kB/free_hugepages", "100\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 200);
	assert_true(huge_pages_enough(root, 200));
	assert_false(huge_pages_enough(root, 201));
	root_put(POOL "1048576kB/free_hugepages", "4\n");
	assert_int_equal(huge_pages_free_mb(root, 1024), 4096);
	assert_true(huge_pages_enough(root, 201));
	assert_false(huge_pages_enough(root, 4097));
}

/* Of version 2 of control groups, and of version 1; each counts until the next one changes it. */
TEST(limits) {
	static const struct {
		const char *file, *text;
		unsigned page_mb, free_mb;
	} cases[] = {
		{GROUP "hugetlb.2MB.max", "max\n", 2, 200},
		{GROUP "hugetlb.2MB.max", "67108864\n", 2, 64},
		{GROUP "hugetlb.2MB.current", "20971520\n", 2, 44},
		{GROUP "hugetlb.2MB.current", "167108864\n", 2, 0},
		{GROUP "hugetlb.2MB.max", "nothing\n", 2, 200},
		{GROUP "hugetlb/hugetlb.2MB.limit_in_bytes", "9223372036854771712\n", 2, 200},
		{GROUP "hugetlb/hugetlb.1GB.limit_in_bytes", "0\n", 1024, 0},
		{GROUP "hugetlb/hugetlb.1GB.limit_in_bytes", "2147483648\n", 1024, 2048},
		{GROUP "hugetlb/hugetlb.1GB.usage_in_bytes", "1073741824\n", 1024, 1024},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		root_put(cases[i].file, cases[i].text);
		assert_int_equal(huge_pages_free_mb(root, cases[i].page_mb), cases[i].free_mb);
	}
}

ALL_TESTS(root_make, root_remove)
