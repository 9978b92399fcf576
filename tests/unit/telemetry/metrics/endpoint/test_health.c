/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether packets can come, and whether workers live. */
#include "test_main.h"

#include <string.h>

#include "telemetry/metrics/endpoint/health.h"

#define SECOND UINT64_C(1000000000)
#define WORKERS 2
#define GROUPS 2

static struct server server;
static struct worker workers[WORKERS];
static struct served_group groups[GROUPS];
static const struct service_group ids[GROUPS] = {{.id = 7}, {.id = 9}};
static struct health health;
static char why[HEALTH_LINE];

/* Two groups in service, whose network port is the same. */
static int setup(void **state) {
	memset(workers, 0, sizeof(workers));
	memset(&health, 0, sizeof(health));
	why[0] = '\0';
	server = (struct server){.workers = workers,
				 .worker_count = WORKERS,
				 .groups = groups,
				 .group_count = GROUPS,
				 .layout.cores = {0, 3},
				 .ports.count = 3};
	for (uint16_t p = 0; p < 3; p++)
		server.ports.list[p] =
			(struct server_port){.id = p, .open = true, .state = SERVER_PORT_UP};
	server.ports.list[2].device = "net_x1,iface=eth0";
	server.ports.list[2].role = DEVICE_RPHY;
	for (uint16_t g = 0; g < GROUPS; g++) {
		groups[g] = (struct served_group){.there = true, .sg = &ids[g]};
		server.ports.of[g][DEVICE_RPHY] = g + 1;
		server.ports.of[g][DEVICE_CONTROL] = SERVER_NO_PORT;
	}
	return pthread_rwlock_init(&server.lock, NULL);
}

static void check_ready(const char *expected) {
	bool ready = health_ready(&health, &server, why);

	assert_string_equal(ready ? "" : why, expected);
}

TEST(links) {
	struct server_port *ports = server.ports.list;

	check_ready("");
	ports[2].state = SERVER_PORT_DOWN;
	check_ready("service group 9: R-PHY port net_x1: link down");
	groups[1].drained = true; /* which needs none */
	check_ready("");
	ports[0].state = SERVER_PORT_DOWN;
	check_ready("service group 7: network port : link down");
	ports[0].state = SERVER_PORT_UP;
	ports[1].open = false;
	check_ready("service group 7: R-PHY port : not open");
	ports[1].state = SERVER_PORT_GONE;
	check_ready("service group 7: R-PHY port : taken away");
	groups[0].there = false;
	check_ready("all service groups are drained");
	groups[1].there = false;
	check_ready("no service group");
}

/* The workers that move do so each second. Returns whether all live after the last look. */
static bool looks(unsigned count, uint64_t *now, unsigned moves) {
	for (; count > 0; count--) {
		workers[moves].rounds++;
		health_look(&health, &server, *now += SECOND);
	}
	return health_live(&health, &server, why);
}

/* A worker that makes no rounds, after so long; the others do not help it. */
TEST(workers_that_stop) {
	uint64_t now = 100 * SECOND;

	health_look(&health, &server, now);
	assert_true(looks(3, &now, 0));
	assert_false(looks(1, &now, 0));
	assert_string_equal(why, "the worker on core 3 has made no round for 5 s");
	check_ready(why);
	assert_true(looks(1, &now, 1));
	check_ready("");
	assert_false(looks(4, &now, 1)); /* and the first */
}

/* The process stood still, and so did who looks. */
TEST(time_without_looks) {
	for (unsigned turn = 1; turn <= 3; turn++)
		health_look(&health, &server, turn * 100 * SECOND);
	assert_true(health_live(&health, &server, why));
	health_look(&health, &server, 400 * SECOND);
	assert_false(health_live(&health, &server, why));
}

EACH_TEST(setup, NULL)
