/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests service.c and watch.c: notifications to systemd, received by a socket here, and log messages. */
#include "test_main.h"

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
static char notification[TEXT];

/* The next notification; empty if none is pending. */
static const char *receive(void) {
	ssize_t size = recv(sock, notification, sizeof(notification) - 1, MSG_DONTWAIT);

	notification[size > 0 ? size : 0] = '\0';
	return notification;
}

/* Creates the socket that systemd would have, as a file or abstract, and sets NOTIFY_SOCKET. */
static int open_socket(bool abstract) {
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
	return open_socket(false);
}

static int teardown(void **state) {
	close(sock);
	unlink(path);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	return 0;
}

static void open_service(void) {
	service_open(&service, &server);
	service_ready(&service);
}

TEST(start_reload_and_stop_are_notified) {
	static const char ready[] = "READY=1\nSTATUS=serving 0 service groups with 0 modems";
	unsigned long long usec = 0, before;
	struct reload reload = {0};

	service_open(&service, &server);
	service_watch_reloads(&service, &reload);
	assert_string_equal(receive(), "");
	service_ready(&service);
	assert_string_equal(receive(), ready);
	reload.watcher(reload.watcher_ctx, RELOAD_BEGINS);
	assert_int_equal(
		sscanf(receive(), "RELOADING=1\nMONOTONIC_USEC=%llu\nSTATUS=reading", &usec), 1);
	before = service.alive / 1000; /* monotonic time of service_ready() */
	assert_in_range(usec, before, before + 3600ull * 1000000);
	reload.watcher(reload.watcher_ctx, RELOAD_IS_DONE);
	assert_string_equal(receive(), ready);
	service_stopping(&service);
	assert_memory_equal(receive(), "STOPPING=1\nSTATUS=stopping", 26);
	assert_string_equal(receive(), "");
}

/* The status reports a refused reload until a reload succeeds. */
TEST(refused_reload_stays_in_status) {
	static const char serving[] = "READY=1\nSTATUS=serving 0 service groups with 0 modems";
	struct reload reload = {.line = "sg.yaml: 1 mistake", .refused = true};
	char text[TEXT];

	service_open(&service, &server);
	service_watch_reloads(&service, &reload);
	service_ready(&service);
	snprintf(text, sizeof(text), "%s; reload refused: sg.yaml: 1 mistake", serving);
	assert_string_equal(receive(), text);
	service_round_at(&service, service.alive + SERVICE_STATUS_NS);
	assert_string_equal(receive(), ""); /* the same status */
	reload.refused = false;
	service_round_at(&service, service.alive + 2 * SERVICE_STATUS_NS);
	assert_string_equal(receive(), serving + 8);
}

/* WATCHDOG=1 needs a round of every worker since the previous one, and at least a quarter of WATCHDOG_USEC. */
TEST(watchdog_needs_rounds_of_all_workers) {
	uint64_t now;

	open_service();
	assert_int_equal(service.notify.watchdog_ns, 8 * SECOND);
	receive();
	now = service.alive;
	for (unsigned i = 0; i < 3; i++) {
		workers[0].rounds++;
		workers[1].rounds++;
		service_round_at(&service, now += SECOND);
		assert_string_equal(receive(), "");
		service_round_at(&service, now += SECOND);
		assert_string_equal(receive(), "WATCHDOG=1");
		assert_string_equal(receive(), "");
	}
	for (unsigned i = 0; i < 1000; i++) { /* only one worker makes rounds */
		workers[0].rounds++;
		service_round_at(&service, now += SECOND);
		assert_string_equal(receive(), "");
	}
	workers[1].rounds++;
	service_round_at(&service, now);
	assert_string_equal(receive(), "WATCHDOG=1");
}

TEST(stop_of_process_is_no_stall) {
	uint64_t now = 1;

	watch_open(&service.watch, &server, now);
	for (unsigned i = 0; i < 3; i++)
		watch_workers(&service.watch, now += 100 * SECOND);
	assert_false(service.watch.workers[0].stalled);
	for (unsigned i = 0; i < 100; i++) /* less than WATCH_STALL_NS in total */
		watch_workers(&service.watch, now += WATCH_STEP_NS / 100);
	assert_false(service.watch.workers[0].stalled);
	for (unsigned i = 0; i < WATCH_STALL_NS / WATCH_STEP_NS; i++)
		watch_workers(&service.watch, now += WATCH_STEP_NS);
	assert_true(service.watch.workers[0].stalled && service.watch.workers[1].stalled);
	workers[1].rounds++;
	watch_workers(&service.watch, ++now);
	assert_true(service.watch.workers[0].stalled && !service.watch.workers[1].stalled);
}

static struct log_pipe log_output;

static void open_log(void) {
	memset(&log_output, 0, sizeof(log_output));
	log_pipe_open(&log_output, LOG_PLAIN, LEVEL_INFO);
}

