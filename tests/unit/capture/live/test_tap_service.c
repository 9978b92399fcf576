/* SPDX-License-Identifier: BSD-3-Clause */
/* The capture socket of a server without groups: who comes is taken when that can be, and answered. No EAL is needed. */
#include "test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "capture/live/service.h"

#define LOOKS 50 /* of the control thread, which has 5 ms between two */
#define LOOK_US 5000
#define BUSY_MOST 200 /* of 1,000 parts of a time in which there is nothing to do */

static struct tap_service service;
static struct server nothing;
static char path[108];

static int connected(void) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void begin(void) {
	memset(&service, 0, sizeof(service));
	snprintf(path, sizeof(path), "/tmp/vcmts-test-%d-capture.sock", (int)getpid());
	assert_int_equal(tap_service_listen(&service, path, 0600), 0);
	assert_int_equal(tap_service_start(&service, &nothing), 0);
}

static void end(void) {
	tap_service_close(&service);
	assert_int_equal(access(path, F_OK), -1);
}

/* The control thread goes on until the answer is there. */
static void answered(int fd, const char *wish, const char *expected) {
	char line[512] = "";
	ssize_t n = -1;

	assert_int_equal(write(fd, wish, strlen(wish)), strlen(wish));
	for (int look = 0; n < 0 && look < 100 * LOOKS; look++) {
		tap_service_follow(&service);
		n = recv(fd, line, sizeof(line) - 1, MSG_DONTWAIT);
		usleep(LOOK_US);
	}
	assert_non_null(strstr(line, expected));
	close(fd);
}

static uint64_t time_of(clockid_t clock) {
	struct timespec t;

	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What the thread uses of a processor, however long the time came to be: of 1,000 parts. */
static uint64_t busy(void) {
	uint64_t used, begun;
	clockid_t clock;

	assert_int_equal(pthread_getcpuclockid(service.thread, &clock), 0);
	used = time_of(clock);
	begun = time_of(CLOCK_MONOTONIC);
	usleep(LOOKS * LOOK_US);
	return 1000 * (time_of(clock) - used) / (time_of(CLOCK_MONOTONIC) - begun);
}

/* And nothing is done when all are served: whoever woke the thread did so once. */
TEST(refused) {
	begin();
	answered(connected(), "{}\n", "no service group 0");
	answered(connected(), "nonsense\n", "found no JSON");
	assert_in_range(busy(), 0, BUSY_MOST);
	end();
}

/* Where no descriptor is left a client waits, and the thread does not spin meanwhile. */
TEST(no_descriptors) {
	struct rlimit before, none;
	uint64_t used;
	int fd, more[TAP_CLIENTS + 2]; /* as poll() is asked for so many */

	begin();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	for (unsigned i = 0; i < ARRAY_COUNT(more); i++)
		more[i] = dup(fd);
	none = before;
	none.rlim_cur = (rlim_t)more[ARRAY_COUNT(more) - 1] + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&service.listener.address,
				 sizeof(service.listener.address)),
			 0);
	used = busy();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	for (unsigned i = 0; i < ARRAY_COUNT(more); i++)
		close(more[i]);
	assert_in_range(used, 0, BUSY_MOST);
	answered(fd, "{}\n", "no service group 0");
	end();
}
