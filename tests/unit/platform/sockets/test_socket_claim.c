/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets the name of a socket: after a crash, beside a process that listens, and of several that start together. */
#include "test_main.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/sockets/socket_claim.h"

#define STARTERS 8
#define ROUNDS 50

static char folder[] = "/tmp/claim-XXXXXX";
static char path[64], lock[72];

static int folder_make(void **state) {
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/a.sock", folder);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	return 0;
}

static int folder_remove(void **state) {
	char marker[80];

	snprintf(marker, sizeof(marker), "%s/marker", folder);
	unlink(path);
	unlink(lock);
	unlink(marker);
	return rmdir(folder);
}

/* As a driver does it, which knows nothing of claims. */
static int bound(int type, bool listens) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
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

/* A process that has claimed and bound, and is killed. */
static void crash(int type) {
	int ready[2], status;
	char c;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		struct socket_claim claim;

		if (socket_claim(&claim, path, type) == NULL && bound(type, true) >= 0 &&
		    write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(ready[0]);
	close(ready[1]);
}

TEST(after_a_crash) {
	static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET};
	struct socket_claim claim;

	for (size_t t = 0; t < 2; t++) {
		int fd;

		crash(types[t]);
		assert_true(there(path));
		assert_int_equal(bound(types[t], true), -1); /* Address already in use, for ever */
		assert_null(socket_claim(&claim, path, types[t]));
		fd = bound(types[t], true);
		assert_true(fd >= 0);
		close(fd); /* a driver may leave its file */
		socket_claim_release(&claim);
		assert_false(there(path));
		assert_false(there(lock));
	}
}

/* Of another release, or another program: a listener without a lock, of this type or another one, or with a full queue. */
TEST(a_live_owner) {
	static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET};

	for (size_t t = 0; t < 4; t++) {
		struct socket_claim claim;
		int fd = bound(types[t % 2], true);

		assert_true(fd >= 0);
		for (int i = 0; i < 8; i++) /* nobody accepts: the queue is full then */
			assert_non_null(socket_claim(&claim, path, types[t / 2]));
		assert_non_null(strstr(socket_claim(&claim, path, types[t / 2]),
				       "another process serves here"));
		assert_int_equal(claim.lock, -1);
		assert_true(there(path));
		assert_false(there(lock));
		close(fd);
		assert_null(socket_claim(&claim, path, types[t / 2]));
		assert_false(there(path));
		socket_claim_release(&claim);
	}
}

/* Between bind() and listen() nobody listens yet: the lock tells. */
TEST(a_claim_that_is_not_bound_yet) {
	struct socket_claim first, second;
	int fd;

	assert_null(socket_claim(&first, path, SOCK_STREAM));
	assert_non_null(socket_claim(&second, path, SOCK_STREAM));
	fd = bound(SOCK_STREAM, false);
	assert_true(fd >= 0);
	assert_non_null(socket_claim(&second, path, SOCK_STREAM));
	assert_true(there(path));
	socket_claim_release(&second); /* it has nothing */
	assert_non_null(socket_claim(&second, path, SOCK_STREAM));
	close(fd);
	socket_claim_release(&first);
	socket_claim_release(&first);
}

/* A listener that came while the claim was ours is not ours to remove. */
TEST(a_release_removes_no_listener) {
	struct socket_claim claim;
	int fd;

	assert_null(socket_claim(&claim, path, SOCK_STREAM));
	fd = bound(SOCK_STREAM, true);
	socket_claim_release(&claim);
	assert_true(there(path));
	assert_false(there(lock));
	close(fd);
	unlink(path);
}

TEST(other_files) {
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	struct socket_claim claim;
	struct stat status;
	FILE *f;

	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
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
	memcpy(name, folder, strlen(folder));
	name[strlen(folder)] = '/';
	assert_null(socket_claim(&claim, name, SOCK_STREAM));
	socket_claim_release(&claim);
}

/* Many start at the same time where one has crashed: each round one of them has it, and its socket stays. */
TEST(starters) {
	for (unsigned round = 0; round < ROUNDS; round++) {
		int begin[2], told[2], end[2];
		char got[STARTERS];
		pid_t children[STARTERS];
		unsigned owners = 0;

		crash(SOCK_SEQPACKET);
		assert_int_equal(pipe(begin) | pipe(told) | pipe(end), 0);
		for (unsigned i = 0; i < STARTERS; i++) {
			children[i] = fork();
			if (children[i] == 0) {
				struct socket_claim claim;
				char c, is;

				close(begin[1]);
				close(end[1]);
				(void)!read(begin[0], &c, 1); /* its end */
				is = socket_claim(&claim, path, SOCK_SEQPACKET) == NULL ? 'y' : 'n';
				if (is == 'y' && bound(SOCK_SEQPACKET, true) < 0)
					is = 'x';
				(void)!write(told[1], &is, 1);
				(void)!read(end[0], &c, 1);
				_exit(0);
			}
		}
		close(begin[1]);
		for (unsigned i = 0; i < STARTERS; i++) {
			assert_int_equal(read(told[0], &got[i], 1), 1);
			assert_int_not_equal(got[i], 'x');
			owners += got[i] == 'y';
		}
		assert_int_equal(owners, 1);
		close(end[1]);
		for (unsigned i = 0; i < STARTERS; i++)
			waitpid(children[i], NULL, 0);
		close(begin[0]);
		close(told[0]);
		close(told[1]);
		close(end[0]);
	}
}

/* Never two at a time, also where the lock's file is removed between open() and flock() of another process. */
TEST(claims_that_come_and_go) {
	char marker[80];
	int status;

	snprintf(marker, sizeof(marker), "%s/marker", folder);
	for (unsigned i = 0; i < STARTERS; i++) {
		if (fork() != 0)
			continue;
		for (unsigned n = 0; n < 4000; n++) {
			struct socket_claim claim;
			int fd;

			if (socket_claim(&claim, path, SOCK_STREAM) != NULL)
				continue;
			fd = open(marker, O_CREAT | O_EXCL | O_RDWR, 0600);
			if (fd < 0)
				_exit(1);
			sched_yield();
			unlink(marker);
			close(fd);
			socket_claim_release(&claim);
		}
		_exit(0);
	}
	for (unsigned i = 0; i < STARTERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

ALL_TESTS(folder_make, folder_remove)
