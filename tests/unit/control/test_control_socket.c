/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the control socket with valid, slow, malformed and too many clients. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/json_text.h"

#include "control_clients.h"
#include "test_main.h"

/* Restarts the server with another stall limit. */
static void restart_server(unsigned stall_ms) {
	control_socket_close(server);
	server = server_open(stall_ms);
	assert_non_null(server);
}

TEST(two_clients_are_served) {
	int a = client_connect(), b = client_connect();

	client_ask(a, REQUEST, SUM(1));
	client_ask(b, REQUEST "\n", SUM(2));
	client_ask(a, REQUEST, SUM(3));
}

#define WITH_ID "{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"params\":{\"by\":1},\"id\":%s}"
#define SUM_WITH_ID "{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":%u},\"id\":%s}\n"

/* A request ends where its first bracket closes; brackets in strings do not count. */
TEST(requests_are_split_at_their_ends) {
	static const char *const ids[] = {"1", "\"}\"", "\"\\\"}\"", "\"\\\\\"", "\"[\""};
	int fd = client_connect();

	for (unsigned i = 0; i < ARRAY_COUNT(ids); i++) {
		char request[128], two[300], answers[300];

		snprintf(request, sizeof(request), WITH_ID, ids[i]);
		snprintf(two, sizeof(two), " \t\r\n%s %s", request, request);
		snprintf(answers, sizeof(answers), SUM_WITH_ID SUM_WITH_ID, 3 * i + 1, ids[i],
			 3 * i + 2, ids[i]);
		client_send(fd, two);
		serve(8);
		client_expect(fd, answers);
		for (const char *c = request; *c != '\0'; c++) {
			const char text[] = {*c, '\0'};

			client_send(fd, text);
			serve(1);
		}
		snprintf(answers, sizeof(answers), SUM_WITH_ID, 3 * i + 3, ids[i]);
		client_expect(fd, answers);
	}
}

TEST(malformed_input_gets_an_error_and_disconnects) {
	char deep[JSON_TEXT_MAX_DEPTH + 2] = "";
	const struct {
		const char *bytes;
		size_t size;
	} all[] = {
		{"GET / HTTP/1.1", 14},	  {"1", 1}, {"  \"{\"", 5}, {"}", 1}, {"\0{}", 3},
		{deep, sizeof(deep) - 1},
	};

	memset(deep, '[', sizeof(deep) - 1);
	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		int fd = client_connect();
		char text[512];

		assert_int_equal(send(fd, all[i].bytes, all[i].size, 0), all[i].size);
		client_receive(fd, text, sizeof(text));
		assert_non_null(strstr(text, "-32700"));
		assert_int_equal(client_receive(fd, text, sizeof(text)), 0);
	}
}

/* The value is no request, but the connection stays open. */
TEST(deepest_allowed_value_is_parsed) {
	char deep[2 * JSON_TEXT_MAX_DEPTH + 1] = "", text[512];
	int fd = client_connect();

	memset(deep, '[', JSON_TEXT_MAX_DEPTH);
	memset(deep + JSON_TEXT_MAX_DEPTH, ']', JSON_TEXT_MAX_DEPTH);
	client_send(fd, deep);
	client_receive(fd, text, sizeof(text));
	assert_non_null(strstr(text, "\"error\""));
	client_ask(fd, REQUEST, SUM(1));
}

