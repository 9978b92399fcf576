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
	root_put(POOL "1048576kB/free_hugepages", "1\n");
	assert_int_equal(huge_pages_free_mb(root, 1024), 1024);
	assert_true(huge_pages_enough(root, 201));
	assert_false(huge_pages_enough(root, 1025));
}

TEST(limits_of_version_2) {
	root_put(POOL "2048kB/free_hugepages", "100\n");
	root_put(GROUP "hugetlb.2MB.max", "max\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 200);
	root_put(GROUP "hugetlb.2MB.max", "67108864\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 64);
	root_put(GROUP "hugetlb.2MB.current", "20971520\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 44);
	root_put(GROUP "hugetlb.2MB.current", "167108864\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 0);
	root_put(GROUP "hugetlb.2MB.max", "nothing\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 200);
}

TEST(limits_of_version_1) {
	root_put(POOL "2048kB/free_hugepages", "100\n");
	root_put(POOL "1048576kB/free_hugepages", "4\n");
	root_put(GROUP "hugetlb/hugetlb.2MB.limit_in_bytes", "9223372036854771712\n");
	root_put(GROUP "hugetlb/hugetlb.1GB.limit_in_bytes", "0\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 200);
	assert_int_equal(huge_pages_free_mb(root, 1024), 0);
	root_put(GROUP "hugetlb/hugetlb.1GB.limit_in_bytes", "2147483648\n");
	root_put(GROUP "hugetlb/hugetlb.1GB.usage_in_bytes", "1073741824\n");
	assert_int_equal(huge_pages_free_mb(root, 1024), 1024);
}

EACH_TEST(root_make, root_remove)
