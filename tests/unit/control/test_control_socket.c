/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients of the control socket: good, slow, many, and those that speak something else. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/json_text.h"

#include "control_clients.h"
#include "test_main.h"

/* With another patience. */
static void server_reopen(unsigned stall_ms) {
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
#define SUM_OF_ID "{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":%u},\"id\":%s}\n"

/* A request ends where its first bracket closes, whatever its texts have. */
TEST(requests_in_one_piece_and_in_many) {
	static const char *const ids[] = {"1", "\"}\"", "\"\\\"}\"", "\"\\\\\"", "\"[\""};
	int fd = client_connect();

	for (unsigned i = 0; i < ARRAY_COUNT(ids); i++) {
		char request[128], two[300], answers[300];

		snprintf(request, sizeof(request), WITH_ID, ids[i]);
		snprintf(two, sizeof(two), " \t\r\n%s %s", request, request);
		snprintf(answers, sizeof(answers), SUM_OF_ID SUM_OF_ID, 3 * i + 1, ids[i],
			 3 * i + 2, ids[i]);
		client_send(fd, two);
		serve(8);
		client_expect(fd, answers);
		for (const char *c = request; *c != '\0'; c++) {
			const char text[] = {*c, '\0'};

			client_send(fd, text);
			serve(1);
		}
		snprintf(answers, sizeof(answers), SUM_OF_ID, 3 * i + 3, ids[i]);
		client_expect(fd, answers);
	}
}

TEST(who_speaks_something_else_is_told_and_let_go) {
	char deep[JSON_TEXT_DEEPEST + 2] = "";
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
		client_hear(fd, text, sizeof(text));
		assert_non_null(strstr(text, "-32700"));
		assert_int_equal(client_hear(fd, text, sizeof(text)), 0);
	}
}

/* No request, but the next one is read. */
TEST(a_value_as_deep_as_may_be) {
	char deep[2 * JSON_TEXT_DEEPEST + 1] = "", text[512];
	int fd = client_connect();

	memset(deep, '[', JSON_TEXT_DEEPEST);
	memset(deep + JSON_TEXT_DEEPEST, ']', JSON_TEXT_DEEPEST);
	client_send(fd, deep);
	client_hear(fd, text, sizeof(text));
	assert_non_null(strstr(text, "\"error\""));
	client_ask(fd, REQUEST, SUM(1));
}

TEST(what_has_no_end_is_cut) {
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
	client_hear(fd, text, sizeof(text));
	assert_non_null(strstr(text, "1 MiB"));
}

TEST(an_answer_that_nobody_takes_holds_up_nobody) {
	int slow = client_connect(), fd = client_connect();
	char *text = malloc((1u << 22) + 4096);

	client_send(slow, CALL("fill", 1) REQUEST);
	serve(100);
	assert_int_equal(sum, 0); /* its next request waits until it has taken the answer */
	client_ask(fd, REQUEST, SUM(1));
	assert_true(client_hear(slow, text, (1u << 22) + 4096) > 1u << 22);
	client_expect(slow, SUM(2));
	free(text);
}

#define AWAIT CALL("await", 1)

TEST(a_call_that_waits_holds_up_nobody) {
	int slow = client_connect(), fd = client_connect();
	char text[256];

	client_send(slow, AWAIT REQUEST);
	serve(5);
	assert_int_equal(sum, 0);
	client_ask(fd, REQUEST, SUM(1));
	sum = 100;
	control_socket_serve(server, 3600000); /* it is looked at without a word from anybody */
	client_hear(slow, text, sizeof(text));
	assert_memory_equal(text, "{\"jsonrpc\":\"2.0\",\"result\":{\"looks\":", 35);
	client_expect(slow, SUM(101));
}

TEST(who_was_idle_is_not_slow) {
	char byte;
	int fd;

	server_reopen(20);
	fd = client_connect();
	serve(1);
	usleep(30000); /* or longer */
	client_send(fd, "{\"jsonrpc\"");
	serve(1);
	assert_int_equal(recv(fd, &byte, 1, 0), -1);
	assert_int_equal(errno, EAGAIN); /* it is still there */
}

/* It may wait for as long as it takes, and is forgotten when it goes. */
TEST(who_waits_is_not_slow) {
	int fd, gone;

	server_reopen(1);
	fd = client_connect();
	gone = client_connect();
	client_send(fd, AWAIT);
	client_send(gone, AWAIT);
	for (int i = 0; i < 10; i++) {
		control_socket_serve(server, 1);
		usleep(1000);
	}
	client_close(gone);
	serve(3);
	sum = 100;
	client_answered(fd);
}

/* All places are taken by clients that say the same. */
static void house_fill(int fds[CONTROL_CLIENTS], const char *text) {
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		fds[i] = client_connect();
		client_send(fds[i], text);
		serve(2);
	}
}

/* All places are taken by those who wait: one more is let go, and they get their answers. */
TEST(a_full_house_that_waits) {
	int fds[CONTROL_CLIENTS], one_more;

	house_fill(fds, AWAIT);
	one_more = client_connect();
	assert_int_equal(client_hear(one_more, (char[16]){0}, 16), 0);
	sum = 100;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		client_answered(fds[i]);
}

TEST(a_full_house_that_goes) {
	int fds[CONTROL_CLIENTS], fd;

	house_fill(fds, AWAIT);
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		client_close(fds[i]);
	serve(1);
	fd = client_connect();
	client_ask(fd, REQUEST, SUM(1));
}

TEST(idle_clients_make_room) {
	int fds[2 * CONTROL_CLIENTS];

	for (int i = 0; i < 2 * CONTROL_CLIENTS; i++) {
		fds[i] = client_connect();
		client_send(fds[i], REQUEST);
		client_answered(fds[i]);
	}
	assert_int_equal(sum, 2 * CONTROL_CLIENTS);
}

/* A round takes no more than there are places, so that it ends however many come. */
TEST(a_flood_of_connections) {
	int fds[CONTROL_CLIENTS + 8];
	unsigned gone = 0;

	for (size_t i = 0; i < ARRAY_COUNT(fds); i++)
		fds[i] = client_connect();
	serve(1);
	for (size_t i = 0; i < ARRAY_COUNT(fds); i++)
		gone += recv(fds[i], (char[1]){0}, 1, 0) == 0;
	assert_int_equal(gone, 0);
	serve(1);
	for (size_t i = 0; i < ARRAY_COUNT(fds); i++)
		gone += recv(fds[i], (char[1]){0}, 1, 0) == 0;
	assert_int_equal(gone, 8);
}

TEST(a_full_house_of_slow_ones_is_emptied) {
	int fds[CONTROL_CLIENTS];

	server_reopen(1);
	house_fill(fds, "{\"half\":");
	/* Each is let go after its millisecond. */
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		while (recv(fds[i], (char[16]){0}, 16, 0) != 0)
			control_socket_serve(server, 1);
	}
	two_clients_are_served(state);
}

TEST(two_servers_do_not_share) {
	int fd = client_connect();

	assert_null(server_open(FOREVER_MS));
	client_ask(fd, REQUEST, SUM(1)); /* the first one notices nothing */
}

TEST(only_its_user_may) {
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

EACH_TEST(begin, end)
ALL_TESTS(folder_make, folder_remove)
