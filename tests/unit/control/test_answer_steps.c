/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that one round of the control socket allocates, sends and wipes a bounded part of a response of 24 MiB. */
#include <errno.h>
#include <sys/socket.h>

#include "control_clients.h"
#include "test_main.h"

#define PARTS 384
#define PART_BYTES (64u << 10)
#define ANSWER_BYTES (PARTS * PART_BYTES) /* without the JSON around the text */
#define MAX_ALLOCATED (128u << 10) /* limit of one allocation */
#define MAX_PER_ROUND (2u << 20) /* limit of bytes that a round sends or wipes for one client */
/* The limit with all clients: each sends and wipes a block, and wipes its stack. */
#define MAX_ALL_CLIENTS (CONTROL_CLIENTS * 3 * PART_BYTES + MAX_PER_ROUND)
#define LARGE CALL("large", 1)

struct work {
	size_t allocated; /* bytes of the largest allocation */
	size_t sent, wiped;
};
static struct work round_now, maximum; /* the present round; the maxima of all rounds */
static size_t wiped; /* bytes of all rounds */

__typeof__(malloc) __wrap_malloc, __real_malloc;
__typeof__(realloc) __wrap_realloc, __real_realloc;
__typeof__(send) __wrap_send, __real_send;
__typeof__(sendmsg) __wrap_sendmsg, __real_sendmsg;
__typeof__(explicit_bzero) __wrap_explicit_bzero, __real_explicit_bzero;

static size_t max_size(size_t a, size_t b) {
	return a > b ? a : b;
}

void *__wrap_malloc(size_t size) {
	round_now.allocated = max_size(round_now.allocated, size);
	return __real_malloc(size);
}

void *__wrap_realloc(void *memory, size_t size) {
	round_now.allocated = max_size(round_now.allocated, size);
	return __real_realloc(memory, size);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags) {
	ssize_t n = __real_send(fd, bytes, size, flags);

	round_now.sent += n > 0 ? (size_t)n : 0;
	return n;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags) {
	ssize_t n = __real_sendmsg(fd, message, flags);

	round_now.sent += n > 0 ? (size_t)n : 0;
	return n;
}

void __wrap_explicit_bzero(void *memory, size_t size) {
	round_now.wiped += size;
	__real_explicit_bzero(memory, size);
}

static void serve_round(void) {
	round_now = (struct work){0};
	control_socket_serve(server, 0);
	maximum.allocated = max_size(maximum.allocated, round_now.allocated);
	maximum.sent = max_size(maximum.sent, round_now.sent);
	maximum.wiped = max_size(maximum.wiped, round_now.wiped);
	wiped += round_now.wiped;
}

static void serve_rounds(unsigned rounds) {
	while (rounds-- > 0)
		serve_round();
}

static json_t *service_large(struct rpc_call *call) {
	static char bytes[PART_BYTES];
	unsigned *parts = call->state;

	if (parts == NULL) {
		parts = call->state = arena_alloc(call->arena, 1, sizeof(*parts));
		memset(bytes, 'x', sizeof(bytes));
		answer_text_put(&call->text, "\"");
	}
	assert_int_equal(answer_text_write(bytes, sizeof(bytes), &call->text), 0);
	if (++*parts < PARTS)
		return rpc_more(call);
	answer_text_put(&call->text, "\"");
	return NULL;
}

static const struct rpc_method methods[] = {
	{"add", "adds to the sum", add_keys, sizeof(struct add_params), sum_keys, service_add},
	{"large", "returns 24 MiB", NULL, 0, (const struct key[]){{0}}, service_large,
	 .reads = true},
};

static int start_large_server(void **state) {
	maximum = (struct work){0};
	rpc = (struct rpc){methods, ARRAY_COUNT(methods), &sum};
	server = server_open(FOREVER_MS);
	return server == NULL;
}

static void expect_small_rounds(void) {
	assert_in_range(maximum.allocated, 1, MAX_ALLOCATED);
	assert_in_range(maximum.sent, 1, MAX_PER_ROUND);
	assert_in_range(maximum.wiped, 1, MAX_PER_ROUND);
}

/* Receives a whole response; returns its size. */
static size_t receive_all(int fd) {
	static char text[1u << 18];
	size_t size = 0;
	bool ended = false;

	while (!ended) {
		ssize_t n = recv(fd, text, sizeof(text), 0);

		assert_true(n > 0 || (n < 0 && errno == EAGAIN));
		if (n > 0) {
			size += (size_t)n;
			ended = text[n - 1] == '\n';
		}
		serve_round();
	}
	return size;
}

TEST(long_answer_is_sent_in_bounded_rounds) {
	int fd = client_connect();

	client_send(fd, LARGE);
	/* "" is as long as {} */
	assert_int_equal(receive_all(fd), ANSWER_BYTES + strlen(RESULT("", 1) "\n"));
	expect_small_rounds();
}

TEST(rounds_are_bounded_with_all_clients) {
	int fds[CONTROL_CLIENTS];
	static char text[1u << 18];

	for (unsigned i = 0; i < CONTROL_CLIENTS; i++) {
		fds[i] = client_connect();
		client_send(fds[i], LARGE);
	}
	serve_rounds(4 * CONTROL_CLIENTS);
	for (unsigned n = 0; n < 64 * CONTROL_CLIENTS; n++) {
		while (recv(fds[n % CONTROL_CLIENTS], text, sizeof(text), 0) > 0)
			;
		serve_round();
	}
	for (unsigned i = 0; i < CONTROL_CLIENTS; i++)
		client_close(fds[i]);
	serve_rounds(64);
	assert_in_range(maximum.allocated, 1, MAX_ALLOCATED);
	assert_in_range(maximum.sent, 1, CONTROL_CLIENTS * PART_BYTES);
	assert_in_range(maximum.wiped, 1, MAX_ALL_CLIENTS);
}

TEST(answer_of_disconnected_client_is_wiped) {
	int fd = client_connect(), other = client_connect();
	char text[4096];

	client_send(fd, LARGE);
	while (recv(fd, text, sizeof(text), 0) <= 0)
		serve_round();
	client_close(fd);
	wiped = 0;
	serve_rounds(ANSWER_BYTES / MAX_PER_ROUND * 4);
	expect_small_rounds();
	assert_true(wiped > ANSWER_BYTES / 2); /* not only when the control socket is closed */
	client_send(other, REQUEST);
	client_receive(other, text, sizeof(text));
	assert_non_null(strstr(text, "\"sum\""));
}

TEST(unfinished_answer_of_disconnected_client_is_wiped) {
	int fd = client_connect();

	client_send(fd, LARGE);
	serve_rounds(40);
	client_close(fd);
	wiped = 0;
	serve_rounds(ANSWER_BYTES / MAX_PER_ROUND * 4);
	assert_in_range(maximum.allocated, 1, MAX_ALLOCATED);
	assert_in_range(maximum.wiped, 1, MAX_PER_ROUND);
	assert_true(wiped > 32 * PART_BYTES);
}

EACH_TEST(start_large_server, stop_server)
ALL_TESTS(make_folder, remove_folder)
