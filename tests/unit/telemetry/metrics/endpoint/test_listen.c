/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses that --metrics listens on. */
#include "test_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "telemetry/metrics/endpoint/listen.h"

static char where[LISTEN_TEXT];
static int family;

/* Of this process alone, whatever other programs listen on. */
TEST(the_last_port) {
	char address[64];
	int fd, pid = getpid();

	snprintf(address, sizeof(address), "127.%d.%d.%d:65535", 1 + (pid >> 16 & 63),
		 pid >> 8 & 255, pid & 255);
	fd = listen_open(address, where, &family);
	assert_true(fd >= 0);
	assert_string_equal(where, address);
	assert_int_equal(family, AF_INET);
	close(fd);
}

TEST(six) {
	int fd = listen_open("[::1]:0", where, &family);

	if (fd < 0 && (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT))
		skip(); /* as where it is switched off */
	assert_true(fd >= 0 && family == AF_INET6);
	assert_int_equal(strncmp(where, "[::1]:", 6), 0);
	close(fd);
}

TEST(refused) {
	static const char *const addresses[] = {"",
						"127.0.0.1",
						"127.0.0.1:",
						"127.0.0.1:65536",
						"127.0.0.1:x",
						"::1:9464",
						"[127.0.0.1]:9464",
						"localhost:9464",
						"[::1]",
						"127.0.0.1:000001",
						"1.2.3:9464x"};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		assert_int_equal(listen_open(addresses[i], where, &family), -1);
}
