/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders with names that others know: ours, and nobody else's to write to. */
#include "test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/owned_folder.h"

#define OTHER 54321 /* a user that no system has */

static char place[] = "/tmp/owned-XXXXXX", path[64];

static int begin(void **state) {
	assert_non_null(mkdtemp(place));
	snprintf(path, sizeof(path), "%s/folder", place);
	return 0;
}

static int end(void **state) {
	return rmdir(place);
}

static void refused(const char *why) {
	char fault[OWNED_FOLDER_LINE] = "";
	const char *told = owned_folder_make(path, fault);

	assert_non_null(told);
	if (strstr(told, why) == NULL)
		fail_msg("%s: not %s", told, why);
}

TEST(it_is_made_for_us_alone) {
	char fault[OWNED_FOLDER_LINE];
	struct stat status;

	assert_null(owned_folder_make(path, fault));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0700);
	assert_null(owned_folder_make(path, fault)); /* it is there */
	assert_int_equal(chmod(path, 0755), 0);
	assert_null(owned_folder_make(path, fault));
	rmdir(path);
}

TEST(others_may_write_to_it) {
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0720), 0);
	refused("others may write to (mode 0720); chmod go-w");
	assert_int_equal(chmod(path, 0702), 0);
	refused("others may write to (mode 0702); chmod go-w");
	rmdir(path);
}

TEST(it_is_a_link_or_a_file) {
	FILE *file;

	assert_int_equal(symlink("/tmp", path), 0);
	refused("found a symbolic link of user ");
	unlink(path);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	refused("found no folder; remove it");
	unlink(path);
}

TEST(it_cannot_be_made) {
	snprintf(path, sizeof(path), "%s/none/folder", place);
	refused("No such file or directory");
	snprintf(path, sizeof(path), "%s/folder", place);
}

TEST(it_is_another_user_s) {
	if (geteuid() != 0)
		skip(); /* other users are root's to make */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chown(path, OTHER, OTHER), 0);
	refused("found a folder of user 54321, allowed: of user 0; remove it");
	rmdir(path);
}

ALL_TESTS(begin, end)
