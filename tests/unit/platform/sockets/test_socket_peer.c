/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who gets the name of a socket: after a crash, beside a process that listens, and of several that start together. And whose
 * sockets are believed: other users are child processes with other user IDs, where root runs the test.
 */
#include "root_kit.h"
#include "test_main.h"

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/sockets/socket_claim.h"
#include "platform/sockets/socket_peer.h"

#define STARTERS 8
#define OTHER 54321 /* users that no system has */
#define THIRD 54322

static char path[80], lock[88];
static struct socket_claim claim;
static char fault[SOCKET_PEER_LINE];

/* As /tmp: anybody may make something there. */
static int begin(void **state) {
	if (root_make(state) != 0 || chmod(root, 01777) != 0)
		return -1;
	snprintf(path, sizeof(path), "%s/a.sock", root);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	return 0;
}

/* As a driver does it, which knows nothing of claims. */
static int bound(const char *name, int type, bool listens) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", name);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    (listens && listen(fd, 1) != 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool there(const char *name) {
	struct stat status;

	return lstat(name, &status) == 0;
}

/* A child that has done this lives until it is ended. */
static pid_t child_that(bool (*does)(int what), int what) {
	int ready[2];
	pid_t child;
	char c;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (does(what) && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return child;
}

static void child_end(pid_t child) {
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static bool claims_and_binds(int type) {
	return socket_claim(&claim, path, type) == NULL && bound(path, type, true) >= 0;
}

static void crash(int type) {
	child_end(child_that(claims_and_binds, type));
}

TEST(after_a_crash) {
	static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET};

	for (size_t t = 0; t < 2; t++) {
		int fd;

		crash(types[t]);
		assert_true(there(path));
		assert_int_equal(bound(path, types[t], true), -1); /* in use, for ever */
		assert_null(socket_claim(&claim, path, types[t]));
		fd = bound(path, types[t], true);
		assert_true(fd >= 0);
		close(fd); /* a driver may leave its file */
		socket_claim_release(&claim);
		assert_false(there(path) || there(lock));
	}
}

/* Of another release, or another program: a listener without a lock, of this type or another one, or with a full queue. */
TEST(a_live_owner) {
	static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET};

	for (size_t t = 0; t < 4; t++) {
		int fd = bound(path, types[t % 2], true);

		assert_true(fd >= 0);
		for (int i = 0; i < 9; i++) /* nobody accepts: the queue is full then */
			assert_non_null(strstr(socket_claim(&claim, path, types[t / 2]),
					       "another process serves here"));
		assert_int_equal(claim.lock, -1);
		assert_true(there(path) && !there(lock));
		close(fd);
		assert_null(socket_claim(&claim, path, types[t / 2]));
		assert_false(there(path));
		socket_claim_release(&claim);
	}
}

/* Between bind() and listen() nobody listens yet: the lock tells. */
TEST(a_claim_that_is_not_bound_yet) {
	struct socket_claim second;
	int fd;

	assert_null(socket_claim(&claim, path, SOCK_STREAM));
	assert_non_null(socket_claim(&second, path, SOCK_STREAM));
	fd = bound(path, SOCK_STREAM, false);
	assert_true(fd >= 0);
	assert_non_null(socket_claim(&second, path, SOCK_STREAM));
	assert_true(there(path));
	socket_claim_release(&second); /* it has nothing */
	assert_non_null(socket_claim(&second, path, SOCK_STREAM));
	close(fd);
	socket_claim_release(&claim);
	socket_claim_release(&claim);
}

/* A listener that came while the claim was ours is not ours to remove. */
TEST(a_release_removes_no_listener) {
	int fd;

	assert_null(socket_claim(&claim, path, SOCK_STREAM));
	fd = bound(path, SOCK_STREAM, true);
	socket_claim_release(&claim);
	assert_true(there(path) && !there(lock));
	close(fd);
	unlink(path);
}

TEST(other_files) {
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	struct stat status;

	root_put("a.sock", "");
	assert_non_null(strstr(socket_claim(&claim, path, SOCK_STREAM), "no socket"));
	assert_true(stat(path, &status) == 0 && S_ISREG(status.st_mode));
	unlink(path);
	assert_int_equal(symlink("nowhere", path), 0);
	assert_non_null(strstr(socket_claim(&claim, path, SOCK_STREAM), "no socket"));
	assert_true(there(path));
	unlink(path);
	assert_int_equal(symlink(path, lock), 0); /* a lock is no link */
	assert_non_null(socket_claim(&claim, path, SOCK_STREAM));
	assert_false(there(path));
	unlink(lock);
	assert_non_null(socket_claim(&claim, "/no/such/folder", SOCK_STREAM));
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_non_null(strstr(socket_claim(&claim, name, SOCK_STREAM), "longer than 107 bytes"));
	name[sizeof(name) - 2] = '\0';
	memcpy(name, path, strlen(root) + 1);
	assert_null(socket_claim(&claim, name, SOCK_STREAM));
	socket_claim_release(&claim);
}

