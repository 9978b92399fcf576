/* SPDX-License-Identifier: BSD-3-Clause */
/* Subscribers on the control socket: events between answers, slow readers, those that go; and calls in parts. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control_clients.h"
#include "test_main.h"

#define SUBSCRIBE CALL("subscribe", 1)
#define SUBSCRIBED RESULT("", 1) "\n"
#define PARTS(n) CALL("parts", n)
#define FIVE(n) RESULT("\"parts\":5", n)

static unsigned parts_made, parts_ended;

static json_t *service_subscribe(struct rpc_call *call) {
	if (!event_journal_join(rpc.events, call->subscriber, false, NULL, 0))
		return rpc_refuse(call, RPC_REFUSED, "too many");
	return json_object();
}

/* Has an event told before its answer. */
static json_t *service_change(struct rpc_call *call) {
	const struct event e = {.position = EVENT_ALONE, .plain = json_pack("{s:i}", "what", 7)};

	(void)call;
	event_journal_add(rpc.events, &e);
	event_journal_flush(rpc.events);
	return json_object();
}

static bool parts_end(struct rpc_call *call) {
	(void)call;
	parts_ended++;
	return true;
}

/* An answer that is written in five parts. */
static json_t *service_parts(struct rpc_call *call) {
	unsigned *made = call->state;

	if (made == NULL) {
		made = call->state = arena_alloc(call->arena, 1, sizeof(*made));
		call->end = parts_end;
	}
	parts_made++;
	if (++*made < 5)
		return rpc_more(call);
	answer_text_put(&call->text, "{\"parts\":5}");
	return NULL;
}

static const struct rpc_method methods_here[] = {
	{"add", "adds to the sum", add_keys, sizeof(struct add_params), sum_keys, service_add},
	{"subscribe", "subscribes", NULL, 0, (const struct key[]){{0}}, service_subscribe},
	{"change", "changes", NULL, 0, (const struct key[]){{0}}, service_change},
	{"parts", "reads", NULL, 0, (const struct key[]){{0}}, service_parts, .reads = true},
};

static int open_events(unsigned stall_ms) {
	sum = parts_made = parts_ended = 0;
	rpc = (struct rpc){methods_here, ARRAY_COUNT(methods_here), &sum, event_journal_create()};
	server = server_open(stall_ms);
	return server == NULL;
}

static int begin_events(void **state) {
	return open_events(FOREVER_MS);
}

static int end_events(void **state) {
	int left = end(state);

	event_journal_free(rpc.events);
	return left;
}

static void tell(int what, size_t filling) {
	char *text = calloc(1, filling + 1);
	struct event e = {.position = EVENT_ALONE};

	memset(text, 'x', filling);
	e.plain = json_pack("{s:i, s:s}", "what", what, "text", text);
	free(text);
	event_journal_add(rpc.events, &e);
	event_journal_flush(rpc.events);
}

static int subscriber(void) {
	int fd = client_connect();

	client_ask(fd, SUBSCRIBE, SUBSCRIBED);
	return fd;
}

#define EVENT(n, params) \
	"{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"sequence\":" #n "," params "}}\n"

/* Without a round of the server: they are sent as they happen. */
TEST(events_come_at_once) {
	int a = subscriber(), b = subscriber(), c = client_connect();
	char text[512];

	serve(1);
	tell(1, 0);
	tell(2, 0);
	for (int i = 0; i < 2; i++) {
		ssize_t n = recv(i == 0 ? a : b, text, sizeof(text) - 1, 0);

		assert_true(n > 0);
		text[n] = '\0';
		assert_string_equal(text, EVENT(1, "\"what\":1,\"text\":\"\"")
						  EVENT(2, "\"what\":2,\"text\":\"\""));
	}
	assert_int_equal(recv(c, text, sizeof(text), 0), -1); /* it has not asked */
}

/* What it has asked for itself is told before the answer; in an array, too. */
TEST(events_between_answers) {
	int fd = subscriber();

	client_ask(fd, CALL("change", 2), EVENT(1, "\"what\":7") RESULT("", 2) "\n");
	client_send(fd, "[" REQUEST "," CALL("change", 2) "]");
	serve(4);
	client_expect(fd,
		      EVENT(2, "\"what\":7") "[" RESULT("\"sum\":1", 1) "," RESULT("", 2) "]\n");
}

#define MOST_HEARD (1u << 26)

/* Lines that a subscriber has read, all of them whole. */
struct heard {
	unsigned events, answers, missed;
	unsigned next; /* number of the next event, if none is lost untold */
};

static void hear_lines(int fd, struct heard *heard) {
	static char text[MOST_HEARD];
	char *rest = text, *line;

	assert_true(client_hear(fd, text, sizeof(text)) > 0);
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		json_t *json = json_loads(line, 0, NULL);
		const json_t *params = json_object_get(json, "params");
		int64_t number = json_integer_value(json_object_get(params, "sequence"));

		assert_non_null(json);
		if (params == NULL) {
			heard->answers++;
		} else if (json_object_get(params, "event") != NULL) {
			heard->missed++;
			assert_int_equal(json_integer_value(json_object_get(params, "first")),
					 heard->next);
			heard->next = (unsigned)number;
		} else {
			heard->events++;
			assert_int_equal(number, heard->next++);
		}
		json_decref(json);
	}
}

