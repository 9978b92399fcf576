/* SPDX-License-Identifier: BSD-3-Clause */
/* A temporary folder that replaces the system's root folder: setup, teardown, and files in it. */
#pragma once

#include "test.h"

#include <ftw.h>
#include <sys/stat.h>

static char root[64];

static inline int root_create(void **state) {
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

/* The path of a file below the root. The fourth call from here overwrites it. */
static inline const char *root_path(const char *name) {
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
	return path;
}

/* Creates a file with `bytes` at `offset`, and its parent folders. */
static inline void root_write_at(const char *name, long offset, const void *bytes, size_t size) {
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

static inline void root_write(const char *name, const char *text) {
	root_write_at(name, 0, text, strlen(text));
}