TEST(descheduled_worker_is_logged_per_check) {
	uint64_t now = 1;

	open_log();
	watch_open(&service.watch, &server, now);
	for (unsigned check = 0; check < 2; check++) {
		workers[1].descheduled += 3;
		workers[1].longest_control = UINT64_C(1) << 40; /* cycles: long on any machine */
		watch_long_rounds(&service.watch, now += WATCH_LONG_ROUND_REPORT_NS);
	}
	watch_long_rounds(&service.watch, now += WATCH_LONG_ROUND_REPORT_NS);
	assert_int_equal(
		log_pipe_count(log_pipe_read(&log_output), "core 3 was kept from its work 3 times"),
		2);
	assert_int_equal(log_pipe_count(log_output.text, "was kept from its work"), 2);
	log_pipe_close(&log_output);
}

static void open_port_watch(void) {
	open_log();
	server.ports.list[0] = (struct server_port){.open = true, .name = "net_x"};
	watch_open(&service.watch, &server, 1);
}

/* The first check reports a port that is not up; later checks report each change once. */
TEST(port_state_changes_are_logged_once) {
	static const enum server_port_state states[] = {SERVER_PORT_UP,	  SERVER_PORT_UP,
							SERVER_PORT_DOWN, SERVER_PORT_DOWN,
							SERVER_PORT_UP,	  SERVER_PORT_GONE};
	static const char removed[] =
		"port network: net_x was removed: service groups without it: 7, 9";
	static struct service_group sg[] = {{.id = 7}, {.id = 9}};
	struct served_group groups[] = {{.sg = &sg[0], .in_service = true},
					{.sg = &sg[1], .in_service = true}};
	struct server_port *port = &server.ports.list[0];

	server.groups = groups;
	server.group_count = 2;
	server.ports.count = 2; /* the second one is not open */
	for (unsigned first = 0; first < 3; first += 2) {
		open_port_watch();
		for (unsigned i = first; i < ARRAY_COUNT(states); i++) {
			port->state = states[i];
			port->open = states[i] != SERVER_PORT_GONE;
			watch_ports(&service.watch);
			watch_ports(&service.watch);
		}
		assert_int_equal(log_pipe_count(log_pipe_read(&log_output), ": net_x: link down"),
				 1);
		assert_int_equal(log_pipe_count(log_output.text, ": net_x: link up"), 1);
		assert_int_equal(log_pipe_count(log_output.text, removed), 1);
		log_pipe_close(&log_output);
	}
	open_port_watch();
	groups[0].in_service = groups[1].in_service = false;
	port->state = SERVER_PORT_GONE;
	watch_ports(&service.watch);
	assert_non_null(strstr(log_pipe_read(&log_output), "groups without it: \n"));
	log_pipe_close(&log_output);
}

TEST(changed_status_is_notified_once) {
	static struct served_group groups[2];
	uint64_t now;

	open_service();
	receive();
	now = service.status_checked;
	server.groups = groups;
	server.group_count = 2;
	groups[0].in_service = groups[1].in_service = groups[1].drained = true;
	groups[0].live.modems = 3;
	groups[1].live.modems = 4;
	service_round_at(&service, now += SERVICE_STATUS_NS);
	assert_string_equal(receive(),
			    "STATUS=serving 2 service groups with 7 modems, 1 of them drained");
	service_round_at(&service, now += SERVICE_STATUS_NS);
	assert_string_equal(receive(), "");
}

TEST(abstract_socket_is_supported) {
	close(sock);
	unlink(path);
	open_socket(true);
	open_service();
	assert_memory_equal(receive(), "READY=1\n", 8);
}

/* An invalid WATCHDOG_USEC or another process's WATCHDOG_PID disables the watchdog. A missing socket is logged once. */
TEST(invalid_environment_disables_notifications) {
	static const char *const times[] = {"0", "", "soon", "-1", "99999999999999999999"};
	uint64_t now;

	for (unsigned i = 0; i < ARRAY_COUNT(times); i++) {
		setenv("WATCHDOG_USEC", times[i], 1);
		service_open(&service, &server);
		assert_int_equal(service.notify.watchdog_ns, 0);
	}
	setenv("WATCHDOG_USEC", "8000000", 1);
	setenv("WATCHDOG_PID", "1", 1); /* another process */
	service_open(&service, &server);
	assert_int_equal(service.notify.watchdog_ns, 0);
	unsetenv("WATCHDOG_PID");
	setenv("NOTIFY_SOCKET", "/nowhere/notify", 1);
	open_service();
	assert_true(service.notify.complained);
	now = service.alive;
	workers[0].rounds = workers[1].rounds = 1;
	service_round_at(&service, now + 100 * SECOND);
	service_stopping(&service);
	unsetenv("NOTIFY_SOCKET");
	open_service();
	assert_false(service.notify.on || service.notify.complained);
	assert_string_equal(receive(), "");
}

EACH_TEST(setup, teardown)
