/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic program asks no other user's server for keys, nor believes what it sends. */
#include "test_main.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "follow/server_link.h"

#define OTHER 54321 /* a user that no system has */
#define LONG 300000 /* characters of a text in an answer, more than are read at once */

static char path[] = "/tmp/link-XXXXXX";

/* A line to its end: who closes a socket with bytes unread takes what it sent back. Returns whether there was one. */
static bool line_read(int fd) {
	char byte = 0;

	while (byte != '\n' && recv(fd, &byte, 1, 0) == 1)
		;
	return byte == '\n';
}

/* Listens as the user, answers a request behind two events and tells whether it got one. */
static void serve(int listener, uid_t user, int told) {
	static const char form[] = "{\"method\": \"event\"}\n{\"method\": \"event\"}\n{\"id\": 1, "
				   "\"result\": {\"config\": \"%0*d\"}}\n";
	static char answer[LONG + sizeof(form)];
	char told_byte;
	bool got;
	int fd;

	if (setresuid(user, user, user) != 0 || listen(listener, 1) != 0 ||
	    write(told, "l", 1) != 1)
		_exit(1);
	fd = accept(listener, NULL, NULL);
	got = line_read(fd);
	snprintf(answer, sizeof(answer), form, LONG, 0);
	if (got)
		send(fd, answer, strlen(answer), MSG_NOSIGNAL);
	told_byte = got ? 'g' : 'n';
	_exit(write(told, &told_byte, 1) == 1 ? 0 : 1);
}

/* What it gets from a server of that user; `got` is 'g' where the server got something. */
static json_t *asked_of(uid_t user, struct server_link *link, char *got) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), told[2];
	json_t *result;
	pid_t child;

	close(mkstemp(path));
	unlink(path);
	strcpy(address.sun_path, path);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(pipe(told), 0);
	child = fork();
	if (child == 0)
		serve(listener, user, told[1]);
	assert_int_equal(read(told[0], got, 1), 1);
	server_link_init(link, path);
	result = server_link_call(link, "config.get", json_pack("{s:b}", "keys", 1));
	assert_int_equal(read(told[0], got, 1), 1);
	waitpid(child, NULL, 0);
	close(listener);
	close(told[0]);
	close(told[1]);
	unlink(path);
	strcpy(path, "/tmp/link-XXXXXX");
	return result;
}

/* What came before the answer is kept; then the server has gone. */
TEST(our_own_server) {
	struct server_link link;
	json_t *result, *event;
	char got;

	result = asked_of(geteuid(), &link, &got);
	assert_int_equal(json_string_length(json_object_get(result, "config")), LONG);
	assert_null(link.trouble);
	assert_int_equal(got, 'g');
	json_decref(result);
	for (unsigned i = 0; i < 2; i++) {
		event = server_link_next(&link, 0);
		assert_string_equal(json_string_value(json_object_get(event, "method")), "event");
		json_decref(event);
	}
	assert_null(server_link_next(&link, 1000));
	assert_string_equal(link.trouble, "it has gone");
	server_link_close(&link);
}

TEST(another_users_server) {
	struct server_link link;
	char got;

	if (geteuid() != 0)
		skip();
	assert_null(asked_of(OTHER, &link, &got));
	assert_int_equal(got, 'n');
	assert_string_equal(link.trouble, "served by user 54321, allowed: user 0");
}
