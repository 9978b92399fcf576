/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "control/control_client.h"
#include "log/log.h"

#define BACKLOG 128 /* connections that wait to be taken */
#define WAIT_MS 1 /* between two looks at what clients wait for */

#define LOCK_NAME (sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(".lock"))

struct control_socket {
	const struct rpc *rpc;
	unsigned patience_ms;
	int fd, lock;
	bool locked, bound;
	struct sockaddr_un address;
	struct control_client clients[CONTROL_CLIENTS];
};

static uint64_t now_ms(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int complain(const char *path, const char *what) {
	log_error("control", LOG_FIELDS(LOG_STRING("path", path)), "control socket %s: %s", path,
		  what);
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
static int socket_lock(struct control_socket *s, const char *path) {
	char name[LOCK_NAME];

	lock_name(path, name);
	for (;;) {
		s->lock = open(name, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (s->lock < 0)
			return complain(name, strerror(errno));
		if (flock(s->lock, LOCK_EX | LOCK_NB) != 0)
			return complain(path,
					"another process serves here; each needs a socket of its "
					"own");
		s->locked = true;
		if (lock_is_of(s->lock, name))
			return 0;
		s->locked = false;
		close(s->lock);
	}
}

static void socket_unlock(struct control_socket *s, const char *path) {
	char name[LOCK_NAME];

	lock_name(path, name);
	if (s->locked)
		unlink(name);
	if (s->lock >= 0)
		close(s->lock);
}

static int socket_bind(struct control_socket *s, const struct control_options *o) {
	struct stat status;
	mode_t before;
	int ret;

	if (strlen(o->path) >= sizeof(s->address.sun_path))
		return complain(o->path, "this name is longer than 107 bytes");
	s->address.sun_family = AF_UNIX;
	memcpy(s->address.sun_path, o->path, strlen(o->path) + 1);
	if (socket_lock(s, o->path) != 0)
		return -1;
	if (lstat(o->path, &status) == 0 && !S_ISSOCK(status.st_mode))
		return complain(o->path, "found a file that is no socket; it was left alone");
	unlink(o->path);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return complain(o->path, strerror(errno));
	before = umask(~(mode_t)o->mode & 0777); /* never more than that, not for a moment */
	ret = bind(s->fd, (const struct sockaddr *)&s->address, sizeof(s->address));
	umask(before);
	s->bound = ret == 0;
	if (ret != 0 || listen(s->fd, BACKLOG) != 0)
		return complain(o->path, strerror(errno));
	return 0;
}

struct control_socket *control_socket_open(const struct control_options *options,
					   const struct rpc *rpc) {
	struct control_socket *s = malloc(sizeof(*s));

	if (s == NULL) {
		complain(options->path, "no memory left");
		return NULL;
	}
	*s = (struct control_socket){
		.rpc = rpc, .patience_ms = options->patience_ms, .fd = -1, .lock = -1};
	for (size_t c = 0; c < CONTROL_CLIENTS; c++)
		s->clients[c].fd = -1;
	if (socket_bind(s, options) == 0)
		return s;
	control_socket_close(s);
	return NULL;
}

/* A free place; where there is none, that of the client which has been idle for longest. NULL: all
 * are in the middle of something. */
static struct control_client *place_find(struct control_socket *s) {
	struct control_client *best = NULL;

	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *c = &s->clients[i];

		if (c->fd < 0)
			return c;
		if (!control_client_is_busy(c) && (best == NULL || c->since_ms < best->since_ms))
			best = c;
	}
	if (best != NULL)
		control_client_close(best);
	return best;
}

/* However many come, they do not keep it for longer than a round. */
static void take_connections(struct control_socket *s, uint64_t now) {
	for (unsigned n = 0; n < CONTROL_CLIENTS; n++) {
		int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct control_client *place;

		if (fd < 0)
			return;
		place = place_find(s);
		if (place != NULL)
			control_client_open(place, fd, now);
		else
			close(fd);
	}
}

static void serve_client(struct control_socket *s, struct control_client *c, short events,
			 uint64_t now) {
	bool there = true;

	if (control_client_waits(c) && (events & (POLLHUP | POLLERR)) != 0)
		there = false;
	else if (events != 0 || control_client_has_more(c) || control_client_waits(c))
		there = control_client_serve(c, s->rpc, now);
	if (there && control_client_is_busy(c) && now - c->since_ms > s->patience_ms)
		there = false;
	if (!there)
		control_client_close(c);
}

void control_socket_serve(struct control_socket *s, int timeout_ms) {
	struct pollfd fds[CONTROL_CLIENTS + 1];
	uint64_t now;

	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		const struct control_client *c = &s->clients[i];

		fds[i] = (struct pollfd){.fd = c->fd, .events = control_client_events(c)};
		if (c->fd >= 0 && control_client_has_more(c))
			timeout_ms = 0;
		else if (c->fd >= 0 && control_client_waits(c) && timeout_ms > WAIT_MS)
			timeout_ms = WAIT_MS;
	}
	fds[CONTROL_CLIENTS] = (struct pollfd){.fd = s->fd, .events = POLLIN};
	if (poll(fds, CONTROL_CLIENTS + 1, timeout_ms) < 0)
		return;
	now = now_ms();
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		if (s->clients[i].fd >= 0)
			serve_client(s, &s->clients[i], fds[i].revents, now);
	}
	if (fds[CONTROL_CLIENTS].revents != 0)
		take_connections(s, now);
}

void control_socket_close(struct control_socket *s) {
	if (s == NULL)
		return;
	for (size_t c = 0; c < CONTROL_CLIENTS; c++) {
		if (s->clients[c].fd >= 0)
			control_client_close(&s->clients[c]);
	}
	if (s->bound)
		unlink(s->address.sun_path);
	if (s->fd >= 0)
		close(s->fd);
	socket_unlock(s, s->address.sun_path);
	free(s);
}
