/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests server_link.h: requests go to servers of the own user only, since answers contain keys. */
#include "test_main.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "follow/server_link.h"

#define OTHER_USER 54321 /* a user ID that does not exist */
#define LONG 300000 /* characters of a string in an answer; more than one read */

static char path[] = "/tmp/link-XXXXXX";

/* Whether a line was received. Reads it, since a close with unread bytes discards sent ones. */
static bool read_line(int fd) {
	char byte = 0;

	while (byte != '\n' && recv(fd, &byte, 1, 0) == 1)
		;
	return byte == '\n';
}

/* Serves as `user`. Writes to `pipe_fd`: l when it listens, then g if it got a request, or n. */
static void serve(int listener, uid_t user, int pipe_fd) {
	static const char form[] = "{\"method\": \"event\"}\n{\"method\": \"event\"}\n{\"id\": 1, "
				   "\"result\": {\"config\": \"%0*d\"}}\n";
	static char answer[LONG + sizeof(form)];
	char result_byte;
	bool got;
	int fd;

	if (setresuid(user, user, user) != 0 || listen(listener, 1) != 0 ||
	    write(pipe_fd, "l", 1) != 1)
		_exit(1);
	fd = accept(listener, NULL, NULL);
	got = read_line(fd);
	snprintf(answer, sizeof(answer), form, LONG, 0);
	if (got)
		send(fd, answer, strlen(answer), MSG_NOSIGNAL);
	result_byte = got ? 'g' : 'n';
	_exit(write(pipe_fd, &result_byte, 1) == 1 ? 0 : 1);
}

/* Calls a server of `user`; returns its answer. `got` is 'g' if the server got the request. */
static json_t *call_server_of(uid_t user, struct server_link *link, char *got) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), pipe_fd[2];
	json_t *result;
	pid_t child;

	close(mkstemp(path));
	unlink(path);
	strcpy(address.sun_path, path);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(pipe(pipe_fd), 0);
	child = fork();
	if (child == 0)
		serve(listener, user, pipe_fd[1]);
	assert_int_equal(read(pipe_fd[0], got, 1), 1);
	server_link_init(link, path);
	result = server_link_call(link, "config.get", json_pack("{s:b}", "keys", 1));
	assert_int_equal(read(pipe_fd[0], got, 1), 1);
	waitpid(child, NULL, 0);
	close(listener);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	unlink(path);
	strcpy(path, "/tmp/link-XXXXXX");
	return result;
}

/* Events before the answer are kept. After these the link reports the server's end. */
TEST(own_server_is_called) {
	struct server_link link;
	json_t *result, *event;
	char got;

	result = call_server_of(geteuid(), &link, &got);
	assert_int_equal(json_string_length(json_object_get(result, "config")), LONG);
	assert_null(link.error);
	assert_int_equal(got, 'g');
	json_decref(result);
	for (unsigned i = 0; i < 2; i++) {
		event = server_link_next(&link, 0);
		assert_string_equal(json_string_value(json_object_get(event, "method")), "event");
		json_decref(event);
	}
	assert_null(server_link_next(&link, 1000));
	assert_string_equal(link.error, "the server closed the connection");
	server_link_close(&link);
}

TEST(server_of_other_user_is_not_called) {
	struct server_link link;
	char got;

	if (geteuid() != 0)
		skip();
	assert_null(call_server_of(OTHER_USER, &link, &got));
	assert_int_equal(got, 'n');
	assert_string_equal(link.error, "served by user 54321, allowed: user 0");
}
