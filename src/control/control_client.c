/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control_client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/control_socket.h"
#include "platform/secret/secret_memory.h"

#define FIRST_SIZE 4096
#define SEND_PIECES 4
/* Bytes per send, so that other clients are served in between. */
#define SEND_MAX ANSWER_BLOCK

void control_client_open(struct control_client *c, int fd, uint64_t now_ms) {
	*c = (struct control_client){.fd = fd, .since_ms = now_ms};
}

/* If no events are requested, poll() still reports a disconnect. */
short control_client_events(const struct control_client *c) {
	if (c->out.size > 0)
		return POLLOUT;
	return c->work != NULL ? 0 : POLLIN;
}

bool control_client_waits(const struct control_client *c) {
	return c->work != NULL && rpc_waits(c->work);
}

bool control_client_reads(const struct control_client *c) {
	return c->work != NULL && rpc_reads(c->work);
}

/* The input may already contain a whole request. */
bool control_client_has_more(const struct control_client *c) {
	if (c->broken)
		return true; /* the caller must close it */
	if (c->work != NULL)
		return !rpc_waits(c->work);
	return c->out.size == 0 && c->parsed < c->in_used;
}

bool control_client_is_busy(const struct control_client *c) {
	return c->work != NULL || c->out.size > 0 || c->text.state == JSON_TEXT_INSIDE;
}

bool control_client_evictable(const struct control_client *c) {
	return !control_client_is_busy(c) && !c->events.on;
}

struct rpc_work *control_client_close(struct control_client *c, const struct rpc *rpc,
				      struct answer_text *unsent) {
	struct rpc_work *work = c->work;

	close(c->fd);
	event_journal_unsubscribe(rpc->events, &c->events);
	secret_free(c->in);
	answer_text_move(unsent, &c->out);
	*c = (struct control_client){.fd = -1};
	return work;
}

/* Appends event lines, or the newline of a response. Without memory, a line stays incomplete, so
 * the connection must be closed. */
static void client_append(struct control_client *c, const char *bytes, size_t size) {
	if (answer_text_write(bytes, size, &c->out) != 0)
		c->broken = true;
}

/* Queues an error, after which the connection is closed. */
static void client_end(struct control_client *c, enum rpc_code code, const char *why) {
	rpc_write_error(&c->out, code, why);
	client_append(c, "\n", 1);
	c->broken |= c->out.lost;
	c->ends = true;
}

/* Ensures space for input. Returns false after client_end(). */
static bool client_reserve(struct control_client *c) {
	size_t capacity = c->in_capacity == 0 ? FIRST_SIZE : 2 * c->in_capacity;
	char *larger;

	if (c->in_used < c->in_capacity)
		return true;
	if (c->in_capacity >= CONTROL_REQUEST_MAX) {
		client_end(c, RPC_NO_REQUEST,
			   "found a request of more than 1 MiB, allowed: up to 1 MiB");
		return false;
	}
	larger = secret_realloc(c->in, capacity);
	if (larger == NULL) {
		client_end(c, RPC_INTERNAL, "no memory left");
		return false;
	}
	c->in = larger;
	c->in_capacity = capacity;
	return true;
}

