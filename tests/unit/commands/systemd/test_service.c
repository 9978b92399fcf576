/* SPDX-License-Identifier: BSD-3-Clause */
/* What systemd is told, by a socket of the test's: that packets can come, of a reload, that the workers make rounds. */
#include "test_main.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands/systemd/service.h"

#include "log/log_pipe.h"

#define SECOND UINT64_C(1000000000)
#define WORKERS 2
#define TEXT 512

static struct server server;
static struct worker workers[WORKERS];
static struct service service;
static int sock = -1;
static char path[64];
static char heard[TEXT];

/* Empty where nothing was said. */
static const char *hear(void) {
	ssize_t size = recv(sock, heard, sizeof(heard) - 1, MSG_DONTWAIT);

	heard[size > 0 ? size : 0] = '\0';
	return heard;
}

/* `abstract`: without a file. */
static int listen_at(bool abstract) {
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	socklen_t size;

	snprintf(path, sizeof(path), "%s/test-service-%d", abstract ? "@vcmts" : "/tmp",
		 (int)getpid());
	memcpy(a.sun_path, path, strlen(path));
	if (abstract)
		a.sun_path[0] = '\0';
	size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(bind(sock, (struct sockaddr *)&a, size), 0);
	setenv("NOTIFY_SOCKET", path, 1);
	return 0;
}

static int setup(void **state) {
	memset(workers, 0, sizeof(workers));
	server = (struct server){.workers = workers, .worker_count = WORKERS};
	server.layout.cores[1] = 3;
	snprintf(workers[0].name, sizeof(workers[0].name), "upper MAC");
	snprintf(workers[1].name, sizeof(workers[1].name), "lower MAC");
	setenv("WATCHDOG_USEC", "8000000", 1);
	unsetenv("WATCHDOG_PID");
	return listen_at(false);
}

static int teardown(void **state) {
	close(sock);
	unlink(path);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	return 0;
}

static unsigned long long monotonic_us(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000;
}

TEST(the_life_of_a_service) {
	const struct server_devices devices = {0};
	unsigned long long usec = 0, before = monotonic_us();
	struct reload reload;

	reload_open(&reload, &server, "/nowhere/sg.yaml", &devices);
	service_open(&service, &server);
	service_watch_reloads(&service, &reload);
	assert_string_equal(hear(), "");
	service_ready(&service);
	assert_string_equal(hear(), "READY=1\nSTATUS=serving 0 service groups with 0 modems");
	assert_false(reload_run(&reload)); /* refused, and over */
	assert_int_equal(sscanf(hear(), "RELOADING=1\nMONOTONIC_USEC=%llu\nSTATUS=reading", &usec),
			 1);
	assert_in_range(usec, before, monotonic_us());
	assert_string_equal(hear(), "READY=1\nSTATUS=serving 0 service groups with 0 modems");
	service_stopping(&service);
	assert_memory_equal(hear(), "STOPPING=1\nSTATUS=stopping", 26);
	assert_string_equal(hear(), "");
	reload_free(&reload);
}

/* Only where all make rounds, and no more often than a quarter of its time. */
TEST(the_watchdog_wants_all_workers) {
	uint64_t now;

	service_open(&service, &server);
	assert_int_equal(service.notify.watchdog_ns, 8 * SECOND);
	service_ready(&service);
	hear();
	now = service.alive;
	for (unsigned turn = 0; turn < 3; turn++) {
		workers[0].rounds++;
		workers[1].rounds++;
		service_round_at(&service, now += SECOND);
		assert_string_equal(hear(), "");
		service_round_at(&service, now += SECOND);
		assert_string_equal(hear(), "WATCHDOG=1");
		assert_string_equal(hear(), "");
	}
	for (unsigned turn = 0; turn < 20; turn++) {
		workers[turn / 10].rounds++;
		service_round_at(&service, now += turn < 10 ? SECOND : 0);
		assert_string_equal(hear(), turn < 10 ? "" : turn == 10 ? "WATCHDOG=1" : "");
	}
}

/* A stage that does not come back. */
static bool hangs, hung;

static uint16_t hang(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	(void)ctx;
	(void)pkts;
	while (__atomic_load_n(&hangs, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&hung, true, __ATOMIC_RELEASE);
		sched_yield();
	}
	return n;
}

