/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/log.h"

#define BACKLOG 128 /* connections that wait to be taken */
#define LOCK_NAME (sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(".lock"))

static int complain(const struct listener *l, const char *path, const char *fault) {
	log_error("control", LOG_FIELDS(LOG_STRING("path", path)), "%s socket %s: %s", l->what,
		  path, fault);
	return -1;
}

static void lock_name(const char *path, char name[LOCK_NAME]) {
	snprintf(name, LOCK_NAME, "%s.lock", path);
}

/* Who removed the file, after it was opened here, had the lock. */
static bool lock_is_of(int lock, const char *name) {
	struct stat ours, there;

	return fstat(lock, &ours) == 0 && stat(name, &there) == 0 && ours.st_ino == there.st_ino &&
	       ours.st_dev == there.st_dev;
}

/*
 * The lock tells whether somebody serves here: it goes with its process, however that ends, while a socket's
 * file stays. Who has the lock may remove its file.
 */
static int socket_lock(struct listener *l, const char *path) {
	char name[LOCK_NAME];

	lock_name(path, name);
	for (;;) {
		l->lock = open(name, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (l->lock < 0)
			return complain(l, name, strerror(errno));
		if (flock(l->lock, LOCK_EX | LOCK_NB) != 0)
			return complain(l, path,
					"another process serves here; each needs a socket of its "
					"own");
		l->locked = true;
		if (lock_is_of(l->lock, name))
			return 0;
		l->locked = false;
		close(l->lock);
	}
}

static void socket_unlock(struct listener *l, const char *path) {
	char name[LOCK_NAME];

	lock_name(path, name);
	if (l->locked)
		unlink(name);
	if (l->lock >= 0)
		close(l->lock);
}

int listener_open(struct listener *l, const char *what, const char *path, unsigned mode) {
	struct stat status;
	mode_t before;
	int ret;

	l->what = what;
	if (strlen(path) >= sizeof(l->address.sun_path))
		return complain(l, path, "this name is longer than 107 bytes");
	l->address.sun_family = AF_UNIX;
	memcpy(l->address.sun_path, path, strlen(path) + 1);
	if (socket_lock(l, path) != 0)
		return -1;
	if (lstat(path, &status) == 0 && !S_ISSOCK(status.st_mode))
		return complain(l, path, "found a file that is no socket; it was left alone");
	unlink(path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return complain(l, path, strerror(errno));
	before = umask(~(mode_t)mode & 0777); /* never more than that, not for a moment */
	ret = bind(l->fd, (const struct sockaddr *)&l->address, sizeof(l->address));
	umask(before);
	l->bound = ret == 0;
	if (ret != 0 || listen(l->fd, BACKLOG) != 0)
		return complain(l, path, strerror(errno));
	return 0;
}

void listener_close(struct listener *l) {
	if (l->bound)
		unlink(l->address.sun_path);
	if (l->fd >= 0)
		close(l->fd);
	socket_unlock(l, l->address.sun_path);
	*l = LISTENER_NONE;
}
