/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests owned_folder.h: a folder must belong to this user, and other users may not write to it. */
#include "root_kit.h"
#include "test_main.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* The path of the runtime folder `name`, as user `user` in a child; "!" and the reason if refused. */
static const char *runtime_path(uid_t user, const char *service, const char *own,
				const char *name) {
	static char path[PATH_MAX + OWNED_FOLDER_LINE];
	const char *reason;
	int ends[2];
	ssize_t length;

	assert_int_equal(pipe(ends), 0);
	if (fork() == 0) {
		service != NULL ? setenv("RUNTIME_DIRECTORY", service, 1)
				: unsetenv("RUNTIME_DIRECTORY");
		own != NULL ? setenv("XDG_RUNTIME_DIR", own, 1) : unsetenv("XDG_RUNTIME_DIR");
		if (setresuid(user, user, user) != 0)
			_exit(1);
		reason = owned_folder_runtime(root_path("of-root"), name, path, PATH_MAX, fault);
		if (reason != NULL)
			snprintf(path, sizeof(path), "!%s", reason);
		_exit(write(ends[1], path, strlen(path)) > 0 ? 0 : 1);
	}
	close(ends[1]);
	length = read(ends[0], path, sizeof(path) - 1);
	close(ends[0]);
	wait(NULL);
	path[length > 0 ? length : 0] = '\0';
	return path;
}

TEST(runtime_folder_is_of_service_root_or_user) {
	uid_t user = 200000u + (uid_t)getpid(); /* its folder in /tmp is this test's alone */
	char private[96], base[64], reason[OWNED_FOLDER_LINE];

	if (geteuid() != 0)
		skip(); /* setresuid() needs root */
	assert_int_equal(chmod(root, 0755), 0);
	root_write("xdg/own/file", "");
	root_write("run/file", "");
	assert_int_equal(chmod(root_path("xdg"), 0711), 0);
	assert_int_equal(chown(root_path("xdg/own"), user, user), 0);
	assert_string_equal(runtime_path(0, root_path("run"), root_path("xdg"), "vcmts"),
			    root_path("run/vcmts"));
	assert_string_equal(runtime_path(0, NULL, root_path("xdg"), "vcmts"), root_path("of-root"));
	assert_string_equal(runtime_path(user, NULL, root_path("xdg/own"), "vcmts"),
			    root_path("xdg/own/vcmts"));
	/* XDG_RUNTIME_DIR of another user or of none */
	snprintf(base, sizeof(base), "/tmp/vcmts-%u", user);
	snprintf(private, sizeof(private), "%s/vcmts", base);
	assert_string_equal(runtime_path(user, NULL, root_path("xdg"), "vcmts"), private);
	assert_int_equal(rmdir(private), 0);
	assert_string_equal(runtime_path(user, NULL, NULL, "vcmts"), private);
	assert_int_equal(rmdir(private), 0);
	assert_int_equal(chown(base, OTHER_USER, OTHER_USER), 0);
	snprintf(reason, sizeof(reason),
		 "!found a folder of user 54321, allowed: of user %u; remove it, or set "
		 "RUNTIME_DIRECTORY to another folder",
		 user);
	assert_string_equal(runtime_path(user, NULL, "/none", "vcmts"), reason);
	assert_int_equal(rmdir(base), 0);
}

ALL_TESTS(root_create, root_remove)