static void *run(void *worker) {
	worker_run(worker);
	return NULL;
}

/* Rounds of the service, until it says so. */
static void until_alive(uint64_t *now) {
	do {
		service_round_at(&service, *now += SECOND / 10);
		sched_yield();
	} while (strcmp(hear(), "WATCHDOG=1") != 0);
}

/* Else a machine with other work might run it later, and with it count what the other one did before. */
static void the_first_makes_a_round(void) {
	uint64_t before = __atomic_load_n(&workers[0].rounds, __ATOMIC_RELAXED);

	while (__atomic_load_n(&workers[0].rounds, __ATOMIC_RELAXED) == before)
		sched_yield();
}

TEST(a_worker_that_hangs_stops_it) {
	static const struct stage stages[] = {{.name = "hang", .run = hang, .polls = true}};
	struct pipeline p = {.stages = stages, .count = 1};
	pthread_t threads[WORKERS];
	uint64_t now;

	assert_int_equal(worker_add(&workers[1], &p), 0);
	service_open(&service, &server);
	service_ready(&service);
	for (unsigned w = 0; w < WORKERS; w++)
		assert_int_equal(pthread_create(&threads[w], NULL, run, &workers[w]), 0);
	now = service.alive;
	until_alive(&now);
	until_alive(&now);
	__atomic_store_n(&hangs, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&hung, __ATOMIC_ACQUIRE))
		sched_yield();
	for (unsigned i = 0; i < 40; i++) { /* what it did before counts once */
		the_first_makes_a_round();
		service_round_at(&service, now += SECOND / 10);
	}
	while (*hear() != '\0')
		;
	for (unsigned i = 0; i < 1000; i++) {
		service_round_at(&service, now += SECOND / 10);
		assert_string_equal(hear(), "");
	}
	assert_true(service.watch.workers[1].stalled);
	__atomic_store_n(&hangs, false, __ATOMIC_RELEASE);
	until_alive(&now);
	assert_false(service.watch.workers[1].stalled);
	for (unsigned w = 0; w < WORKERS; w++)
		worker_stop(&workers[w]);
	for (unsigned w = 0; w < WORKERS; w++)
		pthread_join(threads[w], NULL);
	worker_free(&workers[1]);
}

/* The whole process stood still: that is no worker's fault. */
TEST(a_stop_of_all_is_no_stall) {
	uint64_t now = 1;

	watch_open(&service.watch, &server, now);
	for (unsigned i = 0; i < 3; i++)
		watch_workers(&service.watch, now += 100 * SECOND);
	assert_false(service.watch.workers[0].stalled);
	for (unsigned i = 0; i < 100; i++) /* short times are not long ones */
		watch_workers(&service.watch, now += WATCH_STEP_NS / 100);
	assert_false(service.watch.workers[0].stalled);
	for (unsigned i = 0; i < WATCH_STALL_NS / WATCH_STEP_NS; i++)
		watch_workers(&service.watch, now += WATCH_STEP_NS);
	assert_true(service.watch.workers[0].stalled && service.watch.workers[1].stalled);
}

static struct log_pipe said;

static void say_nothing_yet(void) {
	memset(&said, 0, sizeof(said));
	log_pipe_open(&said, LOG_PLAIN, LEVEL_INFO);
}

/* A worker that was kept from its work is told of with how often, since the last look. */
TEST(how_often_a_worker_was_away) {
	uint64_t now = 1;

	say_nothing_yet();
	watch_open(&service.watch, &server, now);
	for (unsigned look = 0; look < 2; look++) {
		workers[1].descheduled += 3;
		workers[1].longest_watch = UINT64_C(1) << 40; /* cycles: long on any machine */
		watch_away(&service.watch, now += WATCH_AWAY_NS);
	}
	watch_away(&service.watch, now += WATCH_AWAY_NS);
	assert_int_equal(
		log_pipe_count(log_pipe_read(&said), "core 3 was kept from its work 3 times"), 2);
	assert_int_equal(log_pipe_count(said.text, "was kept from"), 2);
	log_pipe_close(&said);
}

