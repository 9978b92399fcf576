/* SPDX-License-Identifier: BSD-3-Clause */
/* Huge pages that are free, within the limit of a container, by files of the test's. */
#include "test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/huge_pages.h"

#define POOL "sys/kernel/mm/hugepages/hugepages-"
#define GROUP "sys/fs/cgroup/"

static char root[64];

static int make_root(void **state) {
	(void)state;
	strcpy(root, "/tmp/test-huge-pages-XXXXXX");
	return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at) {
	(void)status;
	(void)kind;
	(void)at;
	return remove(path);
}

static int remove_root(void **state) {
	(void)state;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *name, const char *text) {
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void what_is_free(void **state) {
	(void)state;
	assert_int_equal(huge_pages_free_mb(root, 2), 0);
	put(POOL "2048kB/free_hugepages", "100\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 200);
	assert_true(huge_pages_enough(root, 200));
	assert_false(huge_pages_enough(root, 201));
	put(POOL "1048576kB/free_hugepages", "1\n");
	assert_int_equal(huge_pages_free_mb(root, 1024), 1024);
	assert_true(huge_pages_enough(root, 201));
	assert_false(huge_pages_enough(root, 1025));
}

static void limits_of_version_2(void **state) {
	(void)state;
	put(POOL "2048kB/free_hugepages", "100\n");
	put(GROUP "hugetlb.2MB.max", "max\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 200);
	put(GROUP "hugetlb.2MB.max", "67108864\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 64);
	put(GROUP "hugetlb.2MB.current", "20971520\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 44);
	put(GROUP "hugetlb.2MB.current", "167108864\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 0);
	put(GROUP "hugetlb.2MB.max", "nothing\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 200);
}

static void limits_of_version_1(void **state) {
	(void)state;
	put(POOL "2048kB/free_hugepages", "100\n");
	put(POOL "1048576kB/free_hugepages", "4\n");
	put(GROUP "hugetlb/hugetlb.2MB.limit_in_bytes", "9223372036854771712\n");
	put(GROUP "hugetlb/hugetlb.1GB.limit_in_bytes", "0\n");
	assert_int_equal(huge_pages_free_mb(root, 2), 200);
	assert_int_equal(huge_pages_free_mb(root, 1024), 0);
	put(GROUP "hugetlb/hugetlb.1GB.limit_in_bytes", "2147483648\n");
	put(GROUP "hugetlb/hugetlb.1GB.usage_in_bytes", "1073741824\n");
	assert_int_equal(huge_pages_free_mb(root, 1024), 1024);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_root, remove_root)

int main(void) {
	const struct CMUnitTest tests[] = {
		TEST(what_is_free),
		TEST(limits_of_version_2),
		TEST(limits_of_version_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
