/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/huge_pages.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include <rte_common.h>

#define MB (UINT64_C(1) << 20)

/* Reads a number from a file. Returns false if there is none: "max" means no limit. */
static bool read_number(uint64_t *value, const char *root, const char *folder, const char *name) {
	char path[PATH_MAX];
	bool read;
	FILE *f;

	snprintf(path, sizeof(path), "%s%s/%s", root, folder, name);
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	read = fscanf(f, "%" SCNu64, value) == 1;
	fclose(f);
	return read;
}

/* Bytes of pages of this size that the control group may still use. */
static uint64_t allowance(const char *root, const char *size) {
	static const struct {
		const char *folder, *max, *used;
	} groups[] = {
		{"/sys/fs/cgroup", "hugetlb.%s.max", "hugetlb.%s.current"},
		{"/sys/fs/cgroup/hugetlb", "hugetlb.%s.limit_in_bytes",
		 "hugetlb.%s.usage_in_bytes"},
	};

	for (size_t p = 0; p < RTE_DIM(groups); p++) {
		char name[64];
		uint64_t max, used = 0;

		snprintf(name, sizeof(name), groups[p].max, size);
		if (!read_number(&max, root, groups[p].folder, name))
			continue;
		snprintf(name, sizeof(name), groups[p].used, size);
		(void)read_number(&used, root, groups[p].folder, name);
		return max > used ? max - used : 0;
	}
	return UINT64_MAX;
}

uint64_t huge_pages_free_mb(const char *root, unsigned page_mb) {
	char folder[64];
	uint64_t pages = 0;

	snprintf(folder, sizeof(folder), "/sys/kernel/mm/hugepages/hugepages-%ukB", page_mb * 1024);
	(void)read_number(&pages, root, folder, "free_hugepages");
	return RTE_MIN(pages * page_mb, allowance(root, page_mb == 2 ? "2MB" : "1GB") / MB);
}

bool huge_pages_enough(const char *root, unsigned mb) {
	return huge_pages_free_mb(root, 2) >= mb ||
	       huge_pages_free_mb(root, 1024) >= RTE_MAX(mb, 1024U);
}
