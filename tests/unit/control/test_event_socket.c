/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests events on the control socket: events between responses, slow and disconnected subscribers. Also tests arrays of
 * calls, and calls that write their result in parts. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control_clients.h"
#include "test_main.h"

#define SUBSCRIBE CALL("subscribe", 1)
#define SUBSCRIBED RESULT("", 1) "\n"
#define PARTS(n) CALL("parts", n)
#define FIVE_PARTS(n) RESULT("\"parts\":5", n)

static unsigned parts_made, parts_ended;

static json_t *service_subscribe(struct rpc_call *call) {
	if (!event_journal_subscribe(rpc.events, call->subscriber, false, NULL, 0))
		return rpc_refuse(call, RPC_REFUSED, "too many");
	return json_object();
}

/* Sends an event before its response. */
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

/* Writes its result in five runs. */
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

static const struct rpc_method methods[] = {
	{"add", "adds to the sum", add_keys, sizeof(struct add_params), sum_keys, service_add},
	{"subscribe", "subscribes", NULL, 0, (const struct key[]){{0}}, service_subscribe},
	{"change", "changes", NULL, 0, (const struct key[]){{0}}, service_change},
	{"parts", "returns 5 in parts", NULL, 0, (const struct key[]){{0}}, service_parts,
	 .reads = true},
};

static int open_event_server(unsigned stall_ms) {
	sum = parts_made = parts_ended = 0;
	rpc = (struct rpc){methods, ARRAY_COUNT(methods), &sum, event_journal_create()};
	server = server_open(stall_ms);
	return server == NULL;
}

static int start_event_server(void **state) {
	return open_event_server(FOREVER_MS);
}

static int stop_event_server(void **state) {
	int result = stop_server(state);

	event_journal_free(rpc.events);
	return result;
}

static void send_event(int what, size_t padding) {
	char *text = calloc(1, padding + 1);
	struct event e = {.position = EVENT_ALONE};

	memset(text, 'x', padding);
	e.plain = json_pack("{s:i, s:s}", "what", what, "text", text);
	free(text);
	event_journal_add(rpc.events, &e);
	event_journal_flush(rpc.events);
}

static int connect_subscriber(void) {
	int fd = client_connect();

	client_ask(fd, SUBSCRIBE, SUBSCRIBED);
	return fd;
}

#define EVENT(n, params) \
	"{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"sequence\":" #n "," params "}}\n"

/* Events are sent when they are added, without a round of the server. */
TEST(events_are_sent_at_once) {
	int a = connect_subscriber(), b = connect_subscriber(), c = client_connect();
	char text[512];

	serve(1);
	send_event(1, 0);
	send_event(2, 0);
	for (int i = 0; i < 2; i++) {
		ssize_t n = recv(i == 0 ? a : b, text, sizeof(text) - 1, 0);

		assert_true(n > 0);
		text[n] = '\0';
		assert_string_equal(text, EVENT(1, "\"what\":1,\"text\":\"\"")
						  EVENT(2, "\"what\":2,\"text\":\"\""));
	}
	assert_int_equal(recv(c, text, sizeof(text), 0), -1); /* not subscribed */
}

/* Events of a client's own change precede the response, also for an array of requests. */
TEST(events_precede_answer_of_own_change) {
	int fd = connect_subscriber();

	client_ask(fd, CALL("change", 2), EVENT(1, "\"what\":7") RESULT("", 2) "\n");
	client_send(fd, "[" REQUEST "," CALL("change", 2) "]");
	serve(4);
	client_expect(fd,
		      EVENT(2, "\"what\":7") "[" RESULT("\"sum\":1", 1) "," RESULT("", 2) "]\n");
}

#define MAX_RECEIVED (1u << 26)

/* Lines that a subscriber has read. */
struct received_lines {
	unsigned events, answers, missed;
	unsigned next; /* number of the next event */
};

static void receive_lines(int fd, struct received_lines *r) {
	static char text[MAX_RECEIVED];
	char *rest = text, *line;

	assert_true(client_receive(fd, text, sizeof(text)) > 0);
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		json_t *json = json_loads(line, 0, NULL);
		const json_t *params = json_object_get(json, "params");
		int64_t number = json_integer_value(json_object_get(params, "sequence"));

		assert_non_null(json);
		if (params == NULL) {
			r->answers++;
		} else if (json_object_get(params, "event") != NULL) {
			r->missed++;
			assert_int_equal(json_integer_value(json_object_get(params, "first")),
					 r->next);
			r->next = (unsigned)number;
		} else {
			r->events++;
			assert_int_equal(number, r->next++);
		}
		json_decref(json);
	}
}

/* A slow subscriber delays neither other subscribers nor changes. It is told which events it missed, and then gets the
 * response to its own request. */
