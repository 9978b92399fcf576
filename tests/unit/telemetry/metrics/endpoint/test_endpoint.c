/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the parts of the metrics endpoint: listen.c (addresses of --metrics), request.c (path and format; RFC 9110,
 * 12.4.2 and 12.5.1, RFC 9112, 3.2.2), query.c, pages.c (the cache of pages), health.c (readiness and liveness). */
#include "test_main.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "telemetry/metrics/endpoint/health.h"
#include "telemetry/metrics/endpoint/listen.h"
#include "telemetry/metrics/endpoint/pages.h"
#include "telemetry/metrics/endpoint/request.h"

static char where[LISTEN_TEXT]; /* the address of the socket */
static int family, fault;

/* The loopback address depends on the process ID, so that parallel runs do not collide. */
TEST(listen_accepts_port_65535) {
	char address[64];
	int fd, pid = getpid();

	snprintf(address, sizeof(address), "127.%d.%d.%d:65535", 1 + (pid >> 16 & 63),
		 pid >> 8 & 255, pid & 255);
	fd = listen_open(address, where, &family, &fault);
	assert_true(fd >= 0 && family == AF_INET);
	assert_string_equal(where, address);
	close(fd);
}

TEST(listen_accepts_ipv6) {
	int fd = listen_open("[::1]:0", where, &family, &fault);

	if (fd < 0 && (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT))
		skip(); /* IPv6 is disabled */
	assert_true(fd >= 0 && family == AF_INET6);
	assert_int_equal(strncmp(where, "[::1]:", 6), 0);
	close(fd);
}

TEST(listen_rejects_invalid_addresses) {
	static const char *const addresses[] = {"",
						"127.0.0.1",
						"127.0.0.1:",
						"127.0.0.1:65536",
						"127.0.0.1:x",
						"::1:9464",
						"[::1]",
						"[127.0.0.1]:9464",
						"127.0.0.1:000001",
						"localhost:9464",
						"1.2.3:9464x",
						"[fe80::1%]:9464"};

	for (size_t i = 0; i < ARRAY_COUNT(addresses); i++) {
		fault = EIO;
		assert_int_equal(listen_open(addresses[i], where, &family, &fault), -1);
		assert_int_equal(fault, 0);
	}
}

/* The kernel never binds a link-local address without its interface. */
TEST(listen_rejects_link_local_address_without_interface) {
	assert_int_equal(listen_open("[fe80::1]:9464", where, &family, &fault), -1);
	if (fault == EADDRNOTAVAIL || fault == EAFNOSUPPORT)
		skip(); /* IPv6 is disabled */
	assert_int_equal(fault, 0);
}

/* Documentation addresses (RFC 5737) and an interface that this machine lacks, and a port that is taken. */
TEST(listen_reports_what_may_pass) {
	int fd = listen_open("127.0.0.1:0", where, &family, &fault);
	char taken[LISTEN_TEXT];

	assert_true(fd >= 0);
	memcpy(taken, where, sizeof(taken));
	assert_int_equal(listen_open(taken, where, &family, &fault), -1);
	assert_int_equal(fault, EADDRINUSE);
	close(fd);
	assert_int_equal(listen_open("192.0.2.1:9464", where, &family, &fault), -1);
	assert_int_equal(fault, EADDRNOTAVAIL);
	assert_int_equal(listen_open("[fe80::1%absent0]:9464", where, &family, &fault), -1);
	assert_int_equal(fault, ENODEV);
	assert_int_equal(listen_open("[1%absent0]:9464", where, &family, &fault), -1);
	assert_int_equal(fault, 0);
}

