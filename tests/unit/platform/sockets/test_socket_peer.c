/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests socket_claim.h: which process gets the name of a socket, after crashes and concurrently.
 * Tests socket_peer.h: which users' sockets a client trusts. As root, child processes with other
 * user IDs serve sockets. */
#include "root_kit.h"
#include "test_main.h"

#include <errno.h>
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
#define OTHER_USER 54321 /* user IDs that do not exist */
#define THIRD_USER 54322

static char path[80], lock[88];
static struct socket_claim claim;
static char fault[SOCKET_PEER_LINE];

/* The folder is writable by all users, like /tmp. */
static int set_up(void **state) {
	if (root_create(state) != 0 || chmod(root, 01777) != 0)
		return -1;
	snprintf(path, sizeof(path), "%s/a.sock", root);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	return 0;
}

/* Binds a socket without a claim, as a driver does. Returns its descriptor, or -1. */
static int bind_socket(const char *name, int type, bool listens) {
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

static bool exists(const char *name) {
	struct stat status;

	return lstat(name, &status) == 0;
}

/* Starts a child that calls action(argument) and then pauses until child_end(). */
static pid_t child_start(bool (*action)(int argument), int argument) {
	int ready[2];
	pid_t child;
	char c;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (action(argument) && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return child;
}

static void child_end(pid_t child) {
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static bool claims_and_binds(int type) {
	return socket_claim(&claim, path, type) == NULL && bind_socket(path, type, true) >= 0;
}

static void crash(int type) {
	child_end(child_start(claims_and_binds, type));
}

TEST(claim_succeeds_after_crash) {
	static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET};

	for (size_t t = 0; t < 2; t++) {
		int fd;

		crash(types[t]);
		assert_true(exists(path));
		assert_int_equal(bind_socket(path, types[t], true), -1); /* address in use */
		assert_null(socket_claim(&claim, path, types[t]));
		fd = bind_socket(path, types[t], true);
		assert_true(fd >= 0);
		close(fd); /* without unlink(), as some drivers do */
		socket_claim_release(&claim);
		assert_false(exists(path) || exists(lock));
	}
}

/* A listener without a lock, as of an older release: of either type, also with a full backlog. */
TEST(claim_fails_beside_listener) {
	static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET};

	for (size_t t = 0; t < 4; t++) {
		int fd = bind_socket(path, types[t % 2], true);

		assert_true(fd >= 0);
		for (int i = 0; i < 9; i++) /* fills the backlog */
			assert_non_null(strstr(socket_claim(&claim, path, types[t / 2]),
					       "another process serves this socket"));
		assert_int_equal(claim.lock, -1);
		assert_true(exists(path) && !exists(lock));
		close(fd);
		assert_null(socket_claim(&claim, path, types[t / 2]));
		assert_false(exists(path));
		socket_claim_release(&claim);
	}
}

/* Between bind() and listen(), only the lock shows that the name is in use. */
TEST(claim_fails_beside_unbound_claim) {
	struct socket_claim second;
	int fd;

	assert_null(socket_claim(&claim, path, SOCK_STREAM));
	assert_non_null(socket_claim(&second, path, SOCK_STREAM));
	fd = bind_socket(path, SOCK_STREAM, false);
	assert_true(fd >= 0);
	assert_non_null(socket_claim(&second, path, SOCK_STREAM));
	assert_true(exists(path));
	socket_claim_release(&second); /* no claim: no effect */
	assert_non_null(socket_claim(&second, path, SOCK_STREAM));
	close(fd);
	socket_claim_release(&claim);
	socket_claim_release(&claim);
}

/* A claim's release does not remove a socket on which a process listens. */
TEST(release_keeps_socket_of_listener) {
	int fd;

	assert_null(socket_claim(&claim, path, SOCK_STREAM));
	fd = bind_socket(path, SOCK_STREAM, true);
	socket_claim_release(&claim);
	assert_true(exists(path) && !exists(lock));
	close(fd);
	unlink(path);
}

TEST(files_that_are_no_sockets_are_kept) {
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	struct stat status;

	root_write("a.sock", "");
	assert_non_null(strstr(socket_claim(&claim, path, SOCK_STREAM), "no socket"));
	assert_true(stat(path, &status) == 0 && S_ISREG(status.st_mode));
	unlink(path);
	assert_int_equal(symlink("nowhere", path), 0);
	assert_non_null(strstr(socket_claim(&claim, path, SOCK_STREAM), "no socket"));
	assert_true(exists(path));
	unlink(path);
	assert_int_equal(symlink(path, lock), 0); /* a lock must not be a link */
	assert_non_null(socket_claim(&claim, path, SOCK_STREAM));
	assert_false(exists(path));
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

/* Claims repeatedly, and crashes each eighth time. Returns 1 if another process has the claim. */
static int claim_repeatedly(unsigned rounds) {
	for (unsigned n = 0; n < rounds; n++) {
		bool crashes = n % 8 == 0;
		int fd = -1;

		if (socket_claim(&claim, path, SOCK_SEQPACKET) != NULL)
			continue;
		if (mkdir(root_path("marker"), 0700) != 0)
			return 1;
		if (crashes)
			fd = bind_socket(path, SOCK_SEQPACKET, true);
		sched_yield();
		if (rmdir(root_path("marker")) != 0 || exists(path) != crashes)
			return 1;
		if (!crashes)
			socket_claim_release(&claim);
		close(fd);
		close(crashes ? claim.lock : -1);
	}
	return 0;
}

/* One process has the claim, even if it removes the lock file while another process locks it. */
TEST(concurrent_claims_are_exclusive) {
	int status;

	for (unsigned i = 0; i < STARTERS; i++) {
		if (fork() == 0)
			_exit(claim_repeatedly(4000));
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

/* Connects to a socket `name` that `user` serves. Whether socket_peer_fault() accepts it by path
 * `by`, which may contain links. */
static bool is_allowed(const char *name, const char *by, uid_t user) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int client = socket(AF_UNIX, SOCK_STREAM, 0);
	const char *result;
	pid_t child;

	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s", root_path(name));
	unlink(address.sun_path);
	listener = bind_socket(address.sun_path, SOCK_STREAM, false);
	assert_true(listener >= 0);
	child = child_start(listens_as, (int)user);
	assert_int_equal(connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
	result = socket_peer_fault(client, by, fault);
	close(client);
	close(listener);
	child_end(child);
	assert_true(result == NULL || result == fault);
	return result == NULL;
}

TEST(own_sockets_are_allowed) {
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
	{"vcmts-0", OTHER_USER, 0755}, /* created first by another user */
	{"run", 0, 0755}, /* like /run/vcmts, which root gives to the service's user */
	{"run/vcmts", OTHER_USER, 0770},
	{"run/vcmts/shut", OTHER_USER, 0755},
	{"run/vcmts/shut/third", THIRD_USER, 0755},
	{"run/vcmts/open", OTHER_USER, 0777},
	{"run/vcmts/open/third", THIRD_USER, 0755},
	{"run/vcmts/group", OTHER_USER, 0775}, /* writable by the group */
	{"run/vcmts/group/third", THIRD_USER, 0755},
	{"closed", 0, 0755},
	{"closed/other", OTHER_USER, 0755},
};

/* A socket `name` that `user` serves, and the expected result for the path `by`. */
static const struct {
	const char *name, *by;
	uid_t user;
	const char *fault; /* NULL: allowed; "": any fault */
} peers[] = {
	{"b.sock", "b.sock", OTHER_USER, "served by user 54321, allowed: user 0"},
	{"vcmts-0/a", "vcmts-0/a", OTHER_USER, "served by user 54321, allowed: user 0"},
	{"run/vcmts/a", "run/vcmts/a", OTHER_USER, NULL},
	{"run/vcmts/a", "run/vcmts/a", THIRD_USER, "served by user 54322, allowed: user 0, 54321"},
	{"run/vcmts/shut/third/a", "run/vcmts/shut/third/a", THIRD_USER, NULL},
	{"run/vcmts/open/third/a", "run/vcmts/open/third/a", THIRD_USER, ""},
	{"run/vcmts/group/third/a", "run/vcmts/group/third/a", THIRD_USER, ""},
	{"closed/other/a", "by-root/other/a", OTHER_USER, NULL},
	{"closed/other/a", "closed/up/a", OTHER_USER, NULL},
	{"closed/other/a", "closed//other/../other/a", OTHER_USER, NULL},
	{"closed/other/a", "by-other/other/a", OTHER_USER, ""},
	{"closed/other/a", "closed/loop/a", OTHER_USER, ""},
	{"closed/other/a", "closed/none/a", OTHER_USER, ""},
};

TEST(sockets_below_folders_and_links_of_other_users) {
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
	assert_int_equal(lchown(root_path("by-other"), OTHER_USER, OTHER_USER), 0);
	assert_int_equal(symlink("loop", root_path("closed/loop")), 0);
	for (unsigned i = 0; i < ARRAY_COUNT(peers); i++) {
		bool allowed = is_allowed(peers[i].name, root_path(peers[i].by), peers[i].user);

		assert_int_equal(allowed, peers[i].fault == NULL);
		if (!allowed && peers[i].fault[0] != '\0')
			assert_string_equal(fault, peers[i].fault);
	}
}

/* Whether connecting fails with `error`. */
static bool fails(const char *name, unsigned timeout_s, int error) {
	fault[0] = '\0';
	return socket_peer_connect(name, timeout_s, fault) == -1 && errno == error &&
	       strcmp(fault, strerror(error)) == 0;
}

TEST(failed_connections_have_causes) {
	char long_path[200];
	int fd;

	memset(long_path, 'a', sizeof(long_path));
	long_path[sizeof(long_path) - 1] = '\0';
	assert_true(fails(long_path, 0, ENAMETOOLONG));
	unlink(path);
	assert_true(fails(path, 0, ENOENT));
	fd = bind_socket(path, SOCK_STREAM, false);
	assert_true(fails(path, 0, ECONNREFUSED));
	close(fd);
}

TEST(connecting_to_a_full_listener_has_a_timeout) {
	int server, clients[8], count = 0;

	unlink(path);
	server = bind_socket(path, SOCK_STREAM, true);
	while (count < 8 && (clients[count] = socket_peer_connect(path, 1, fault)) >= 0)
		count++;
	assert_in_range(count, 1, 7);
	assert_true(errno == EAGAIN);
	while (count > 0)
		close(clients[--count]);
	close(server);
}

static bool listens_at_path(int user) {
	listener = bind_socket(path, SOCK_STREAM, false);
	return chmod(path, 0777) == 0 && listens_as(user);
}

TEST(other_users_server_is_left_at_once) {
	pid_t child;

	if (geteuid() != 0)
		skip();
	unlink(path);
	child = child_start(listens_at_path, OTHER_USER);
	assert_int_equal(socket_peer_connect(path, 0, fault), -1);
	assert_int_equal(errno, EPERM);
	assert_string_equal(fault, "served by user 54321, allowed: user 0");
	child_end(child);
}

ALL_TESTS(set_up, root_remove)
