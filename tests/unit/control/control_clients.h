/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a control socket and its clients in one thread: connects, sends requests, and compares responses. */
#pragma once

#include "test.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/control_socket.h"

#include "rpc_service.h"

#define REQUEST "{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"params\":{\"by\":1},\"id\":1}"
#define FOREVER_MS 3600000 /* stall limit that no test reaches */

static char folder[] = "/tmp/control-XXXXXX";
static char path[64];
static uint32_t sum;
static struct rpc rpc;
static struct control_socket *server;

static struct control_socket *server_open(unsigned stall_ms) {
	const struct control_options options = {path, 0600, stall_ms};

	return control_socket_open(&options, &rpc);
}

static inline int start_server(void **state) {
	sum = 0;
	rpc = rpc_service(&sum);
	server = server_open(FOREVER_MS);
	return server == NULL;
}

/* Open sockets of clients; stop_server() closes them after each test. */
static int clients[4 * CONTROL_CLIENTS];
static unsigned client_count;

static inline void client_close(int fd) {
	unsigned i = 0;

	while (clients[i] != fd)
		i++;
	clients[i] = clients[--client_count];
	close(fd);
}

static int stop_server(void **state) {
	while (client_count > 0)
		client_close(clients[0]);
	control_socket_close(server);
	return access(path, F_OK) == 0; /* the socket file must be removed */
}

static int client_connect(void) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_true(client_count < ARRAY_COUNT(clients));
	clients[client_count++] = fd;
	return fd;
}

static void client_send(int fd, const char *text) {
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Reads up to the end of a line or connection into `text`, of `size` bytes with the final NUL, while the server runs.
 * Returns the number of bytes. */
static size_t client_receive(int fd, char *text, size_t size) {
	size_t used = 0;
	ssize_t n;

	for (;;) {
		n = recv(fd, text + used, size - used - 1, 0);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			break;
		used += n > 0 ? (size_t)n : 0;
		if (used > 0 && text[used - 1] == '\n')
			break;
		control_socket_serve(server, 0);
	}
	text[used] = '\0';
	return used;
}

static inline void client_expect(int fd, const char *expected) {
	char text[4096];

	client_receive(fd, text, sizeof(text));
	assert_string_equal(text, expected);
}

/* Sends a request and compares what the client receives. */
static inline void client_ask(int fd, const char *request, const char *answer) {
	client_send(fd, request);
	client_expect(fd, answer);
}

/* Asserts that the client receives a line. */
static inline void client_expect_line(int fd) {
	assert_int_not_equal(client_receive(fd, (char[1024]){0}, 1024), 0);
}

static inline void serve(unsigned rounds) {
	while (rounds-- > 0)
		control_socket_serve(server, 0);
}

/* A request without parameters, a response, and the line of add's response with ID 1. */
#define CALL(name, id) "{\"jsonrpc\":\"2.0\",\"method\":\"" name "\",\"id\":" #id "}"
#define RESULT(members, id) "{\"jsonrpc\":\"2.0\",\"result\":{" members "},\"id\":" #id "}"
#define SUM(n) RESULT("\"sum\":" #n, 1) "\n"

/* Fixtures of a program: the folder of the socket, which must be empty at the end. */
static int make_folder(void **state) {
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/control.sock", folder);
	return 0;
}

static int remove_folder(void **state) {
	return rmdir(folder);
}