TEST(request_over_1_mib_is_rejected) {
	int fd = client_connect();
	char block[4096], text[512];
	size_t sent = 0;

	memset(block, ' ', sizeof(block));
	block[0] = '{';
	while (sent < 2 * (size_t)CONTROL_REQUEST_MAX) {
		ssize_t n = send(fd, block, sizeof(block), MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			break;
		sent += n > 0 ? (size_t)n : 0;
		block[0] = ' ';
		serve(1);
	}
	assert_in_range(sent, CONTROL_REQUEST_MAX, 2 * CONTROL_REQUEST_MAX - 1);
	client_receive(fd, text, sizeof(text));
	assert_non_null(strstr(text, "1 MiB"));
}

TEST(unread_answer_does_not_block_other_clients) {
	int slow = client_connect(), fd = client_connect();
	char *text = malloc((1u << 22) + 4096);

	client_send(slow, CALL("fill", 1) REQUEST);
	serve(100);
	assert_int_equal(sum, 0); /* the next request runs after the response was read */
	client_ask(fd, REQUEST, SUM(1));
	assert_true(client_receive(slow, text, (1u << 22) + 4096) > 1u << 22);
	client_expect(slow, SUM(2));
	free(text);
}

#define AWAIT CALL("await", 1)

TEST(waiting_call_does_not_block_other_clients) {
	int slow = client_connect(), fd = client_connect();
	char text[256];

	client_send(slow, AWAIT REQUEST);
	serve(5);
	assert_int_equal(sum, 0);
	client_ask(fd, REQUEST, SUM(1));
	sum = 100;
	control_socket_serve(server, 3600000); /* the waiting call runs without input */
	client_receive(slow, text, sizeof(text));
	assert_memory_equal(text, "{\"jsonrpc\":\"2.0\",\"result\":{\"runs\":", 34);
	client_expect(slow, SUM(101));
}

TEST(idle_client_is_not_stalled) {
	char byte;
	int fd;

	restart_server(20);
	fd = client_connect();
	serve(1);
	usleep(30000); /* or longer */
	client_send(fd, "{\"jsonrpc\"");
	serve(1);
	assert_int_equal(recv(fd, &byte, 1, 0), -1);
	assert_int_equal(errno, EAGAIN); /* still connected */
}

/* A call may wait longer than the stall limit. It ends when its client disconnects. */
TEST(waiting_client_is_not_stalled) {
	int fd, closed;

	restart_server(1);
	fd = client_connect();
	closed = client_connect();
	client_send(fd, AWAIT);
	client_send(closed, AWAIT);
	for (int i = 0; i < 10; i++) {
		control_socket_serve(server, 1);
		usleep(1000);
	}
	client_close(closed);
	serve(3);
	sum = 100;
	client_expect_line(fd);
}

/* Connects the maximum number of clients; each sends `text`. */
static void fill_clients(int fds[CONTROL_CLIENTS], const char *text) {
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		fds[i] = client_connect();
		client_send(fds[i], text);
		serve(2);
	}
}

/* With the maximum number of waiting clients, one more is disconnected, and the others get their responses. */
TEST(client_over_the_limit_is_disconnected) {
	int fds[CONTROL_CLIENTS], extra;

	fill_clients(fds, AWAIT);
	extra = client_connect();
	assert_int_equal(client_receive(extra, (char[16]){0}, 16), 0);
	sum = 100;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		client_expect_line(fds[i]);
}

TEST(disconnected_clients_free_their_slots) {
	int fds[CONTROL_CLIENTS], fd;

	fill_clients(fds, AWAIT);
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		client_close(fds[i]);
	serve(1);
	fd = client_connect();
	client_ask(fd, REQUEST, SUM(1));
}

TEST(idle_clients_are_replaced) {
	int fds[2 * CONTROL_CLIENTS];

	for (int i = 0; i < 2 * CONTROL_CLIENTS; i++) {
		fds[i] = client_connect();
		client_send(fds[i], REQUEST);
		client_expect_line(fds[i]);
	}
	assert_int_equal(sum, 2 * CONTROL_CLIENTS);
}

/* A round accepts at most CONTROL_CLIENTS connections, so that it ends. */
TEST(connections_per_round_are_limited) {
	int fds[CONTROL_CLIENTS + 8];
	unsigned closed = 0;

	for (size_t i = 0; i < ARRAY_COUNT(fds); i++)
		fds[i] = client_connect();
	serve(1);
	for (size_t i = 0; i < ARRAY_COUNT(fds); i++)
		closed += recv(fds[i], (char[1]){0}, 1, 0) == 0;
	assert_int_equal(closed, 0);
	serve(1);
	for (size_t i = 0; i < ARRAY_COUNT(fds); i++)
		closed += recv(fds[i], (char[1]){0}, 1, 0) == 0;
	assert_int_equal(closed, 8);
}

TEST(stalled_clients_are_disconnected) {
	int fds[CONTROL_CLIENTS];

	restart_server(1);
	fill_clients(fds, "{\"half\":");
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		while (recv(fds[i], (char[16]){0}, 16, 0) != 0)
			control_socket_serve(server, 1);
	}
	two_clients_are_served(state);
}

TEST(second_server_on_path_is_refused) {
	int fd = client_connect();

	assert_null(server_open(FOREVER_MS));
	client_ask(fd, REQUEST, SUM(1)); /* the first server still runs */
}

TEST(socket_file_has_configured_mode) {
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

EACH_TEST(start_server, stop_server)
ALL_TESTS(make_folder, remove_folder)
