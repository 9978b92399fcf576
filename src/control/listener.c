/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/listener.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/log/log.h"

#define BACKLOG 128 /* connections in the backlog */

static int complain(const struct listener *l, const char *path, const char *fault) {
	log_error("control", LOG_FIELDS(LOG_STRING("path", path)), "%s socket %s: %s", l->what,
		  path, fault);
	return -1;
}

int listener_open(struct listener *l, const char *what, const char *path, unsigned mode) {
	const char *fault;
	mode_t before;
	int ret;

	l->what = what;
	fault = socket_claim(&l->claim, path, SOCK_STREAM);
	if (fault != NULL)
		return complain(l, path, fault);
	l->address.sun_family = AF_UNIX;
	memcpy(l->address.sun_path, path, strlen(path) + 1);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return complain(l, path, strerror(errno));
	/* the socket file must not have more permissions than `mode`, not even briefly */
	before = umask(~(mode_t)mode & 0777);
	ret = bind(l->fd, (const struct sockaddr *)&l->address, sizeof(l->address));
	umask(before);
	if (ret != 0 || listen(l->fd, BACKLOG) != 0)
		return complain(l, path, strerror(errno));
	return 0;
}

void listener_close(struct listener *l) {
	if (l->fd >= 0)
		close(l->fd);
	socket_claim_release(&l->claim); /* removes the socket's file */
	*l = LISTENER_NONE;
}
