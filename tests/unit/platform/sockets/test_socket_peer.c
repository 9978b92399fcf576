/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose sockets are believed. Other users are child processes with other user IDs, where root runs the test. */
#include "test_main.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/sockets/socket_peer.h"

#define OTHER 54321 /* users that no system has */
#define THIRD 54322

static char top[] = "/tmp/peer-XXXXXX";
static char fault[SOCKET_PEER_LINE];

/* Below the folder that is as /tmp: anybody may make something there. */
static const char *below(const char *name) {
	static char paths[4][96];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static int begin(void **state) {
	return mkdtemp(top) == NULL || chmod(top, 01777) != 0 ? -1 : 0;
}

static int end(void **state) {
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static void folder_make(const char *name, uid_t user, mode_t mode) {
	assert_int_equal(mkdir(below(name), 0700), 0);
	assert_int_equal(chmod(below(name), mode), 0);
	assert_int_equal(chown(below(name), user, user), 0);
}

static int bound(const char *name, struct sockaddr_un *address) {
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "%.90s", below(name));
	unlink(address->sun_path);
	assert_int_equal(bind(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
	return fd;
}

/* Asks of a socket that `user` listens at, at one name, by another name of it. */
static bool is_allowed(const char *name, const char *by, uid_t user) {
	struct sockaddr_un address;
	int listener = bound(name, &address), client = socket(AF_UNIX, SOCK_STREAM, 0), ready[2];
	const char *found;
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (setresuid(user, user, user) == 0 && listen(listener, 1) == 0 &&
		    write(ready[1], "r", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
	found = socket_peer_fault(client, below(by), fault);
	close(client);
	close(listener);
	close(ready[0]);
	close(ready[1]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(found == NULL || found == fault);
	return found == NULL;
}

static bool not_root(void) {
	return geteuid() != 0;
}

TEST(our_own) {
	assert_true(is_allowed("a.sock", "a.sock", geteuid()));
	assert_int_equal(chdir(top), 0);
	{
		struct sockaddr_un address;
		int listener = bound("a.sock", &address), client = socket(AF_UNIX, SOCK_STREAM, 0);

		assert_int_equal(listen(listener, 1), 0);
		assert_int_equal(
			connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
		assert_null(socket_peer_fault(client, "a.sock", fault));
		close(client);
		close(listener);
	}
	assert_int_equal(chdir("/"), 0);
}

TEST(another_user) {
	if (not_root())
		skip();
	assert_false(is_allowed("b.sock", "b.sock", OTHER));
	assert_string_equal(fault, "served by user 54321, allowed: user 0");
	folder_make("vcmts-0", OTHER, 0755); /* made before ours was */
	assert_false(is_allowed("vcmts-0/a.sock", "vcmts-0/a.sock", OTHER));
	assert_string_equal(fault, "served by user 54321, allowed: user 0");
}

/* As /run/vcmts, which the service's user has from root. */
TEST(a_folder_that_root_gave) {
	if (not_root())
		skip();
	folder_make("run", 0, 0755);
	folder_make("run/vcmts", OTHER, 0770);
	assert_true(is_allowed("run/vcmts/a.sock", "run/vcmts/a.sock", OTHER));
	assert_false(is_allowed("run/vcmts/a.sock", "run/vcmts/a.sock", THIRD));
	assert_string_equal(fault, "served by user 54322, allowed: user 0, 54321");
	folder_make("run/vcmts/open", OTHER, 0777);
	folder_make("run/vcmts/open/third", THIRD, 0755);
	assert_false(is_allowed("run/vcmts/open/third/a", "run/vcmts/open/third/a", THIRD));
	assert_int_equal(chmod(below("run/vcmts/open"), 0755), 0);
	assert_true(is_allowed("run/vcmts/open/third/a", "run/vcmts/open/third/a", THIRD));
	assert_int_equal(chmod(below("run/vcmts/open"), 0775), 0); /* nor may the group write */
	assert_false(is_allowed("run/vcmts/open/third/a", "run/vcmts/open/third/a", THIRD));
}

TEST(links) {
	if (not_root())
		skip();
	folder_make("closed", 0, 0755);
	folder_make("closed/other", OTHER, 0755);
	assert_int_equal(symlink(below("closed"), below("by-root")), 0);
	assert_true(is_allowed("closed/other/a", "by-root/other/a", OTHER));
	assert_int_equal(symlink("../closed/./other", below("closed/up")), 0);
	assert_true(is_allowed("closed/other/a", "closed/up/a", OTHER));
	assert_true(is_allowed("closed/other/a", "closed//other/../other/a", OTHER));
	assert_int_equal(symlink(below("closed"), below("by-other")), 0);
	assert_int_equal(lchown(below("by-other"), OTHER, OTHER), 0);
	assert_false(is_allowed("closed/other/a", "by-other/other/a", OTHER));
	assert_int_equal(symlink("loop", below("closed/loop")), 0);
	assert_false(is_allowed("closed/other/a", "closed/loop/a", OTHER));
	assert_false(is_allowed("closed/other/a", "closed/none/a", OTHER));
}

ALL_TESTS(begin, end)