/* Returns false if the client disconnected. */
static bool client_read(struct control_client *c, uint64_t now_ms) {
	ssize_t n;

	if (!client_reserve(c))
		return true;
	n = recv(c->fd, c->in + c->in_used, c->in_capacity - c->in_used, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	/* Bytes that continue an incomplete request do not extend the timeout. */
	if (!control_client_is_busy(c))
		c->since_ms = now_ms;
	c->in_used += (size_t)n;
	return n > 0;
}

/* Removes and wipes the request that ends at `parsed`, as it may contain keys. Keeps the input
 * after it. */
static void request_done(struct control_client *c) {
	c->in_used -= c->parsed;
	memmove(c->in, c->in + c->parsed, c->in_used);
	explicit_bzero(c->in + c->in_used, c->parsed);
	c->parsed = 0;
	c->text = (struct json_text){0};
}

/* Runs a step of the request. The client's timeout does not run meanwhile. */
static void client_work(struct control_client *c, uint64_t now_ms) {
	bool done = rpc_continue(c->work);

	c->since_ms = now_ms;
	if (done) {
		size_t before = c->out.size;

		rpc_end(c->work, &c->out);
		c->work = NULL;
		if (c->out.size > before)
			client_append(c, "\n", 1);
	}
	secret_stack_wipe();
}

/* Begins the request in the input if it is complete. */
static void client_answer(struct control_client *c, const struct rpc *rpc, uint64_t now_ms) {
	c->parsed += json_text_feed(&c->text, c->in + c->parsed, c->in_used - c->parsed);
	switch (c->text.state) {
	case JSON_TEXT_BETWEEN: request_done(c); break;
	case JSON_TEXT_INSIDE: break;
	case JSON_TEXT_WHOLE:
		c->work = rpc_begin(rpc, c->in, c->parsed);
		request_done(c);
		if (c->work == NULL) {
			client_end(c, RPC_INTERNAL, "no memory left");
			break;
		}
		rpc_work_set_subscriber(c->work, &c->events);
		if (!rpc_reads(c->work))
			client_work(c, now_ms);
		break;
	case JSON_TEXT_NONE:
		client_end(c, RPC_NO_JSON,
			   "found no JSON object or array, or more than 32 levels, allowed: "
			   "JSON objects");
	}
}

/* Returns false if the client disconnected, or has received the error after which the server closes
 * the connection. */
static bool client_write(struct control_client *c, uint64_t now_ms) {
	struct iovec pieces[SEND_PIECES];
	struct msghdr message = {.msg_iov = pieces};
	size_t size = 0;
	ssize_t n;

	message.msg_iovlen = answer_text_pieces(&c->out, pieces, SEND_PIECES);
	for (size_t i = 0; i < message.msg_iovlen; i++) {
		if (pieces[i].iov_len > SEND_MAX - size)
			pieces[i].iov_len = SEND_MAX - size;
		size += pieces[i].iov_len;
	}
	n = sendmsg(c->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	answer_text_consume(&c->out, (size_t)n);
	if (n > 0)
		c->since_ms = now_ms;
	return c->out.size > 0 || !c->ends;
}

void control_client_push(struct control_client *c, const struct rpc *rpc, uint64_t now_ms) {
	while (!c->broken && !c->ends && c->out.size == 0 && c->events.on) {
		size_t size;
		char *lines = event_journal_read(rpc->events, &c->events, &size);

		if (lines == NULL)
			return;
		client_append(c, lines, size);
		secret_free(lines); /* events may contain keys */
		c->since_ms = now_ms;
		c->broken = !client_write(c, now_ms);
	}
}

/* Returns whether the client is still connected. */
static bool client_send(struct control_client *c, const struct rpc *rpc, uint64_t now_ms) {
	if (c->out.size > 0 && !client_write(c, now_ms))
		return false;
	if (c->out.size == 0 && c->ends)
		return false; /* the error was sent, or there was no memory for it */
	control_client_push(c, rpc, now_ms);
	return !c->broken;
}

bool control_client_read_on(struct control_client *c, const struct rpc *rpc, uint64_t now_ms) {
	client_work(c, now_ms);
	return client_send(c, rpc, now_ms);
}

bool control_client_serve(struct control_client *c, const struct rpc *rpc, uint64_t now_ms) {
	if (c->work != NULL) {
		if (!rpc_reads(c->work))
			client_work(c, now_ms);
	} else {
		if (c->out.size == 0 && c->parsed == c->in_used && !client_read(c, now_ms))
			return false;
		if (c->out.size == 0 && c->parsed < c->in_used)
			client_answer(c, rpc, now_ms);
	}
	return client_send(c, rpc, now_ms);
}