/*
 * It holds up neither events of others nor changes, and is told what it has missed. Its answer is behind events that it has
 * not read, as whole lines.
 */
TEST(a_subscriber_that_does_not_read) {
	int slow = subscriber(), fd = subscriber();
	struct heard of_slow = {.next = 1}, of_other = {.next = 1};

	client_send(slow, REQUEST);
	for (int i = 0; i < 40; i++) {
		tell(i, 1u << 20);
		hear_lines(fd, &of_other);
		assert_int_equal(of_other.events, i + 1);
	}
	client_ask(fd, REQUEST, SUM(1));
	while (of_slow.next <= 40 || of_slow.answers == 0)
		hear_lines(slow, &of_slow);
	assert_true(of_slow.missed > 0);
	assert_int_equal(sum, 2);
}

TEST(a_subscriber_that_never_reads_is_let_go) {
	char byte;
	int fd;

	end_events(state);
	assert_int_equal(open_events(1), 0);
	fd = subscriber();
	usleep(5000);
	serve(1); /* who is idle is not slow */
	for (int i = 0; i < 10; i++)
		tell(i, 1u << 20);
	usleep(5000);
	serve(1);
	assert_false(event_journal_wants(rpc.events, false));
	while (recv(fd, &byte, 1, 0) == 1)
		;
	assert_int_not_equal(errno, EAGAIN);
}

TEST(subscribers_go) {
	for (int i = 0; i < 3 * CONTROL_CLIENTS; i++) {
		int fd = subscriber();

		if (i % 2 == 0)
			tell(i, 1u << 20);
		client_close(fd);
		if (i % 3 == 0)
			tell(i, 10);
		serve(2);
	}
	assert_false(event_journal_wants(rpc.events, false));
}

/* They are not idle; others may not take their slots. */
TEST(subscribers_keep_their_slots) {
	int fds[CONTROL_CLIENTS], s[EVENT_SUBSCRIBERS_MAX], one_more;
	char text[256];

	for (int i = 0; i < EVENT_SUBSCRIBERS_MAX; i++)
		s[i] = subscriber();
	one_more = client_connect();
	client_send(one_more, SUBSCRIBE);
	client_hear(one_more, text, sizeof(text));
	assert_non_null(strstr(text, "-32000"));
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		fds[i] = client_connect();
		client_send(fds[i], REQUEST);
		client_answered(fds[i]);
	}
	tell(1, 0);
	for (int i = 0; i < EVENT_SUBSCRIBERS_MAX; i++)
		client_expect(s[i], EVENT(1, "\"what\":1,\"text\":\"\""));
}

/* Every call of an array is a round of its own, in which others are served. */
TEST(an_array_holds_up_nobody) {
	int fd = client_connect(), other = client_connect();

	client_send(fd, "[" REQUEST "," REQUEST "," REQUEST "," REQUEST "," REQUEST "]");
	serve(2); /* both are connected */
	assert_int_equal(sum, 1);
	client_send(other, REQUEST);
	serve(1);
	assert_int_equal(sum, 3);
	client_expect(other, SUM(3));
	while (sum < 6)
		control_socket_serve(server, 3600000); /* nothing need come for the rest */
	client_answered(fd);
}

TEST(a_call_in_parts) {
	int fd = client_connect(), other = client_connect();

	client_send(fd, "[" PARTS(1) "," REQUEST "," PARTS(2) "]");
	while (parts_made < 2)
		control_socket_serve(server, 3600000);
	client_ask(other, REQUEST, SUM(1));
	client_expect(fd, "[" FIVE(1) "," RESULT("\"sum\":2", 1) "," FIVE(2) "]\n");
	client_ask(fd, PARTS(null), FIVE(null) "\n");
	assert_int_equal(parts_ended, 3);
}

TEST(readers_come_last) {
	int readers[CONTROL_CLIENTS - 1], fd = client_connect();

	for (int i = 0; i < CONTROL_CLIENTS - 1; i++)
		readers[i] = client_connect();
	serve(1);
	for (int i = 0; i < CONTROL_CLIENTS - 1; i++)
		client_send(readers[i], PARTS(1));
	client_send(fd, REQUEST);
	serve(1);
	assert_int_equal(sum, 1);
	client_expect(fd, SUM(1));
	for (int i = 0; i < CONTROL_CLIENTS - 1; i++)
		client_expect(readers[i], FIVE(1) "\n");
}

TEST(a_reader_that_goes_is_forgotten) {
	int fd = client_connect();

	client_send(fd, PARTS(1));
	serve(2);
	assert_in_range(parts_made, 1, 4);
	client_close(fd);
	serve(2);
	assert_int_equal(parts_ended, 1);
	assert_in_range(parts_made, 1, 4);
}

EACH_TEST(begin_events, end_events)
ALL_TESTS(folder_make, folder_remove)