/* At the first look only where it is not up, and then each change once. */
TEST(ports_that_come_and_go) {
	static const enum server_port_state states[] = {SERVER_PORT_UP,	  SERVER_PORT_UP,
							SERVER_PORT_DOWN, SERVER_PORT_DOWN,
							SERVER_PORT_UP,	  SERVER_PORT_GONE};
	static struct service_group sg[] = {{.id = 7}, {.id = 9}};
	static struct served_group groups[] = {{.sg = &sg[0], .there = true},
					       {.sg = &sg[1], .there = true}};
	struct server_port *port = &server.ports.list[0];

	server.groups = groups;
	server.group_count = 2;
	server.ports.count = 2; /* the second one is not open */
	for (unsigned first = 0; first < 3; first += 2) {
		say_nothing_yet();
		*port = (struct server_port){.open = true, .name = "net_x"};
		watch_open(&service.watch, &server, 1);
		for (unsigned i = first; i < ARRAY_COUNT(states); i++) {
			port->state = states[i];
			port->open = states[i] != SERVER_PORT_GONE;
			watch_ports(&service.watch);
			watch_ports(&service.watch);
		}
		assert_int_equal(log_pipe_count(log_pipe_read(&said), ": net_x: link down"), 1);
		assert_int_equal(log_pipe_count(said.text, ": net_x: link up"), 1);
		assert_int_equal(log_pipe_count(said.text, "port network: net_x was taken away: "
							   "service groups without it: 7, 9"),
				 1);
		log_pipe_close(&said);
	}
	say_nothing_yet();
	*port = (struct server_port){.open = true, .name = "net_x"};
	watch_open(&service.watch, &server, 1);
	groups[0].there = groups[1].there = false;
	port->state = SERVER_PORT_GONE;
	watch_ports(&service.watch);
	assert_non_null(strstr(log_pipe_read(&said), "groups without it: \n"));
	log_pipe_close(&said);
	groups[0].there = groups[1].there = true;
}

TEST(what_changes_is_told) {
	static struct served_group groups[2];
	uint64_t now;

	service_open(&service, &server);
	service_ready(&service);
	hear();
	now = service.status_looked;
	server.groups = groups;
	server.group_count = 2;
	groups[0].there = groups[1].there = groups[1].drained = true;
	groups[0].live.modems = 3;
	groups[1].live.modems = 4;
	service_round_at(&service, now += SERVICE_STATUS_NS);
	assert_string_equal(hear(),
			    "STATUS=serving 2 service groups with 7 modems, 1 of them drained");
	service_round_at(&service, now += SERVICE_STATUS_NS);
	assert_string_equal(hear(), "");
}

TEST(an_abstract_socket) {
	close(sock);
	unlink(path);
	listen_at(true);
	service_open(&service, &server);
	service_ready(&service);
	assert_memory_equal(hear(), "READY=1\n", 8);
}

/* Said once, and harmless: no watchdog where its time is none, nothing where nobody listens. */
TEST(what_cannot_be_told_is_left) {
	static const char *const times[] = {"0", "", "soon", "-1", "99999999999999999999"};
	uint64_t now;

	for (unsigned i = 0; i < ARRAY_COUNT(times); i++) {
		setenv("WATCHDOG_USEC", times[i], 1);
		service_open(&service, &server);
		assert_int_equal(service.notify.watchdog_ns, 0);
	}
	setenv("WATCHDOG_USEC", "8000000", 1);
	setenv("WATCHDOG_PID", "1", 1); /* another's */
	service_open(&service, &server);
	assert_int_equal(service.notify.watchdog_ns, 0);
	unsetenv("WATCHDOG_PID");
	setenv("NOTIFY_SOCKET", "/nowhere/notify", 1);
	service_open(&service, &server);
	service_ready(&service);
	assert_true(service.notify.complained);
	now = service.alive;
	workers[0].rounds = workers[1].rounds = 1;
	service_round_at(&service, now + 100 * SECOND);
	service_stopping(&service);
	unsetenv("NOTIFY_SOCKET");
	service_open(&service, &server);
	assert_false(service.notify.on);
	service_ready(&service);
	assert_false(service.notify.complained);
	assert_string_equal(hear(), "");
}

EACH_TEST(setup, teardown)