TEST(path_of_request_target) {
	static const char *const cases[][2] = {
		{"/metrics", "/metrics"},
		{"http://host/metrics", "/metrics"},
		{"http://[::1]:9464/metrics", "/metrics"},
		{"HTTPS://user@host:1/metrics", "/metrics"},
		{"http://host", "/"},
		{"http://", "/"},
		{"http:///metrics", "/metrics"},
		{"http:/metrics", "http:/metrics"},
		{"ftp://host/metrics", "ftp://host/metrics"},
		{"/http://host/metrics", "/http://host/metrics"},
		{"*", "*"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(request_path(cases[i][0]), cases[i][1]);
}

static enum metrics_format parse_format(const char *first, const char *second) {
	struct request_accept accept = {0};

	if (first != NULL)
		request_accept_add(&accept, first);
	if (second != NULL)
		request_accept_add(&accept, second);
	return request_format(&accept);
}

#define OPEN "application/openmetrics-text"

static const struct {
	const char *accept;
	enum metrics_format format;
} cases[] = {
	{"", METRICS_PROMETHEUS},
	{"*/*", METRICS_PROMETHEUS},
	{"text/plain", METRICS_PROMETHEUS},
	{OPEN, METRICS_OPEN},
	{"Application/OpenMetrics-Text", METRICS_OPEN},
	{OPEN ";q=0", METRICS_PROMETHEUS},
	{OPEN "; q=0.000 , text/plain", METRICS_PROMETHEUS},
	{OPEN " ;\tQ=0", METRICS_PROMETHEUS},
	{OPEN ";version=1.0.0;q=0.001", METRICS_OPEN},
	{OPEN ";version=1.0.0,text/plain;version=0.0.4", METRICS_OPEN},
	{OPEN ";q=0.3,text/plain;q=0.4", METRICS_PROMETHEUS},
	{OPEN ";q=0.40,text/plain;q=0.4", METRICS_OPEN},
	{OPEN ";q=0.399,text/plain;q=0.4", METRICS_PROMETHEUS},
	{OPEN ";q=0.3,*/*;q=0.9", METRICS_PROMETHEUS},
	{OPEN ";q=0.9,*/*;q=0.3", METRICS_OPEN},
	{"*/*;q=0.3," OPEN ";q=0", METRICS_PROMETHEUS},
	{"*/*, text/plain;q=0", METRICS_OPEN}, /* the more specific range applies */
	{"text/plain;q=0,*/*", METRICS_OPEN},
	{"text/*;q=0.1, */*;q=0.2", METRICS_OPEN},
	{"application/*", METRICS_OPEN},
	{"application/*;q=0.5, */*;q=0.5", METRICS_PROMETHEUS},
	{"application/*;q=0.5, " OPEN ";q=0", METRICS_PROMETHEUS},
	/* Prometheus 2 and 3 */
	{OPEN ";version=1.0.0;q=0.5," OPEN
	      ";version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
	 METRICS_OPEN},
	{"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.6," OPEN ";version=1.0.0;q=0.5",
	 METRICS_PROMETHEUS},
	/* similar names that do not match */
	{OPEN "x", METRICS_PROMETHEUS},
	{"x" OPEN, METRICS_PROMETHEUS},
	{"text/html;a=\"," OPEN ",\"", METRICS_PROMETHEUS},
	{"text/html;a=\"\\\"," OPEN "\"", METRICS_PROMETHEUS},
	{"text/html;a=\"\\\"\"," OPEN, METRICS_OPEN},
	{OPEN ";x=\"a;q=0\"", METRICS_OPEN},
	/* malformed: skipped */
	{OPEN ";q=", METRICS_PROMETHEUS},
	{OPEN ";q=2", METRICS_PROMETHEUS},
	{OPEN ";q=1.001", METRICS_PROMETHEUS},
	{OPEN ";q=0.5x", METRICS_PROMETHEUS},
	{OPEN ";q=0.0001", METRICS_PROMETHEUS},
	{OPEN ";q=1.000", METRICS_OPEN},
	{OPEN ";q=1.", METRICS_OPEN},
	{",,;,/, " OPEN, METRICS_OPEN},
	{"text/plain;q=0.9;x=1," OPEN ";q=1", METRICS_OPEN},
	{"\"", METRICS_PROMETHEUS},
	{"a;\"\\", METRICS_PROMETHEUS},
};

TEST(format_follows_accept_header) {
	assert_int_equal(parse_format(NULL, NULL), METRICS_PROMETHEUS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (parse_format(cases[i].accept, NULL) != cases[i].format)
			fail_msg("wrong format for Accept: %s", cases[i].accept);
	}
	assert_int_equal(parse_format("text/plain;q=0.5", OPEN), METRICS_OPEN);
	assert_int_equal(parse_format(OPEN ";q=0.1", "text/plain;q=0.5"), METRICS_PROMETHEUS);
}

static struct server server;
static const struct metrics_source source = {.server = &server, .version = "1"};
static struct metrics_http_counts counts;

static struct pages open_pages(size_t limit) {
	server.group_count = server.worker_count = server.ports.count = 0;
	memset(&counts, 0, sizeof(counts));
	return (struct pages){.max = limit, .counts = &counts};
}

/* Builds a query from names and values, in alternation, up to NULL. */
static struct metrics_query *build_query(struct metrics_query *q, const char *const words[]) {
	memset(q, 0, sizeof(*q));
	for (unsigned i = 0; words[i] != NULL; i += 2)
		metrics_query_add(q, words[i], words[i + 1]);
	return q;
}

#define QUERY(q, ...) build_query(q, (const char *const[]){__VA_ARGS__, NULL})
#define NAMES_QUERY(q, name) QUERY(q, "names", name)

TEST(queries_with_delimiters_have_distinct_keys) {
	static const char *const names[] = {"a&service_group=1", "a&3=1", "a&3=1:1"};
	struct metrics_query one, two;

	QUERY(&two, "names", "a", "service_group", "1");
	assert_true(metrics_query_end(&two));
	for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
		assert_true(metrics_query_end(NAMES_QUERY(&one, names[i])));
		assert_string_not_equal(one.key, two.key);
	}
}

TEST(invalid_queries_are_rejected) {
	static const char *const mac = "02:00:00:00:00:01", *const other = "02:00:00:00:00:02";
	const char *const invalid[][7] = {
		{"modems", mac, "flows", other},
		{"modems", "all", "flows", mac, "service_group", "1"},
		{"modems", mac, "flows", "all", "service_group", "1"},
		{"service_group", "1", "service_group", "2"},
		{"names", "a", "names", "a"},
		{"modems", mac, "modems", mac},
		{"", NULL},
	};
	char names[QUERY_KEY - 20];
	struct metrics_query q;

	assert_true(metrics_query_end(QUERY(&q, "modems", mac, "flows", mac)));
	assert_memory_equal(q.selection.modem, "\x02\0\0\0\0\x01", 6);
	for (unsigned i = 0; i < ARRAY_COUNT(invalid); i++)
		assert_false(metrics_query_end(build_query(&q, invalid[i])));
	/* each value is short enough, but the key of all is too long */
	memset(names, 'v', sizeof(names) - 1);
	names[sizeof(names) - 1] = '\0';
	for (unsigned i = 50; i < sizeof(names) - 1; i += 50)
		names[i] = ',';
	assert_false(metrics_query_end(QUERY(&q, "modems", mac, "flows", mac, "names", names)));
	assert_string_equal(q.wrong, "the query is too long");
}

/* The failure of a page that is too large is cached, and not repeated for each request. */
TEST(failure_of_large_page_is_cached) {
	struct pages p = open_pages(8);
	struct metrics_query q;
	unsigned code = 0;

	NAMES_QUERY(&q, "vcmts_tsc_hz");
	assert_null(pages_get(&p, &source, &q, METRICS_OPEN, &code));
	assert_int_equal(code, 413);
	code = 0;
	for (unsigned i = 0; i < 100; i++)
		assert_null(pages_get(&p, &source, &q, METRICS_OPEN, &code));
	assert_int_equal(code, 413);
	assert_in_range(counts.pages, 1, 50);
	assert_in_range(counts.page_ns, 1, 3600000000000);
	for (unsigned i = 0; i < PAGES; i++)
		p.list[i].made -= PAGES_AGE_MS;
	p.max = PAGES_MAX_SIZE;
	assert_non_null(pages_get(&p, &source, &q, METRICS_OPEN, &code));
	pages_clear(&p);
	assert_int_equal(p.bytes, 0);
}

/* Requests one filtered page more than the cache has slots for. Returns whether the last request failed with 503. */
static bool fill_filtered_slots(struct pages *p) {
	struct metrics_query q;
	unsigned code = 0;

	for (unsigned i = 0; i < PAGES - PAGES_WHOLE; i++)
		pages_get(p, &source, NAMES_QUERY(&q, &"zzzz"[i]), METRICS_OPEN, &code);
	return pages_get(p, &source, NAMES_QUERY(&q, "y"), METRICS_OPEN, &code) == NULL &&
	       code == 503;
}

TEST(unfiltered_pages_have_reserved_slots) {
	struct pages p = open_pages(PAGES_MAX_SIZE);
	struct metrics_query q;
	unsigned code = 0;
	bool full = false;

	for (unsigned tries = 0; tries < 100 && !full; tries++) /* pages may expire meanwhile */
		full = fill_filtered_slots(&p);
	assert_true(full);
	NAMES_QUERY(&q, "vcmts_tsc_hz")->key[0] = '\0';
	assert_non_null(pages_get(&p, &source, &q, METRICS_OPEN, &code));
	assert_non_null(pages_get(&p, &source, &q, METRICS_PROMETHEUS, &code));
	pages_clear(&p);
	assert_int_equal(p.bytes, 0);
}

#define SECOND UINT64_C(1000000000)
#define WORKERS 2
#define GROUPS 2

static struct worker workers[WORKERS];
static struct served_group groups[GROUPS];
static const struct service_group ids[GROUPS] = {{.id = 7}, {.id = 9}};
static struct health health;
static char why[HEALTH_LINE];

/* Two groups in service that share the network port. */
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
		groups[g] = (struct served_group){.in_service = true, .sg = &ids[g]};
		server.ports.of[g][DEVICE_RPHY] = g + 1;
		server.ports.of[g][DEVICE_CONTROL] = SERVER_NO_PORT;
	}
	return pthread_rwlock_init(&server.lock, NULL);
}

