/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder of the test's in the place of the system's: setup, teardown, and files in it. */
#pragma once

#include "test.h"

#include <ftw.h>
#include <sys/stat.h>

static char root[64];

static inline int root_make(void **state) {
	strcpy(root, "/tmp/test-root-XXXXXX");
	return mkdtemp(root) != NULL ? 0 : -1;
}

static inline int root_remove_one(const char *path, const struct stat *status, int kind,
				  struct FTW *at) {
	return remove(path);
}

static inline int root_remove(void **state) {
	return nftw(root, root_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The path of what is below the root; until the fourth call from here. */
static inline const char *root_path(const char *name) {
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
	return path;
}

/* Writes a file, from `offset` on, and makes the folders above it. */
static inline void root_put_at(const char *name, long offset, const void *bytes, size_t size) {
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s", root_path(name));
	for (char *slash = path + strlen(root); (slash = strchr(slash + 1, '/')) != NULL;) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fseek(f, offset, SEEK_SET);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static inline void root_put(const char *name, const char *text) {
	root_put_at(name, 0, text, strlen(text));
}
