/* SPDX-License-Identifier: BSD-3-Clause */
/* However long an answer is, one round of the control socket allocates, sends and wipes little of it. */
#include <errno.h>
#include <sys/socket.h>

#include "control_clients.h"
#include "test_main.h"

#define PARTS 384
#define PART_BYTES (64u << 10)
#define ANSWER_BYTES (PARTS * PART_BYTES) /* without what stands around the text */
#define ALLOCATED_MOST (128u << 10) /* bytes at a time */
#define ROUND_MOST \
	(2u << 20) /* bytes that one round may send or wipe for a client or one that has gone */
/* The same of all clients: each sends a block and wipes as much, and the stack below a part. */
#define ALL_MOST (CONTROL_CLIENTS * 3 * PART_BYTES + ROUND_MOST)
#define LARGE CALL("large", 1)

struct work {
	size_t allocated; /* the largest piece */
	size_t sent, wiped;
};
static struct work round_now, most;
static size_t wiped; /* of all rounds */

__typeof__(malloc) __wrap_malloc, __real_malloc;
__typeof__(realloc) __wrap_realloc, __real_realloc;
__typeof__(send) __wrap_send, __real_send;
__typeof__(sendmsg) __wrap_sendmsg, __real_sendmsg;
__typeof__(explicit_bzero) __wrap_explicit_bzero, __real_explicit_bzero;

static size_t larger(size_t a, size_t b) {
	return a > b ? a : b;
}

void *__wrap_malloc(size_t size) {
	round_now.allocated = larger(round_now.allocated, size);
	return __real_malloc(size);
}

void *__wrap_realloc(void *memory, size_t size) {
	round_now.allocated = larger(round_now.allocated, size);
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
	most.allocated = larger(most.allocated, round_now.allocated);
	most.sent = larger(most.sent, round_now.sent);
	most.wiped = larger(most.wiped, round_now.wiped);
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

static const struct rpc_method methods_here[] = {
	{"add", "adds to the sum", add_keys, sizeof(struct add_params), sum_keys, service_add},
	{"large", "reads", NULL, 0, (const struct key[]){{0}}, service_large, .reads = true},
};

static int begin_large(void **state) {
	most = (struct work){0};
	rpc = (struct rpc){methods_here, ARRAY_COUNT(methods_here), &sum};
	server = server_open(FOREVER_MS);
	return server == NULL;
}

static void expect_small_rounds(void) {
	assert_in_range(most.allocated, 1, ALLOCATED_MOST);
	assert_in_range(most.sent, 1, ROUND_MOST);
	assert_in_range(most.wiped, 1, ROUND_MOST);
}

/* Bytes of the answer that have come, once its line has ended. */
static size_t hear_all(int fd) {
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

TEST(a_long_answer_is_taken) {
	int fd = client_connect();

	client_send(fd, LARGE);
	/* "" is as long as {} */
	assert_int_equal(hear_all(fd), ANSWER_BYTES + strlen(RESULT("", 1) "\n"));
	expect_small_rounds();
}

TEST(long_answers_of_all_clients) {
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
	assert_in_range(most.allocated, 1, ALLOCATED_MOST);
	assert_in_range(most.sent, 1, CONTROL_CLIENTS * PART_BYTES);
	assert_in_range(most.wiped, 1, ALL_MOST);
}

TEST(a_client_that_goes_while_it_takes) {
	int fd = client_connect(), other = client_connect();
	char text[4096];

	client_send(fd, LARGE);
	while (recv(fd, text, sizeof(text), 0) <= 0)
		serve_round();
	client_close(fd);
	wiped = 0;
	serve_rounds(ANSWER_BYTES / ROUND_MOST * 4);
	expect_small_rounds();
	assert_true(wiped > ANSWER_BYTES / 2); /* at once, not when the socket is closed */
	client_send(other, REQUEST);
	client_hear(other, text, sizeof(text));
	assert_non_null(strstr(text, "\"sum\""));
}

TEST(a_client_that_goes_while_it_is_written) {
	int fd = client_connect();

	client_send(fd, LARGE);
	serve_rounds(40);
	client_close(fd);
	wiped = 0;
	serve_rounds(ANSWER_BYTES / ROUND_MOST * 4);
	assert_in_range(most.allocated, 1, ALLOCATED_MOST);
	assert_in_range(most.wiped, 1, ROUND_MOST);
	assert_true(wiped > 32 * PART_BYTES);
}

EACH_TEST(begin_large, end)
ALL_TESTS(folder_make, folder_remove)
