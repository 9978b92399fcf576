/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <rte_cycles.h>

#include "platform/log/log.h"

#define REQUEST_TIMEOUT_MS 5000 /* to receive the request line */
#define SEND_TIMEOUT_MS 10000 /* for a client that reads nothing */
#define REPORT_MS 500 /* between two reports of counts in the file */
/* records are written at this age, in order of time: other rings may still get older ones */
#define SETTLE_US 2000
#define NS_PER_MS 1000000u

/* The refusal quotes bytes of the client; control and non-ASCII characters are replaced. */
static void answer_ascii(char *why) {
	for (; *why != '\0'; why++) {
		if (*why < ' ' || *why > '~')
			*why = '?';
	}
}

void tap_refuse(int fd, const char *why) {
	char text[TAP_LINE];
	json_t *answer;
	char *line;

	snprintf(text, sizeof(text), "%s", why);
	answer_ascii(text);
	answer = json_pack("{s:s}", "error", text);
	line = answer != NULL ? json_dumps(answer, JSON_COMPACT) : NULL;
	if (line != NULL && send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
		send(fd, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	free(line);
	json_decref(answer);
}

void tap_client_open(struct tap_client *c, struct tap_captures *captures, int fd, uint64_t now_ms) {
	memset(c, 0, offsetof(struct tap_client, request));
	memset(&c->output, 0, sizeof(c->output));
	c->fd = fd;
	c->captures = captures;
	c->since_ms = now_ms;
}

/* The log names each process that captures subscribers' packets. */
static void log_begin(const struct tap_client *c) {
	struct ucred peer = {.pid = 0, .uid = (uid_t)-1};
	socklen_t size = sizeof(peer);

	getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	log_info("capture", LOG_FIELDS(LOG_NUMBER("pid", peer.pid), LOG_NUMBER("uid", peer.uid)),
		 "a capture begins, for process %d of user %u", (int)peer.pid, (unsigned)peer.uid);
}

static void log_end(const struct tap_client *c) {
	const struct tap_output *o = &c->output;

	log_info("capture",
		 LOG_FIELDS(LOG_NUMBER("packets", o->packets), LOG_NUMBER("missed", o->missed)),
		 "a capture ends: %" PRIu64 " packets, %" PRIu64 " missed: %s", o->packets,
		 o->missed, c->why != NULL ? c->why : "the client disconnected");
}

void tap_client_close(struct tap_client *c) {
	if (c->fd >= 0) {
		if (c->streaming)
			log_end(c);
		tap_output_free(&c->output);
		close(c->fd);
		c->fd = -1;
		if (c->capture != NULL)
			tap_capture_end(c->captures, c->capture);
	}
	if (c->capture == NULL || tap_capture_state(c->captures, c->capture) == TAP_ENDING)
		return;
	tap_capture_free(c->captures, c->capture);
	c->capture = NULL;
}

short tap_client_events(const struct tap_client *c) {
	bool pending = c->streaming && tap_output_pending(&c->output) > 0;
	bool starting = c->capture != NULL && !c->streaming; /* no input is read */

	return (short)((c->end_requested || starting ? 0 : POLLIN) | (pending ? POLLOUT : 0));
}

bool tap_client_runs(const struct tap_client *c) {
	return c->capture != NULL;
}

/* Handles a complete request line. Returns false if it was refused. */
static bool request_handle(struct tap_client *c, size_t size) {
	struct tap_request request;
	char why[TAP_LINE];

	if (!tap_request_read(c->request, size, &request, why)) {
		tap_refuse(c->fd, why);
		return false;
	}
	c->capture = tap_capture_request(c->captures, &request);
	if (c->capture == NULL) {
		snprintf(why, sizeof(why), "%d captures run, which is the limit", TAP_CAPTURES);
		tap_refuse(c->fd, why);
		return false;
	}
	return true;
}

/* Returns false if the client disconnected or was refused. */
static bool request_read(struct tap_client *c) {
	ssize_t n = recv(c->fd, c->request + c->request_size, TAP_REQUEST_MAX - c->request_size, 0);
	const char *end;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	c->request_size += (unsigned)n;
	end = memchr(c->request, '\n', c->request_size);
	if (end != NULL)
		return request_handle(c, (size_t)(end - c->request));
	if (c->request_size < TAP_REQUEST_MAX)
		return true;
	tap_refuse(c->fd, "request: found a line of more than 4096 bytes, allowed: up to 4096 "
			  "bytes");
	return false;
}

/* A client that sends more bytes, or closes its half, ends its capture. Returns false on an error. */
static bool more_read(struct tap_client *c) {
	char unwanted[TAP_REQUEST_MAX];
	ssize_t n = recv(c->fd, unwanted, sizeof(unwanted), 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->end_requested = true;
	return true;
}

/* Sends the answer and begins the file. Returns false if that fails. */
static bool stream_begin(struct tap_client *c) {
	static const char answer[] = "{\"ok\":true}\n";
	const struct tap_request *request = &c->capture->request;

	if (tap_output_open(&c->output, request) != 0) {
		tap_refuse(c->fd, "no memory left");
		return false;
	}
	if (send(c->fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) !=
	    sizeof(answer) - 1)
		return false;
	c->streaming = true;
	log_begin(c);
	return true;
}

/* Handles the decision of the control thread, once there is one. Returns false if the request was
 * refused. */
static bool request_done(struct tap_client *c, uint64_t now_ms) {
	enum tap_state state = tap_capture_state(c->captures, c->capture);

	if (state == TAP_REQUESTED)
		return !c->end_requested;
	if (state == TAP_REFUSED) {
		tap_refuse(c->fd, c->capture->why);
		return false;
	}
	if (c->capture->request.duration != 0)
		c->ends_at = now_ms * NS_PER_MS + c->capture->request.duration;
	c->since_ms = now_ms;
	return stream_begin(c);
}

/* Frees empty sources of removed sites, as groups may be added and removed during a capture.
 * Returns whether it freed the last source. */
static bool retire_sources(struct tap_client *c) {
	struct tap_capture *capture = c->capture;
	unsigned before = capture->source_count, kept = 0;
	uint32_t size;

	for (unsigned p = 0; p < before; p++) {
		struct tap_source *source = capture->sources[p];

		if (source->removed && tap_ring_first(&source->buffer->ring, &size) == NULL &&
		    tap_output_retire(&c->output, source))
			tap_source_free(source);
		else
			capture->sources[kept++] = source;
	}
	capture->source_count = kept;
	return before > 0 && kept == 0;
}

/* Returns the reason to end the file, or NULL. */
static const char *stream_ends(const struct tap_client *c, uint64_t now_ms, bool stop) {
	if (c->end_requested)
		return TAP_END_CLIENT;
	if (stop)
		return TAP_END_SERVER;
	return c->ends_at != 0 && now_ms * NS_PER_MS >= c->ends_at ? TAP_END_TIME : NULL;
}

/* Moves packets from the rings to the file; once the capture has ended, all of them. Call it with
 * the lock held, as the control thread may add sources. */
static void stream_fill(struct tap_client *c, uint64_t now_ms, bool stop) {
	struct tap_capture *capture = c->capture;
	uint64_t until = rte_rdtsc() - rte_get_tsc_hz() / 1000000 * SETTLE_US;
	const char *full;

	if (c->why == NULL)
		c->why = stream_ends(c, now_ms, stop);
	if (c->why == NULL || capture->state == TAP_ENDED) {
		full = tap_output_fill(&c->output, capture->sources, capture->source_count,
				       c->why == NULL ? until : UINT64_MAX);
		if (full != NULL)
			c->why = full;
		else if (c->why == NULL && now_ms - c->reported_ms >= REPORT_MS) {
			tap_output_report(&c->output, capture->sources, capture->source_count);
			c->reported_ms = now_ms;
		}
		if (c->why == NULL && retire_sources(c))
			c->why = TAP_END_GONE;
	}
}

/* Moves packets to the file, or finishes it after the end of the capture. */
static void stream_continue(struct tap_client *c, uint64_t now_ms, bool stop) {
	struct tap_capture *capture = c->capture;

	pthread_mutex_lock(&c->captures->lock);
	stream_fill(c, now_ms, stop);
	if (c->why != NULL && capture->state == TAP_ENDED && !c->output.full)
		c->finished = tap_output_finish(&c->output, capture->sources, capture->source_count,
						c->why);
	pthread_mutex_unlock(&c->captures->lock);
	if (c->why != NULL && !c->finished)
		tap_capture_end(c->captures, capture);
}

/* Returns false if the client disconnected. */
static bool stream_send(struct tap_client *c, uint64_t now_ms) {
	struct tap_output *o = &c->output;

	while (tap_output_pending(o) > 0) {
		ssize_t n = send(c->fd, o->blocks.bytes + o->sent, tap_output_pending(o),
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		tap_output_sent(o, (size_t)n);
		c->since_ms = now_ms;
	}
	return true;
}

/* Whether the client has made progress within the timeout of its state. */
static bool is_in_time(const struct tap_client *c, uint64_t now_ms) {
	uint64_t waited = now_ms - c->since_ms;

	if (c->capture == NULL)
		return waited < REQUEST_TIMEOUT_MS;
	if (!c->streaming || tap_output_pending(&c->output) == 0 || waited < SEND_TIMEOUT_MS)
		return true;
	log_warning("capture", LOG_NO_FIELDS,
		    "a capture was ended: its client did not read for %d s",
		    SEND_TIMEOUT_MS / 1000);
	return false;
}

/* Handles the client's input. Returns false if it disconnected or was refused. */
static bool client_receive(struct tap_client *c, short events) {
	if ((events & (POLLERR | POLLNVAL | POLLHUP)) != 0) /* both halves are closed */
		return false;
	if (c->capture == NULL)
		return (events & POLLIN) == 0 || request_read(c);
	return (events & POLLIN) == 0 || !c->streaming || c->end_requested || more_read(c);
}

/* Sends the answer and the file. Returns false if the client disconnected, or has received all. */
static bool client_respond(struct tap_client *c, uint64_t now_ms, bool stop) {
	if (!c->streaming && !request_done(c, now_ms))
		return false;
	if (!c->streaming)
		return true;
	if (tap_output_pending(&c->output) == 0)
		c->since_ms = now_ms; /* no output was pending, so that no timeout ran */
	if (!c->finished)
		stream_continue(c, now_ms, stop);
	return stream_send(c, now_ms) && !(c->finished && tap_output_pending(&c->output) == 0);
}

bool tap_client_serve(struct tap_client *c, short events, uint64_t now_ms, bool stop) {
	if (!client_receive(c, events))
		return false;
	if (c->capture != NULL ? !client_respond(c, now_ms, stop) : stop)
		return false;
	return is_in_time(c, now_ms);
}