/* Claims and lets go; one in eight times it binds, and crashes: then both files are left. */
static int comes_and_goes(unsigned turns) {
	for (unsigned n = 0; n < turns; n++) {
		bool crashes = n % 8 == 0;
		int fd = -1;

		if (socket_claim(&claim, path, SOCK_SEQPACKET) != NULL)
			continue;
		if (mkdir(root_path("marker"), 0700) != 0)
			return 1;
		if (crashes)
			fd = bound(path, SOCK_SEQPACKET, true);
		sched_yield();
		if (rmdir(root_path("marker")) != 0 || there(path) != crashes)
			return 1;
		if (!crashes)
			socket_claim_release(&claim);
		close(fd);
		close(crashes ? claim.lock : -1);
	}
	return 0;
}

/* Never two at a time, also where the lock's file is removed between open() and flock() of another process. */
TEST(claims_that_come_and_go) {
	int status;

	for (unsigned i = 0; i < STARTERS; i++) {
		if (fork() == 0)
			_exit(comes_and_goes(4000));
	}
	for (unsigned i = 0; i < STARTERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_null(socket_claim(&claim, path, SOCK_SEQPACKET));
	socket_claim_release(&claim);
}

static int listener;

static bool listens_as(int user) {
	return setresuid((uid_t)user, (uid_t)user, (uid_t)user) == 0 && listen(listener, 1) == 0;
}

/* Asks of a socket that `user` listens at, at one name, by another name of it. */
static bool is_allowed(const char *name, const char *by, uid_t user) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int client = socket(AF_UNIX, SOCK_STREAM, 0);
	const char *found;
	pid_t child;

	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s", root_path(name));
	unlink(address.sun_path);
	listener = bound(address.sun_path, SOCK_STREAM, false);
	assert_true(listener >= 0);
	child = child_that(listens_as, (int)user);
	assert_int_equal(connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
	found = socket_peer_fault(client, by, fault);
	close(client);
	close(listener);
	child_end(child);
	assert_true(found == NULL || found == fault);
	return found == NULL;
}

TEST(our_own) {
	assert_true(is_allowed("a.sock", root_path("a.sock"), geteuid()));
	assert_int_equal(chdir(root), 0);
	assert_true(is_allowed("a.sock", "a.sock", geteuid()));
	assert_int_equal(chdir("/"), 0);
}

static const struct {
	const char *name;
	uid_t user;
	mode_t mode;
} folders[] = {
	{"vcmts-0", OTHER, 0755}, /* made before ours was */
	{"run", 0, 0755}, /* as /run/vcmts, which the service's user has from root */
	{"run/vcmts", OTHER, 0770},
	{"run/vcmts/shut", OTHER, 0755},
	{"run/vcmts/shut/third", THIRD, 0755},
	{"run/vcmts/open", OTHER, 0777},
	{"run/vcmts/open/third", THIRD, 0755},
	{"run/vcmts/group", OTHER, 0775}, /* nor may the group write */
	{"run/vcmts/group/third", THIRD, 0755},
	{"closed", 0, 0755},
	{"closed/other", OTHER, 0755},
};

/* A socket at one name, who listens there, and what is said of it by another name. */
static const struct {
	const char *name, *by;
	uid_t user;
	const char *fault; /* NULL: it is allowed; "": any */
} peers[] = {
	{"b.sock", "b.sock", OTHER, "served by user 54321, allowed: user 0"},
	{"vcmts-0/a", "vcmts-0/a", OTHER, "served by user 54321, allowed: user 0"},
	{"run/vcmts/a", "run/vcmts/a", OTHER, NULL},
	{"run/vcmts/a", "run/vcmts/a", THIRD, "served by user 54322, allowed: user 0, 54321"},
	{"run/vcmts/shut/third/a", "run/vcmts/shut/third/a", THIRD, NULL},
	{"run/vcmts/open/third/a", "run/vcmts/open/third/a", THIRD, ""},
	{"run/vcmts/group/third/a", "run/vcmts/group/third/a", THIRD, ""},
	{"closed/other/a", "by-root/other/a", OTHER, NULL},
	{"closed/other/a", "closed/up/a", OTHER, NULL},
	{"closed/other/a", "closed//other/../other/a", OTHER, NULL},
	{"closed/other/a", "by-other/other/a", OTHER, ""},
	{"closed/other/a", "closed/loop/a", OTHER, ""},
	{"closed/other/a", "closed/none/a", OTHER, ""},
};

TEST(other_users_folders_and_links) {
	if (geteuid() != 0)
		skip();
	for (unsigned i = 0; i < ARRAY_COUNT(folders); i++) {
		assert_int_equal(mkdir(root_path(folders[i].name), 0700), 0);
		assert_int_equal(chmod(root_path(folders[i].name), folders[i].mode), 0);
		assert_int_equal(
			chown(root_path(folders[i].name), folders[i].user, folders[i].user), 0);
	}
	assert_int_equal(symlink(root_path("closed"), root_path("by-root")), 0);
	assert_int_equal(symlink("../closed/./other", root_path("closed/up")), 0);
	assert_int_equal(symlink(root_path("closed"), root_path("by-other")), 0);
	assert_int_equal(lchown(root_path("by-other"), OTHER, OTHER), 0);
	assert_int_equal(symlink("loop", root_path("closed/loop")), 0);
	for (unsigned i = 0; i < ARRAY_COUNT(peers); i++) {
		bool allowed = is_allowed(peers[i].name, root_path(peers[i].by), peers[i].user);

		assert_int_equal(allowed, peers[i].fault == NULL);
		if (!allowed && peers[i].fault[0] != '\0')
			assert_string_equal(fault, peers[i].fault);
	}
}

ALL_TESTS(begin, root_remove)
