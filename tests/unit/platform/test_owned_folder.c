/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests owned_folder.h: a folder must belong to this user, and other users may not write to it. */
#include "root_kit.h"
#include "test_main.h"

#include <sys/stat.h>
#include <unistd.h>

#include "platform/owned_folder.h"

#define OTHER_USER 54321 /* a user ID that does not exist */

static char fault[OWNED_FOLDER_LINE];

static const char *make_folder(const char *name) {
	return owned_folder_make(root_path(name), fault);
}

static void assert_refused(const char *name, const char *reason) {
	const char *actual = make_folder(name);

	assert_non_null(actual);
	if (strstr(actual, reason) == NULL)
		fail_msg("owned_folder_make() returned \"%s\", expected \"%s\"", actual, reason);
}

TEST(new_folder_has_mode_0700) {
	struct stat status;

	assert_null(make_folder("folder"));
	assert_int_equal(stat(root_path("folder"), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0700);
	assert_null(make_folder("folder")); /* exists */
	assert_int_equal(chmod(root_path("folder"), 0755), 0);
	assert_null(make_folder("folder"));
}

TEST(other_files_and_writable_folders_are_refused) {
	root_write("written/by/others", "");
	assert_int_equal(chmod(root_path("written"), 0720), 0);
	assert_refused("written", "others may write to (mode 0720); chmod go-w");
	assert_int_equal(chmod(root_path("written"), 0702), 0);
	assert_refused("written", "others may write to (mode 0702); chmod go-w");
	assert_int_equal(symlink("/tmp", root_path("link")), 0);
	assert_refused("link", "found a symbolic link of user ");
	assert_refused("written/by/others", "found a file, allowed: a folder; remove the file");
	assert_refused("none/folder", "No such file or directory");
}

TEST(folder_of_other_user_is_refused) {
	if (geteuid() != 0)
		skip(); /* chown() needs root */
	root_write("other/file", "");
	assert_int_equal(chown(root_path("other"), OTHER_USER, OTHER_USER), 0);
	assert_refused("other", "found a folder of user 54321, allowed: of user 0; remove it");
}

ALL_TESTS(root_create, root_remove)
