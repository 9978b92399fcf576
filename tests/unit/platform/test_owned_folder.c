/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders with names that others know: ours, and nobody else's to write to. */
#include "root_kit.h"
#include "test_main.h"

#include <sys/stat.h>
#include <unistd.h>

#include "platform/owned_folder.h"

#define OTHER 54321 /* a user that no system has */

static char fault[OWNED_FOLDER_LINE];

static const char *made(const char *name) {
	return owned_folder_make(root_path(name), fault);
}

static void refused(const char *name, const char *why) {
	const char *told = made(name);

	assert_non_null(told);
	if (strstr(told, why) == NULL)
		fail_msg("%s: not %s", told, why);
}

TEST(it_is_made_for_us_alone) {
	struct stat status;

	assert_null(made("folder"));
	assert_int_equal(stat(root_path("folder"), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0700);
	assert_null(made("folder")); /* it is there */
	assert_int_equal(chmod(root_path("folder"), 0755), 0);
	assert_null(made("folder"));
}

TEST(what_is_there_is_another_thing) {
	root_put("written/by/others", "");
	assert_int_equal(chmod(root_path("written"), 0720), 0);
	refused("written", "others may write to (mode 0720); chmod go-w");
	assert_int_equal(chmod(root_path("written"), 0702), 0);
	refused("written", "others may write to (mode 0702); chmod go-w");
	assert_int_equal(symlink("/tmp", root_path("link")), 0);
	refused("link", "found a symbolic link of user ");
	refused("written/by/others", "found no folder; remove it");
	refused("none/folder", "No such file or directory");
}

TEST(it_is_another_user_s) {
	if (geteuid() != 0)
		skip(); /* other users are root's to make */
	root_put("other/file", "");
	assert_int_equal(chown(root_path("other"), OTHER, OTHER), 0);
	refused("other", "found a folder of user 54321, allowed: of user 0; remove it");
}

ALL_TESTS(root_make, root_remove)
