/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/endpoint/http.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "platform/log/log.h"
#include "telemetry/metrics/endpoint/health.h"
#include "telemetry/metrics/endpoint/listen.h"
#include "telemetry/metrics/endpoint/pages.h"
#include "telemetry/metrics/endpoint/request.h"

#define CONNECTIONS 64 /* further connections wait in the backlog */
#define CONNECTION_MEMORY 8192 /* bytes for a request and the headers of its response */
#define IDLE_S 10u /* timeout of an inactive connection */
#define REQUEST_S 30 /* limit of a response, from the first byte of the request */
#define WAIT_MS 1000
#define RETRY_S 5 /* between two attempts to listen */
#define URL_SIZE (LISTEN_TEXT + 24)

/* An open connection; http.c tracks its age. */
struct connection {
	int fd; /* -1: none */
	time_t since; /* it was opened, or its last response was complete */
};

struct metrics_http {
	const char *address; /* as given */
	int fd; /* -1: it cannot listen yet */
	int wake; /* eventfd */
	int family;
	time_t tried; /* the last attempt to listen */
	char configured[URL_SIZE], url[URL_SIZE]; /* with the given address; with that of `fd` */
	struct metrics_http_counts counts;
	struct metrics_source *source;
	struct pages pages;
	struct health health;
	struct MHD_Daemon *daemon;
	struct connection connections[CONNECTIONS];
	pthread_t thread;
	bool started, stop, ready;
};

static uint64_t ns_now(void) {
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static time_t seconds_now(void) {
	return (time_t)(ns_now() / 1000000000);
}

static enum MHD_Result answer(struct metrics_http *h, struct MHD_Connection *c, unsigned code,
			      struct MHD_Response *r) {
	for (unsigned i = 0; i < METRICS_HTTP_CODES; i++)
		h->counts.answers[i] += metrics_http_codes[i] == code;
	return MHD_queue_response(c, code, r);
}

/* Responds with one line of text. */
static enum MHD_Result respond(struct metrics_http *h, struct MHD_Connection *c, unsigned code,
			       const char *line) {
	char text[256];
	int size = snprintf(text, sizeof(text), "%s\n", line);
	struct MHD_Response *r =
		MHD_create_response_from_buffer((size_t)size, text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result ret;

	if (r == NULL)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (code == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	ret = answer(h, c, code, r);
	MHD_destroy_response(r);
	return ret;
}

static enum MHD_Result on_argument(void *query, enum MHD_ValueKind kind, const char *name,
				   const char *value) {
	(void)kind;
	return metrics_query_add(query, name, value) ? MHD_YES : MHD_NO;
}

static enum MHD_Result on_header(void *accept, enum MHD_ValueKind kind, const char *name,
				 const char *value) {
	(void)kind;
	if (value != NULL && strcasecmp(name, MHD_HTTP_HEADER_ACCEPT) == 0)
		request_accept_add(accept, value);
	return MHD_YES;
}

static enum metrics_format format_of(struct MHD_Connection *c) {
	struct request_accept accept = {0};

	MHD_get_connection_values(c, MHD_HEADER_KIND, on_header, &accept);
	return request_format(&accept);
}

static enum MHD_Result answer_metrics(struct metrics_http *h, struct MHD_Connection *c) {
	struct metrics_query query = {0};
	struct MHD_Response *page;
	unsigned code;

	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, on_argument, &query);
	if (!metrics_query_end(&query))
		return respond(h, c, MHD_HTTP_BAD_REQUEST, query.wrong);
	page = pages_get(&h->pages, h->source, &query, format_of(c), &code);
	if (page != NULL)
		return answer(h, c, MHD_HTTP_OK, page);
	return respond(h, c, code,
		       code == MHD_HTTP_CONTENT_TOO_LARGE
			       ? "too many samples for one page; select fewer by names=PREFIX "
				 "or modems=MAC"
			       : "too many different queries at a time; retry later");
}

/* An orchestrator restarts a process that is not live, and routes packets to one that is ready. */
static enum MHD_Result answer_health(struct metrics_http *h, struct MHD_Connection *c, bool ready) {
	struct server *s = h->source->server;
	char why[HEALTH_LINE] = "not in service";
	bool serving = __atomic_load_n(&h->ready, __ATOMIC_ACQUIRE), good;

	health_check(&h->health, s, ns_now());
	if (ready)
		good = serving && health_ready(&h->health, s, why);
	else
		good = !serving || health_live(&h->health, s, why);
	return good ? respond(h, c, MHD_HTTP_OK, ready ? "ready" : "live")
		    : respond(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, why);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *body,
				  size_t *size, void **state) {
	struct metrics_http *h = arg;

	(void)version;
	(void)body;
	url = request_path(url);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return respond(h, c, MHD_HTTP_METHOD_NOT_ALLOWED, "allowed: GET, HEAD");
	if (*state == NULL) { /* called with the headers only; a body may follow */
		*state = h;
		return MHD_YES;
	}
	if (*size > 0) {
		*size = 0;
		return MHD_YES;
	}
	if (strcmp(url, "/metrics") == 0)
		return answer_metrics(h, c);
	if (strcmp(url, "/healthz") == 0)
		return respond(h, c, MHD_HTTP_OK, "ok");
	if (strcmp(url, "/readyz") == 0)
		return __atomic_load_n(&h->ready, __ATOMIC_ACQUIRE)
			       ? respond(h, c, MHD_HTTP_OK, "ready")
			       : respond(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, "not in service");
	if (strcmp(url, "/ready") == 0 || strcmp(url, "/live") == 0)
		return answer_health(h, c, url[1] == 'r');
	return respond(h, c, MHD_HTTP_NOT_FOUND,
		       "allowed: /metrics, /ready, /live, /healthz, /readyz");
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode what) {
	struct metrics_http *h = arg;
	struct connection *one = *context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		h->counts.connections++;
		for (unsigned i = 0; i < CONNECTIONS && one == NULL; i++) {
			if (h->connections[i].fd < 0)
				one = &h->connections[i];
		}
		if (one != NULL)
			*one = (struct connection){
				MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)
					->connect_fd,
				seconds_now()};
		*context = one;
		return;
	}
	h->counts.connections--;
	if (one != NULL)
		one->fd = -1;
}

