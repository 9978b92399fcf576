/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/sockets/socket_peer.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define USERS_MAX 16
#define LINKS_MAX 16
#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

/* A walk along the path of a socket: the current folder, the remaining path, and the users trusted below it. */
struct walk {
	uid_t users[USERS_MAX];
	unsigned user_count, links;
	char here[PATH_MAX], ahead[PATH_MAX];
};

static bool is_user(const struct walk *w, uid_t user) {
	for (unsigned i = 0; i < w->user_count; i++) {
		if (w->users[i] == user)
			return true;
	}
	return false;
}

static void user_add(struct walk *w, uid_t user) {
	if (!is_user(w, user) && w->user_count < USERS_MAX)
		w->users[w->user_count++] = user;
}

/* Whether only trusted users can create entries in the current folder. */
static bool is_closed(const struct walk *w) {
	struct stat status;

	return stat(w->here, &status) == 0 && is_user(w, status.st_uid) &&
	       (status.st_mode & OTHERS_WRITE) == 0;
}

/* Removes the first name from the remaining path. Returns false if only the socket's name is left. */
static bool name_next(struct walk *w, char name[NAME_MAX + 1]) {
	char *from = w->ahead + strspn(w->ahead, "/");
	size_t size = strcspn(from, "/");
	const char *rest = from + size + strspn(from + size, "/");

	if (*rest == '\0' || size > NAME_MAX)
		return false;
	memcpy(name, from, size);
	name[size] = '\0';
	memmove(w->ahead, rest, strlen(rest) + 1);
	return true;
}

static bool path_join(char path[PATH_MAX], const char *folder, const char *name) {
	int size = snprintf(path, PATH_MAX, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);

	return size > 0 && size < PATH_MAX;
}

static void go_up(struct walk *w) {
	char *last = strrchr(w->here, '/');

	last[last == w->here] = '\0';
}

/* Prepends the link's target to the remaining path. */
static bool link_follow(struct walk *w, const char *path) {
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t size = readlink(path, target, sizeof(target) - 1);

	if (size < 0 || ++w->links > LINKS_MAX)
		return false;
	target[size] = '\0';
	if (target[0] == '/')
		strcpy(w->here, "/");
	strcpy(rest, w->ahead);
	return path_join(w->ahead, target, rest);
}

/* Enters a folder, or a link to one. Returns false if its owner is not trusted, and neither is anything below. */
static bool enter(struct walk *w, const char *name) {
	char path[PATH_MAX];
	struct stat status;

	if (strcmp(name, ".") == 0)
		return true;
	if (strcmp(name, "..") == 0) {
		go_up(w);
		return true;
	}
	if (!path_join(path, w->here, name) || lstat(path, &status) != 0)
		return false;
	if (!is_closed(w) && !is_user(w, status.st_uid))
		return false;
	user_add(w, status.st_uid);
	if (S_ISLNK(status.st_mode))
		return link_follow(w, path);
	strcpy(w->here, path);
	return true;
}

static void users_find(struct walk *w, const char *path) {
	char name[NAME_MAX + 1], folder[PATH_MAX] = "/";

	*w = (struct walk){.users = {0}, .user_count = 1, .here = "/"};
	user_add(w, geteuid());
	if ((path[0] != '/' && getcwd(folder, sizeof(folder)) == NULL) ||
	    !path_join(w->ahead, folder, path))
		return;
	while (name_next(w, name) && enter(w, name))
		;
}

const char *socket_peer_fault(int fd, const char *path, char fault[SOCKET_PEER_LINE]) {
	struct ucred peer;
	socklen_t size = sizeof(peer);
	struct walk walk;
	int used;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
		snprintf(fault, SOCKET_PEER_LINE, "%s", strerror(errno));
		return fault;
	}
	users_find(&walk, path);
	if (is_user(&walk, peer.uid))
		return NULL;
	used = snprintf(fault, SOCKET_PEER_LINE, "served by user %u, allowed: user",
			(unsigned)peer.uid);
	for (unsigned i = 0; i < walk.user_count && used < SOCKET_PEER_LINE; i++)
		used += snprintf(fault + used, (size_t)(SOCKET_PEER_LINE - used), "%s %u",
				 i > 0 ? "," : "", (unsigned)walk.users[i]);
	return fault;
}

int socket_peer_connect(const char *path, unsigned timeout_s, char fault[SOCKET_PEER_LINE]) {
	struct timeval timeout = {.tv_sec = timeout_s};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = -1, error = ENAMETOOLONG;

	if (strlen(path) < sizeof(address.sun_path)) {
		strcpy(address.sun_path, path);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		error = 0;
		if (fd < 0 ||
		    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) != 0 ||
		    connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
			error = errno;
	}
	if (error == 0 && socket_peer_fault(fd, path, fault) == NULL)
		return fd;
	if (error != 0)
		snprintf(fault, SOCKET_PEER_LINE, "%s", strerror(error));
	if (fd >= 0)
		close(fd);
	errno = error != 0 ? error : EPERM;
	return -1;
}
