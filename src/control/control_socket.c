/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control_socket.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "control/control_client.h"
#include "control/listener.h"
#include "platform/log/log.h"

#define WAIT_MS 1 /* poll timeout while a call waits */
/* Time per round for requests that only read. The last one may exceed it. */
#define READING_MS 5
/* The same if a call waits, as a waiting call takes several rounds. */
#define READING_SHARED_MS 1

struct control_socket {
	const struct rpc *rpc;
	unsigned stall_ms;
	struct listener listener;
	struct control_client clients[CONTROL_CLIENTS];
	size_t reader; /* index of the next client in the round robin of requests that only read */
	/* Requests and unsent text of disconnected clients, freed in parts. */
	struct rpc_work *abandoned;
	struct answer_text unsent;
};

static uint64_t now_ms(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Runs during a change that a client may have requested, so it must not close clients. */
static void push_events(void *socket) {
	struct control_socket *s = socket;
	uint64_t now = now_ms();

	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		if (s->clients[i].fd >= 0)
			control_client_push(&s->clients[i], s->rpc, now);
	}
}

struct control_socket *control_socket_open(const struct control_options *options,
					   const struct rpc *rpc) {
	struct control_socket *s = malloc(sizeof(*s));

	if (s == NULL) {
		log_error("memory", LOG_NO_FIELDS, "control socket %s: no memory left",
			  options->path);
		return NULL;
	}
	*s = (struct control_socket){
		.rpc = rpc, .stall_ms = options->stall_ms, .listener = LISTENER_NONE};
	for (size_t c = 0; c < CONTROL_CLIENTS; c++)
		s->clients[c].fd = -1;
	if (rpc->events != NULL)
		event_journal_on_flush(rpc->events, push_events, s);
	if (listener_open(&s->listener, "control", options->path, options->mode) == 0)
		return s;
	control_socket_close(s);
	return NULL;
}

/* Closes the connection. The server continues to free its request in parts. */
static void client_close(struct control_socket *s, struct control_client *c) {
	struct rpc_work *work = control_client_close(c, s->rpc, &s->unsent);

	if (work == NULL)
		return;
	*rpc_work_next(work) = s->abandoned;
	s->abandoned = work;
}

/* Frees a part of the requests and texts of disconnected clients. Returns whether all are freed. */
static bool abandoned_free(struct control_socket *s) {
	struct rpc_work *work = s->abandoned;
	struct rpc_work *next = work != NULL ? *rpc_work_next(work) : NULL;

	if (!answer_text_free_part(&s->unsent))
		return false;
	if (work != NULL && rpc_abandon(work))
		s->abandoned = next;
	return s->abandoned == NULL;
}

/* Returns a free slot; otherwise closes the longest idle client and returns its slot. NULL: all are
 * busy or subscribers. */
static struct control_client *slot_find(struct control_socket *s) {
	struct control_client *best = NULL;

	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *c = &s->clients[i];

		if (c->fd < 0)
			return c;
		if (control_client_evictable(c) && (best == NULL || c->since_ms < best->since_ms))
			best = c;
	}
	if (best != NULL)
		client_close(s, best);
	return best;
}

/* The number per round is bounded, so that many connections do not delay other clients. */
static void accept_clients(struct control_socket *s, uint64_t now) {
	for (unsigned n = 0; n < CONTROL_CLIENTS; n++) {
		int fd = accept4(s->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct control_client *slot;

		if (fd < 0)
			return;
		slot = slot_find(s);
		if (slot != NULL)
			control_client_open(slot, fd, now);
		else
			close(fd);
	}
}

/* Closes the client if it disconnected or made no progress within the timeout. */
static void client_keep(struct control_socket *s, struct control_client *c, bool connected,
			uint64_t now) {
	/* control_client_push() may have set `since_ms` to a time after `now`. */
	if (connected && control_client_is_busy(c) && now > c->since_ms + s->stall_ms)
		connected = false;
	if (!connected)
		client_close(s, c);
}

static void serve_client(struct control_socket *s, struct control_client *c, short events,
			 uint64_t now) {
	bool connected = true;

	if (c->work != NULL && (events & (POLLHUP | POLLERR)) != 0)
		connected = false;
	else if (events != 0 || control_client_has_more(c) || control_client_waits(c))
		connected = control_client_serve(c, s->rpc, now);
	client_keep(s, c, connected, now);
}

static bool call_is_waiting(const struct control_socket *s) {
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		if (s->clients[i].fd >= 0 && control_client_waits(&s->clients[i]))
			return true;
	}
	return false;
}

/* Round robin, until the time for requests that only read is used up. */
static void serve_readers(struct control_socket *s, uint64_t begun) {
	uint64_t limit_ms = call_is_waiting(s) ? READING_SHARED_MS : READING_MS;

	for (size_t n = 0; n < CONTROL_CLIENTS; n++) {
		struct control_client *c = &s->clients[s->reader];
		uint64_t now = now_ms();

		if (now - begun >= limit_ms)
			return;
		s->reader = (s->reader + 1) % CONTROL_CLIENTS;
		if (c->fd >= 0 && control_client_reads(c))
			client_keep(s, c, control_client_read_on(c, s->rpc, now), now);
	}
}

/* The timeout for poll(). */
static int poll_timeout(const struct control_socket *s, int timeout_ms) {
	if (s->abandoned != NULL || s->unsent.size > 0)
		return 0;
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		const struct control_client *c = &s->clients[i];

		if (c->fd >= 0 && control_client_has_more(c))
			timeout_ms = 0;
		else if (c->fd >= 0 && control_client_waits(c) && timeout_ms > WAIT_MS)
			timeout_ms = WAIT_MS;
	}
	return timeout_ms;
}

void control_socket_serve(struct control_socket *s, int timeout_ms) {
	struct pollfd fds[CONTROL_CLIENTS + 1];
	uint64_t now;

	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		const struct control_client *c = &s->clients[i];

		fds[i] = (struct pollfd){.fd = c->fd, .events = control_client_events(c)};
	}
	fds[CONTROL_CLIENTS] = (struct pollfd){.fd = s->listener.fd, .events = POLLIN};
	if (poll(fds, CONTROL_CLIENTS + 1, poll_timeout(s, timeout_ms)) < 0)
		return;
	now = now_ms();
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		if (s->clients[i].fd >= 0)
			serve_client(s, &s->clients[i], fds[i].revents, now);
	}
	serve_readers(s, now_ms());
	(void)abandoned_free(s);
	if (fds[CONTROL_CLIENTS].revents != 0)
		accept_clients(s, now);
}

void control_socket_close(struct control_socket *s) {
	if (s == NULL)
		return;
	for (size_t c = 0; c < CONTROL_CLIENTS; c++) {
		if (s->clients[c].fd >= 0)
			client_close(s, &s->clients[c]);
	}
	while (!abandoned_free(s))
		;
	if (s->rpc->events != NULL)
		event_journal_on_flush(s->rpc->events, NULL, NULL);
	listener_close(&s->listener);
	free(s);
}
