/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/sockets/socket_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_SIZE (SOCKET_PATH_SIZE + sizeof(".lock"))
#define IN_USE "another process serves this socket; each process needs its own"

static void lock_name(const char *path, char name[LOCK_SIZE]) {
	snprintf(name, LOCK_SIZE, "%s.lock", path);
}

/* False if the former holder removed the lock file after it was opened here. */
static bool lock_has_name(int lock, const char *name) {
	struct stat locked, named;

	return fstat(lock, &locked) == 0 && stat(name, &named) == 0 &&
	       locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

static const char *lock_acquire(struct socket_claim *c) {
	char name[LOCK_SIZE];

	lock_name(c->path, name);
	for (;;) {
		int lock = open(name, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
		const char *fault;

		if (lock < 0)
			return strerror(errno);
		fault = flock(lock, LOCK_EX | LOCK_NB) == 0 ? NULL
			: errno == EWOULDBLOCK		    ? IN_USE
							    : strerror(errno);
		if (fault == NULL && lock_has_name(lock, name)) {
			c->lock = lock;
			return NULL;
		}
		close(lock);
		if (fault != NULL)
			return fault;
	}
}

static void lock_drop(struct socket_claim *c) {
	char name[LOCK_SIZE];

	lock_name(c->path, name);
	unlink(name); /* before another process can lock it */
	close(c->lock);
	c->lock = -1;
}

/* Returns 0 if a process listens, otherwise the errno. Nonblocking, as the backlog of a stopped listener may
 * be full. */
static int connect_fault(const struct socket_claim *c) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, c->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), fault = 0;

	if (fd < 0)
		return errno;
	memcpy(address.sun_path, c->path, SOCKET_PATH_SIZE);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		fault = errno;
	close(fd);
	return fault;
}

/* Removes a socket without a listener. */
static const char *leftover_remove(const struct socket_claim *c) {
	struct stat status;
	int fault;

	if (lstat(c->path, &status) != 0)
		return errno == ENOENT ? NULL : strerror(errno);
	if (!S_ISSOCK(status.st_mode))
		return "found a file that is no socket; it was not removed";
	fault = connect_fault(c);
	if (fault == ENOENT) /* its process has just ended */
		return NULL;
	/* EAGAIN: the backlog is full; EPROTOTYPE: a listener of another type */
	if (fault == 0 || fault == EAGAIN || fault == EPROTOTYPE)
		return IN_USE;
	if (fault != ECONNREFUSED)
		return strerror(fault);
	return unlink(c->path) == 0 || errno == ENOENT ? NULL : strerror(errno);
}

const char *socket_claim(struct socket_claim *c, const char *path, int type) {
	const char *fault;

	*c = SOCKET_CLAIM_NONE;
	if (strlen(path) >= SOCKET_PATH_SIZE)
		return "this name is longer than 107 bytes";
	c->type = type;
	memcpy(c->path, path, strlen(path) + 1);
	fault = lock_acquire(c);
	if (fault != NULL)
		return fault;
	fault = leftover_remove(c);
	if (fault != NULL)
		lock_drop(c);
	return fault;
}

void socket_claim_release(struct socket_claim *c) {
	if (c->lock < 0)
		return;
	(void)leftover_remove(c);
	lock_drop(c);
}