TEST(slow_subscriber_gets_next_sequence_after_missed_events) {
	int slow = connect_subscriber(), fd = connect_subscriber();
	struct received_lines slow_lines = {.next = 1}, lines = {.next = 1};

	client_send(slow, REQUEST);
	for (int i = 0; i < 40; i++) {
		send_event(i, 1u << 20);
		receive_lines(fd, &lines);
		assert_int_equal(lines.events, i + 1);
	}
	client_ask(fd, REQUEST, SUM(1));
	while (slow_lines.next <= 40 || slow_lines.answers == 0)
		receive_lines(slow, &slow_lines);
	assert_true(slow_lines.missed > 0);
	assert_int_equal(sum, 2);
}

TEST(stalled_subscriber_is_disconnected) {
	char byte;
	int fd;

	stop_event_server(state);
	assert_int_equal(open_event_server(1), 0);
	fd = connect_subscriber();
	usleep(5000);
	serve(1); /* an idle subscriber is not stalled */
	for (int i = 0; i < 10; i++)
		send_event(i, 1u << 20);
	usleep(5000);
	serve(1);
	assert_false(event_journal_wants(rpc.events, false));
	while (recv(fd, &byte, 1, 0) == 1)
		;
	assert_int_not_equal(errno, EAGAIN);
}

TEST(disconnected_subscribers_are_removed) {
	for (int i = 0; i < 3 * CONTROL_CLIENTS; i++) {
		int fd = connect_subscriber();

		if (i % 2 == 0)
			send_event(i, 1u << 20);
		client_close(fd);
		if (i % 3 == 0)
			send_event(i, 10);
		serve(2);
	}
	assert_false(event_journal_wants(rpc.events, false));
}

/* Idle subscribers are not disconnected for new clients. */
TEST(idle_subscribers_keep_their_slots) {
	int fds[CONTROL_CLIENTS], s[EVENT_SUBSCRIBERS_MAX], extra;
	char text[256];

	for (int i = 0; i < EVENT_SUBSCRIBERS_MAX; i++)
		s[i] = connect_subscriber();
	extra = client_connect();
	client_send(extra, SUBSCRIBE);
	client_receive(extra, text, sizeof(text));
	assert_non_null(strstr(text, "-32000"));
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		fds[i] = client_connect();
		client_send(fds[i], REQUEST);
		client_expect_line(fds[i]);
	}
	send_event(1, 0);
	for (int i = 0; i < EVENT_SUBSCRIBERS_MAX; i++)
		client_expect(s[i], EVENT(1, "\"what\":1,\"text\":\"\""));
}

/* Each call of an array runs in its own round, so that other clients are served in between. */
TEST(array_of_calls_does_not_block_other_clients) {
	int fd = client_connect(), other = client_connect();

	client_send(fd, "[" REQUEST "," REQUEST "," REQUEST "," REQUEST "," REQUEST "]");
	serve(2); /* both are connected */
	assert_int_equal(sum, 1);
	client_send(other, REQUEST);
	serve(1);
	assert_int_equal(sum, 3);
	client_expect(other, SUM(3));
	while (sum < 6)
		control_socket_serve(server, 3600000); /* returns without input */
	client_expect_line(fd);
}

TEST(call_in_parts_does_not_block_other_clients) {
	int fd = client_connect(), other = client_connect();

	client_send(fd, "[" PARTS(1) "," REQUEST "," PARTS(2) "]");
	while (parts_made < 2)
		control_socket_serve(server, 3600000);
	client_ask(other, REQUEST, SUM(1));
	client_expect(fd, "[" FIVE_PARTS(1) "," RESULT("\"sum\":2", 1) "," FIVE_PARTS(2) "]\n");
	client_ask(fd, PARTS(null), FIVE_PARTS(null) "\n");
	assert_int_equal(parts_ended, 3);
}

TEST(calls_that_read_run_last) {
	int reading_clients[CONTROL_CLIENTS - 1], fd = client_connect();

	for (int i = 0; i < CONTROL_CLIENTS - 1; i++)
		reading_clients[i] = client_connect();
	serve(1);
	for (int i = 0; i < CONTROL_CLIENTS - 1; i++)
		client_send(reading_clients[i], PARTS(1));
	client_send(fd, REQUEST);
	serve(1);
	assert_int_equal(sum, 1);
	client_expect(fd, SUM(1));
	for (int i = 0; i < CONTROL_CLIENTS - 1; i++)
		client_expect(reading_clients[i], FIVE_PARTS(1) "\n");
}

TEST(call_of_disconnected_client_ends) {
	int fd = client_connect();

	client_send(fd, PARTS(1));
	serve(2);
	assert_in_range(parts_made, 1, 4);
	client_close(fd);
	serve(2);
	assert_int_equal(parts_ended, 1);
	assert_in_range(parts_made, 1, 4);
}

EACH_TEST(start_event_server, stop_event_server)
ALL_TESTS(make_folder, remove_folder)