static void on_completed(void *arg, struct MHD_Connection *c, void **state,
			 enum MHD_RequestTerminationCode how) {
	struct metrics_http *h = arg;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct connection *one = info != NULL ? info->socket_context : NULL;

	(void)state;
	if (one != NULL)
		one->since = seconds_now();
	switch (how) {
	case MHD_REQUEST_TERMINATED_COMPLETED_OK:
	case MHD_REQUEST_TERMINATED_DAEMON_SHUTDOWN: break;
	case MHD_REQUEST_TERMINATED_READ_ERROR:
	case MHD_REQUEST_TERMINATED_CLIENT_ABORT: h->counts.aborted[0]++; break;
	case MHD_REQUEST_TERMINATED_TIMEOUT_REACHED: h->counts.aborted[1]++; break;
	default: h->counts.aborted[2]++; break;
	}
}

/* A client that sends or reads a byte now and then never becomes inactive, and would keep its
 * connection for ever. */
static void close_slow(struct metrics_http *h) {
	time_t now = seconds_now();

	for (unsigned i = 0; i < CONNECTIONS; i++) {
		struct connection *one = &h->connections[i];

		if (one->fd < 0 || now - one->since < REQUEST_S)
			continue;
		shutdown(one->fd, SHUT_RDWR);
		one->since = now;
	}
}

static void quiet(void *arg, const char *format, va_list values) {
	(void)arg;
	(void)format;
	(void)values;
}

/* Tries to listen. Returns false with the reason in `counts.fault`; 0: the address can never be used. */
static bool http_listen(struct metrics_http *h) {
	char where[LISTEN_TEXT];
	int fault = 0;

	h->tried = seconds_now();
	h->fd = listen_open(h->address, where, &h->family, &fault);
	if (h->fd >= 0) {
		snprintf(h->url, sizeof(h->url), "http://%s/metrics", where);
		__atomic_store_n(&h->counts.url, h->url, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&h->counts.fault, fault, __ATOMIC_RELAXED);
	return h->fd >= 0;
}

static struct MHD_Daemon *daemon_start(struct metrics_http *h) {
	unsigned flags =
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG | (h->family == AF_INET6 ? MHD_USE_IPv6 : 0);

	return MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, quiet, NULL,
		MHD_OPTION_LISTEN_SOCKET, h->fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, h, MHD_OPTION_END);
}

