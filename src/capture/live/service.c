/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/service.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "capture/live/output.h"
#include "platform/log/log.h"

#define ROUND_MS 5 /* poll timeout with running captures */
#define IDLE_MS 1000 /* poll timeout without, to check client timeouts */
#define CLOSE_MS 1000 /* for clients to read the end of their files */

static uint64_t now_ms(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int tap_service_listen(struct tap_service *t, const char *path, unsigned mode) {
	t->opened = true;
	t->wake = -1;
	t->listener = LISTENER_NONE;
	for (unsigned i = 0; i < TAP_CLIENTS; i++)
		t->clients[i].fd = -1;
	return listener_open(&t->listener, "capture", path, mode);
}

/* Without descriptors the connection stays in the backlog, and poll() returns at once: a pause limits the loop. */
static void accept_failed(void) {
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
		usleep(ROUND_MS * 1000);
}

static void accept_clients(struct tap_service *t, uint64_t now) {
	for (unsigned n = 0; n < TAP_CLIENTS; n++) {
		int fd = accept4(t->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct tap_client *slot = NULL;

		if (fd < 0) {
			accept_failed();
			return;
		}
		for (unsigned i = 0; i < TAP_CLIENTS && slot == NULL; i++)
			slot = t->clients[i].fd < 0 && t->clients[i].capture == NULL
				       ? &t->clients[i]
				       : NULL;
		if (slot != NULL) {
			tap_client_open(slot, &t->captures, fd, now);
			continue;
		}
		tap_refuse(fd, "too many clients are connected to the capture socket; try "
			       "again later");
		close(fd);
	}
}

static bool any_runs(const struct tap_service *t) {
	for (unsigned i = 0; i < TAP_CLIENTS; i++) {
		if (tap_client_runs(&t->clients[i]))
			return true;
	}
	return false;
}

/* Serves all clients once. Returns whether there is any client. */
static bool serve(struct tap_service *t, bool stop) {
	struct pollfd fds[TAP_CLIENTS + 2];
	uint64_t now, drained;
	bool any = false;

	for (unsigned i = 0; i < TAP_CLIENTS; i++)
		fds[i] = (struct pollfd){.fd = t->clients[i].fd,
					 .events = tap_client_events(&t->clients[i])};
	fds[TAP_CLIENTS] = (struct pollfd){.fd = stop ? -1 : t->listener.fd, .events = POLLIN};
	fds[TAP_CLIENTS + 1] = (struct pollfd){.fd = t->wake, .events = POLLIN};
	if (poll(fds, TAP_CLIENTS + 2, any_runs(t) || stop ? ROUND_MS : IDLE_MS) < 0 &&
	    errno != EINTR)
		usleep(ROUND_MS * 1000);
	if (fds[TAP_CLIENTS + 1].revents != 0 && read(t->wake, &drained, sizeof(drained)) < 0)
		usleep(ROUND_MS * 1000); /* and continue */
	now = now_ms();
	for (unsigned i = 0; i < TAP_CLIENTS; i++) {
		struct tap_client *c = &t->clients[i];

		if (c->fd < 0 || !tap_client_serve(c, fds[i].revents, now, stop))
			tap_client_close(c);
		any |= c->fd >= 0 || c->capture != NULL;
	}
	if (fds[TAP_CLIENTS].revents != 0)
		accept_clients(t, now);
	return any;
}

static void *service_run(void *arg) {
	struct tap_service *t = arg;
	uint64_t end;

	while (!__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE))
		serve(t, false);
	end = now_ms() + CLOSE_MS;
	while (serve(t, true) && now_ms() < end)
		;
	for (unsigned i = 0; i < TAP_CLIENTS; i++) {
		do
			tap_client_close(&t->clients[i]);
		while (tap_client_runs(&t->clients[i]) && usleep(1000) == 0);
	}
	__atomic_store_n(&t->runs, false, __ATOMIC_RELEASE);
	return NULL;
}

static int complain(const char *what) {
	log_error("capture", LOG_NO_FIELDS, "capture socket: %s", what);
	return -1;
}

int tap_service_start(struct tap_service *t, struct server *server) {
	sigset_t all, before;
	int ret;

	if (tap_captures_open(&t->captures, server) != 0)
		return complain("no memory left");
	t->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (t->wake < 0)
		return complain(strerror(errno));
	sigfillset(&all); /* the control thread handles signals */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	t->runs = true;
	ret = pthread_create(&t->thread, NULL, service_run, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret == 0) {
		pthread_setname_np(t->thread, "vcmts-capture");
		return 0;
	}
	t->runs = false;
	return complain(strerror(ret));
}

void tap_service_update(struct tap_service *t) {
	if (t->runs)
		tap_captures_update(&t->captures);
}

/* Ends all captures and waits until the thread has sent their files. */
static void service_end(struct tap_service *t) {
	const uint64_t one = 1;

	__atomic_store_n(&t->stop, true, __ATOMIC_RELEASE);
	if (write(t->wake, &one, sizeof(one)) < 0)
		complain(strerror(errno)); /* the thread wakes after IDLE_MS at the latest */
	while (__atomic_load_n(&t->runs, __ATOMIC_ACQUIRE)) {
		tap_captures_stop(&t->captures);
		usleep(1000);
	}
	pthread_join(t->thread, NULL);
	tap_captures_stop(&t->captures); /* captures that ended last */
}

void tap_service_close(struct tap_service *t) {
	if (!t->opened)
		return;
	if (t->runs)
		service_end(t);
	if (t->captures.sites != NULL)
		tap_captures_close(&t->captures);
	if (t->wake >= 0)
		close(t->wake);
	listener_close(&t->listener);
	t->opened = false;
}
