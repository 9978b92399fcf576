/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control_client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/control_socket.h"
#include "secret/secret_memory.h"

#define FIRST_ROOM 4096

void control_client_open(struct control_client *c, int fd, uint64_t now_ms) {
	*c = (struct control_client){.fd = fd, .since_ms = now_ms};
}

short control_client_events(const struct control_client *c) {
	if (c->work != NULL)
		return 0; /* that it has gone is told nevertheless */
	return c->out != NULL ? POLLOUT : POLLIN;
}

bool control_client_waits(const struct control_client *c) {
	return c->work != NULL;
}

bool control_client_has_more(const struct control_client *c) {
	return c->work == NULL && c->out == NULL && c->looked < c->in_used;
}

bool control_client_is_busy(const struct control_client *c) {
	return c->work != NULL || c->out != NULL || c->text.state == JSON_TEXT_INSIDE;
}

void control_client_close(struct control_client *c) {
	close(c->fd);
	if (c->work != NULL)
		secret_free(rpc_end(c->work));
	secret_free(c->in);
	secret_free(c->out);
	*c = (struct control_client){.fd = -1};
}

static void client_say(struct control_client *c, char *text) {
	c->out = text;
	c->out_used = text != NULL ? strlen(text) : 0;
	c->out_sent = 0;
	if (text != NULL)
		text[c->out_used++] = '\n'; /* in the place of the end of the text */
}

static void client_end(struct control_client *c, enum rpc_code code, const char *why) {
	client_say(c, rpc_complain(code, why));
	c->ends = true;
}

static bool client_has_room(struct control_client *c) {
	size_t room = c->in_room == 0 ? FIRST_ROOM : 2 * c->in_room;
	char *larger;

	if (c->in_used < c->in_room)
		return true;
	if (c->in_room >= CONTROL_REQUEST_MAX) {
		client_end(c, RPC_NO_REQUEST,
			   "found a request of more than 1 MiB, allowed: smaller ones");
		return false;
	}
	larger = secret_realloc(c->in, room);
	if (larger == NULL) {
		client_end(c, RPC_INTERNAL, "no memory left");
		return false;
	}
	c->in = larger;
	c->in_room = room;
	return true;
}

/* Returns false when the client has gone. */
static bool client_read(struct control_client *c, uint64_t now_ms) {
	ssize_t n;

	if (!client_has_room(c))
		return true;
	n = recv(c->fd, c->in + c->in_used, c->in_room - c->in_used, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	/* Who is in the middle of a request makes no progress by further bytes of it. */
	if (!control_client_is_busy(c))
		c->since_ms = now_ms;
	c->in_used += (size_t)n;
	return n > 0;
}

/* The request that ends at `looked` goes, as it may have had keys; what came behind it stays. */
static void request_done(struct control_client *c) {
	c->in_used -= c->looked;
	memmove(c->in, c->in + c->looked, c->in_used);
	explicit_bzero(c->in + c->in_used, c->looked);
	c->looked = 0;
	c->text = (struct json_text){0};
}

/* Waiting is not its fault. */
static void client_work(struct control_client *c, uint64_t now_ms) {
	bool done = rpc_go_on(c->work);

	c->since_ms = now_ms;
	if (done) {
		client_say(c, rpc_end(c->work));
		c->work = NULL;
	}
	secret_stack_wipe();
}

static void client_answer(struct control_client *c, const struct rpc *rpc, uint64_t now_ms) {
	c->looked += json_text_feed(&c->text, c->in + c->looked, c->in_used - c->looked);
	switch (c->text.state) {
	case JSON_TEXT_BETWEEN: request_done(c); break;
	case JSON_TEXT_INSIDE: break;
	case JSON_TEXT_WHOLE:
		c->work = rpc_begin(rpc, c->in, c->looked);
		request_done(c);
		if (c->work != NULL)
			client_work(c, now_ms);
		break;
	case JSON_TEXT_NONE:
		client_end(c, RPC_NO_JSON,
			   "found something else, or more than 32 levels, allowed: JSON objects");
	}
}

/* Returns false when the client has gone, or has been told why it must. */
static bool client_write(struct control_client *c, uint64_t now_ms) {
	ssize_t n = send(c->fd, c->out + c->out_sent, c->out_used - c->out_sent,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->out_sent += (size_t)n;
	if (n > 0)
		c->since_ms = now_ms;
	if (c->out_sent < c->out_used)
		return true;
	secret_free(c->out);
	c->out = NULL;
	return !c->ends;
}

bool control_client_serve(struct control_client *c, const struct rpc *rpc, uint64_t now_ms) {
	if (c->work != NULL) {
		client_work(c, now_ms);
	} else {
		if (c->out == NULL && c->looked == c->in_used && !client_read(c, now_ms))
			return false;
		if (c->out == NULL && c->looked < c->in_used)
			client_answer(c, rpc, now_ms);
	}
	if (c->out == NULL)
		return !c->ends; /* no memory even for the complaint */
	return client_write(c, now_ms);
}