/* Serves requests on the open socket. Returns false without a message if that fails. */
static bool http_serve(struct metrics_http *h) {
	h->daemon = daemon_start(h);
	if (h->daemon == NULL)
		return false;
	log_notice("metrics", LOG_FIELDS(LOG_STRING("url", h->url)), "metrics %s", h->url);
	return true;
}

/* Waits until the next attempt, and makes it. */
static void http_retry(struct metrics_http *h) {
	struct pollfd wake = {h->wake, POLLIN, 0};

	poll(&wake, 1, WAIT_MS);
	if (seconds_now() - h->tried < RETRY_S || !http_listen(h) || http_serve(h))
		return;
	close(h->fd);
	h->fd = -1;
	__atomic_store_n(&h->counts.fault, ENOMEM, __ATOMIC_RELAXED);
}

static void http_round(struct metrics_http *h) {
	int epoll = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	struct pollfd waits[] = {{epoll, POLLIN, 0}, {h->wake, POLLIN, 0}};
	MHD_UNSIGNED_LONG_LONG max;
	int ms = WAIT_MS;

	if (MHD_get_timeout(h->daemon, &max) == MHD_YES && max < WAIT_MS)
		ms = (int)max;
	poll(waits, 2, ms);
	MHD_run(h->daemon);
	close_slow(h);
}

static void *http_run(void *arg) {
	struct metrics_http *h = arg;

	while (!__atomic_load_n(&h->stop, __ATOMIC_ACQUIRE)) {
		if (h->daemon != NULL)
			http_round(h);
		else
			http_retry(h);
		health_check(&h->health, h->source->server, ns_now());
	}
	return NULL;
}

struct metrics_http *metrics_http_open(const char *address) {
	struct metrics_http *h = calloc(1, sizeof(*h));

	if (h == NULL) {
		log_error("memory", LOG_NO_FIELDS, "--metrics: no memory");
		return NULL;
	}
	h->wake = -1;
	h->address = address;
	h->pages.counts = &h->counts;
	h->pages.max = PAGES_MAX_SIZE;
	for (unsigned i = 0; i < CONNECTIONS; i++)
		h->connections[i].fd = -1;
	snprintf(h->configured, sizeof(h->configured), "http://%s/metrics", address);
	h->counts.url = h->configured;
	if (http_listen(h))
		return h;
	if (h->counts.fault == 0) {
		free(h);
		return NULL;
	}
	log_warning("metrics", LOG_FIELDS(LOG_STRING("url", h->configured)),
		    "--metrics %s: %s: serving without metrics, trying again every %d s", address,
		    strerror(h->counts.fault), RETRY_S);
	return h;
}

int metrics_http_start(struct metrics_http *h, struct metrics_source *source) {
	sigset_t all, before;
	int ret;

	h->source = source;
	source->http = &h->counts;
	h->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (h->wake < 0 || (h->fd >= 0 && !http_serve(h))) {
		log_error("metrics", LOG_NO_FIELDS, "--metrics: the endpoint cannot be started");
		return -1;
	}
	sigfillset(&all); /* the main thread handles signals */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&h->thread, NULL, http_run, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret != 0) {
		log_error("metrics", LOG_NO_FIELDS, "--metrics: no thread: %s", strerror(ret));
		return -1;
	}
	h->started = true;
	pthread_setname_np(h->thread, "vcmts-metrics");
	return 0;
}

void metrics_http_ready(struct metrics_http *h, bool ready) {
	__atomic_store_n(&h->ready, ready, __ATOMIC_RELEASE);
}

void metrics_http_close(struct metrics_http *h) {
	const uint64_t one = 1;

	if (h == NULL)
		return;
	if (h->started) {
		__atomic_store_n(&h->stop, true, __ATOMIC_RELEASE);
		/* the thread checks `stop` within WAIT_MS */
		if (write(h->wake, &one, sizeof(one)) < 0)
			errno = 0;
		pthread_join(h->thread, NULL);
	}
	pages_clear(&h->pages);
	if (h->daemon != NULL)
		MHD_stop_daemon(h->daemon); /* closes the socket */
	else if (h->fd >= 0)
		close(h->fd);
	if (h->wake >= 0)
		close(h->wake);
	if (h->source != NULL)
		h->source->http = NULL;
	free(h);
}