static void check_ready(const char *expected) {
	bool ready = health_ready(&health, &server, why);

	assert_string_equal(ready ? "" : why, expected);
}

TEST(readiness_needs_links) {
	struct server_port *ports = server.ports.list;

	check_ready("");
	ports[2].state = SERVER_PORT_DOWN;
	check_ready("service group 9: R-PHY port net_x1: link down");
	groups[1].drained = true; /* a drained group needs no link */
	check_ready("");
	ports[0].state = SERVER_PORT_DOWN;
	check_ready("service group 7: network port : link down");
	ports[0].state = SERVER_PORT_UP;
	ports[1].open = false;
	check_ready("service group 7: R-PHY port : not open");
	ports[1].state = SERVER_PORT_GONE;
	check_ready("service group 7: R-PHY port : device removed");
	groups[0].in_service = false;
	check_ready("all service groups are drained");
	groups[1].in_service = false;
	check_ready("no service group");
}

/* Checks `count` times, once per second, while worker `worker` makes rounds. Returns whether all workers are live. */
static bool check_seconds(unsigned count, uint64_t *now, unsigned worker) {
	for (; count > 0; count--) {
		workers[worker].rounds++;
		health_check(&health, &server, *now += SECOND);
	}
	return health_live(&health, &server, why);
}

/* A worker without rounds is reported, even if other workers make rounds. */
TEST(stalled_worker_is_not_live) {
	uint64_t now = 100 * SECOND;

	health_check(&health, &server, now);
	assert_true(check_seconds(3, &now, 0));
	assert_false(check_seconds(1, &now, 0));
	assert_string_equal(why, "the worker on core 3 has made no round for 5 s");
	check_ready(why);
	assert_true(check_seconds(1, &now, 1));
	check_ready("");
	assert_false(check_seconds(4, &now, 1)); /* now the first worker */
}

/* The whole process was stopped: the time without checks does not count as a stall. */
TEST(gap_between_checks_is_no_stall) {
	for (unsigned i = 1; i <= 3; i++)
		health_check(&health, &server, i * 100 * SECOND);
	assert_true(health_live(&health, &server, why));
	health_check(&health, &server, 400 * SECOND);
	assert_false(health_live(&health, &server, why));
}

EACH_TEST(setup, NULL)
