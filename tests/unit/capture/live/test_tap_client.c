/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a client of the capture socket. The test is the control thread, and fills the rings instead
 * of workers. Also tests accepting clients without free descriptors. Needs no EAL. */
#include "test_main.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "capture/live/buffer.h"
#include "capture/live/client.h"
#include "capture/live/service.h"

#define RING (UINT32_C(4) << 20)
#define SIZE 1000 /* bytes of a packet */
#define PACKETS 3000 /* more than fit into the output buffer */
#define POLLS 50 /* of the control thread, to measure CPU time */
#define POLL_US 5000
#define BUSY_MAX 200 /* allowed CPU use of an idle thread, per mille */

/* Blocks and their options (draft-ietf-opsawg-pcapng). */
enum { STATISTICS_BLOCK = 5, PACKET_BLOCK = 6 };
enum { PACKET_FLAGS = 2, STATISTICS_RECEIVED = 4 };
enum { OUTBOUND = 2 };

static struct server empty_server;
static struct tap_captures captures;
static struct tap_client client;
static int reader = -1;
static uint64_t now; /* ms */

static void send_request(const char *request, bool accepted) {
	int fds[2];

	memset(&empty_server, 0, sizeof(empty_server));
	assert_int_equal(tap_captures_open(&captures, &empty_server), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	reader = fds[1];
	tap_client_open(&client, &captures, fds[0], now);
	assert_int_equal(write(reader, request, strlen(request)), strlen(request));
	assert_int_equal(tap_client_serve(&client, POLLIN, now, false), accepted);
}

static struct tap_source *add_source(struct tap_capture *capture) {
	const struct tap_buffer_config config = {.snap = TAP_SNAP_MAX, .sample = 1, .ring = RING};
	struct tap_source *source = calloc(1, sizeof(*source));

	assert_non_null(source);
	source->buffer = tap_buffer_create(&config);
	source->direction = DIRECTION_DOWN;
	strcpy(source->name, "sg 1 downstream");
	capture->sources = reallocarray(capture->sources, capture->source_count + 1,
					sizeof(struct tap_source *));
	assert_non_null(source->buffer);
	assert_non_null(capture->sources);
	capture->sources[capture->source_count++] = source;
	return source;
}

/* Sends a valid request, and starts the capture with one source. */
static struct tap_source *begin_capture(const char *request) {
	struct tap_source *source;

	send_request(request, true);
	assert_non_null(client.capture);
	source = add_source(client.capture);
	client.capture->state = TAP_RUNNING;
	captures.wakeup = false;
	assert_true(tap_client_serve(&client, 0, now, false));
	client.output.ns_per_tick = 1;
	return source;
}

/* Serves the client once pending records are old enough to be written. */
static void serve_client(short events) {
	usleep(3000);
	assert_true(tap_client_serve(&client, events, now, false));
}

static void add_record(struct tap_source *source, struct tap_record record) {
	struct tap_record *r = tap_ring_reserve(&source->buffer->ring, (uint32_t)sizeof(*r) + SIZE);

	assert_non_null(r);
	*r = record;
	r->size = r->wire_size = SIZE;
	memset(r->bytes, 0, SIZE);
	tap_ring_put(&source->buffer->ring);
}

/* Adds `count` packets to the ring, `apart` ticks apart. */
static void add_packets(struct tap_source *source, unsigned count, uint64_t apart) {
	uint64_t first = rte_rdtsc();

	for (unsigned i = 0; i < count; i++)
		add_record(source, (struct tap_record){.tsc = first + i * apart,
						       .reason = DROP_NONE,
						       .side = TAP_OUT});
}

/* Bytes that the client received: the response line, then the file. */
static uint8_t file[2 * PACKETS * SIZE];
static size_t size;

/* Reads all bytes that are available. */
static void read_all(void) {
	ssize_t n;

	while ((n = recv(reader, file + size, sizeof(file) - size, MSG_DONTWAIT)) > 0)
		size += (size_t)n;
}

/* The value of an option in the bytes from `at` to `end`; 0 if absent. */
static uint64_t read_option(const uint8_t *at, const uint8_t *end, uint16_t option) {
	uint16_t head[2];
	uint64_t value = 0;

	for (; at + sizeof(head) <= end; at += sizeof(head) + (head[1] + 3u) / 4 * 4) {
		memcpy(head, at, sizeof(head));
		if (head[0] == option)
			memcpy(&value, at + sizeof(head), RTE_MIN(head[1], sizeof(value)));
	}
	return value;
}

/* Returns the number of packets in the file. Sums an option over all blocks of type `block`, which
 * have `fixed` bytes before their options. */
static unsigned count_packets(uint32_t block, uint32_t fixed, uint16_t option, uint64_t *sum) {
	const uint8_t *at = memchr(file, '\n', size);
	unsigned count = 0;
	uint32_t head[2];

	assert_non_null(at);
	*sum = 0;
	for (at++; at < file + size; at += head[1]) {
		memcpy(head, at, sizeof(head));
		assert_in_range(head[1], 12, file + size - at);
		count += head[0] == PACKET_BLOCK;
		if (head[0] == block)
			*sum += read_option(at + 8 + fixed, at + head[1] - 4, option);
	}
	return count;
}

/* Checks the number of packets, and that all are outbound. */
static void check_packets(unsigned count) {
	uint64_t flags;

	assert_int_equal(count_packets(PACKET_BLOCK, 20 + SIZE, PACKET_FLAGS, &flags), count);
	assert_int_equal(flags, count * OUTBOUND);
}

/* Requests the end of the capture, and reads until the client is closed. */
static void read_until_end(void) {
	bool open;

	assert_int_equal(shutdown(reader, SHUT_WR), 0);
	open = tap_client_serve(&client, POLLIN, now, false);
	assert_true(open);
	client.capture->state = TAP_ENDED;
	for (int round = 0; open && round < 1000; round++) {
		open = tap_client_serve(&client, POLLOUT, now, false);
		read_all();
	}
	assert_false(open);
	tap_client_close(&client);
	read_all();
}

/* A client that requests the end receives all records captured until then. */
TEST(end_delivers_all_captured_records) {
	add_packets(begin_capture("{\"rate\":1000000}\n"), PACKETS, 0);
	read_until_end();
	check_packets(PACKETS);
}

/* The control thread is woken once per end, as each wakeup replaces all views. */
TEST(end_wakes_control_thread_once) {
	add_packets(begin_capture("{\"count\":5}\n"), 10, 0);
	for (int round = 0; client.capture->state == TAP_RUNNING; round++) {
		assert_true(round < 1000);
		usleep(1000);
		assert_true(tap_client_serve(&client, 0, now, false));
	}
	assert_true(captures.wakeup);
	captures.wakeup = false;
	for (int round = 0; round < 10; round++)
		assert_true(tap_client_serve(&client, 0, now, false));
	assert_false(captures.wakeup);
}

TEST(rate_limit_uses_packet_times) {
	struct tap_source *source = begin_capture("{\"rate\":100}\n");

	add_packets(source, 100, 10000001);
	assert_null(tap_output_fill(&client.output, client.capture->sources, 1, UINT64_MAX));
	assert_int_equal(client.output.packets, 100);
	add_packets(source, 100, 1); /* above the rate */
	assert_null(tap_output_fill(&client.output, client.capture->sources, 1, UINT64_MAX));
	assert_in_range(client.output.limited, 80, 100);
}

/* Drops have an interface per stage, but one tally: its count is reported once. */
TEST(drops_are_counted_once_in_statistics) {
	struct tap_source *source = begin_capture("{\"dropped\":true}\n");
	uint64_t received;

	for (unsigned i = 0; i < 4; i++)
		add_record(source, (struct tap_record){.tsc = rte_rdtsc(),
						       .reason = DROP_FILTER_DENY,
						       .stage = i % 2,
						       .form = i / 2 ? TAP_DOCSIS : TAP_ETHERNET});
	add_packets(source, 3, 0);
	source->buffer->tallies[TAP_DROP_SLOT].matched = 40;
	source->buffer->tallies[tap_boundary(0, TAP_OUT)].matched = 500;
	now += 10000; /* a progress report is due */
	serve_client(POLLOUT);
	assert_string_equal(client.output.reported,
			    "captured: 7, matched: 540, beyond the rate: 0, missed: 0");
	read_until_end();
	check_packets(7);
	count_packets(STATISTICS_BLOCK, 12, STATISTICS_RECEIVED, &received);
	assert_int_equal(received, 540);
}

/* Sources of removed groups are freed; only their sums are kept. */
TEST(sources_of_removed_groups_are_freed) {
	begin_capture("{}\n");
	for (unsigned count = 1; count <= 20; count++) {
		struct tap_source *source = add_source(client.capture);

		add_packets(source, 3, 0);
		source->buffer->tallies[0].matched = source->buffer->tallies[0].missed = 10;
		source->removed = true;
		serve_client(POLLOUT);
		assert_int_equal(client.capture->source_count, 1);
		assert_int_equal(client.output.retired_interfaces, count);
	}
	client.capture->sources[0]->removed = true; /* the last source */
	serve_client(POLLOUT);
	assert_int_equal(client.capture->source_count, 0);
	assert_string_equal(client.why, TAP_END_GONE);
	client.capture->state = TAP_ENDED;
	assert_false(tap_client_serve(&client, POLLOUT, now, false));
	assert_int_equal(client.output.missed, 200);
	read_all();
	check_packets(60);
}

/* While a request is pending, the client is not polled for input. If it hangs up, it is closed. */
TEST(pending_client_is_not_polled_for_input) {
	send_request("{}\nand more\n", true);
	assert_int_equal(tap_client_events(&client), 0);
	assert_true(tap_client_serve(&client, 0, now, false));
	assert_false(tap_client_serve(&client, POLLHUP, now, false));
}

/* The write timeout starts with the first pending byte, not with the latest write. */
TEST(write_timeout_starts_with_pending_data) {
	uint8_t filler[4096] = {0};

	begin_capture("{}\n");
	for (int round = 0; tap_output_pending(&client.output) > 0; round++) {
		assert_true(round < 1000);
		assert_true(tap_client_serve(&client, POLLOUT, now, false));
	}
	while (send(client.fd, filler, sizeof(filler), MSG_DONTWAIT) > 0)
		;
	now += 3600000;
	add_packets(client.capture->sources[0], 1, 0);
	serve_client(0);
	assert_true(tap_output_pending(&client.output) > 0);
	now += 9000;
	assert_true(tap_client_serve(&client, 0, now, false));
	now += 1000;
	assert_false(tap_client_serve(&client, 0, now, false));
}

/* A refusal quotes text of the request without control and non-ASCII characters. */
TEST(refusal_quotes_printable_text) {
	send_request("{\"stages\":[\"a\\u001b[2J\xc3\xbc\"]}\n", false);
	read_all();
	file[size] = '\0';
	assert_non_null(strstr((const char *)file, "unknown stage \\\"a?[2J??\\\";"));
	for (size_t i = 0; i + 1 < size; i++)
		assert_in_range(file[i], ' ', '~');
}

static struct tap_service service;

static uint64_t read_clock(clockid_t clock) {
	struct timespec t;

	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* CPU use of the service thread while the test sleeps, per mille. */
static uint64_t measure_cpu_use(void) {
	uint64_t cpu_use, begun;
	clockid_t clock;

	assert_int_equal(pthread_getcpuclockid(service.thread, &clock), 0);
	cpu_use = read_clock(clock);
	begun = read_clock(CLOCK_MONOTONIC);
	usleep(POLLS * POLL_US);
	return 1000 * (read_clock(clock) - cpu_use) / (read_clock(CLOCK_MONOTONIC) - begun);
}

/* Without free descriptors, a client waits to be accepted, and the thread does not spin. */
TEST(client_waits_for_free_descriptor) {
	struct rlimit before, none;
	uint64_t cpu_use;
	char path[108], line[512] = "";
	ssize_t n;
	int fd, more[TAP_CLIENTS + 2]; /* poll() needs a limit above its number of descriptors */

	memset(&service, 0, sizeof(service));
	memset(&empty_server, 0, sizeof(empty_server));
	snprintf(path, sizeof(path), "/tmp/vcmts-test-%d-capture.sock", (int)getpid());
	assert_int_equal(tap_service_listen(&service, path, 0600), 0);
	assert_int_equal(tap_service_start(&service, &empty_server), 0);
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
	cpu_use = measure_cpu_use();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	for (unsigned i = 0; i < ARRAY_COUNT(more); i++)
		close(more[i]);
	assert_in_range(cpu_use, 0, BUSY_MAX);
	assert_int_equal(write(fd, "{}\n", 3), 3);
	while ((n = recv(fd, line, sizeof(line) - 1, MSG_DONTWAIT)) < 0) {
		tap_service_update(&service); /* normally called by the control thread */
		usleep(POLL_US);
	}
	assert_non_null(strstr(line, "no service group 0"));
	close(fd);
	assert_in_range(measure_cpu_use(), 0, BUSY_MAX); /* each wakeup was consumed */
	tap_service_close(&service);
	assert_int_equal(access(path, F_OK), -1);
}

static int close_client(void **state) {
	if (reader < 0)
		return 0;
	size = 0;
	tap_client_close(&client);
	if (client.capture != NULL) {
		tap_captures_stop(&captures);
		tap_client_close(&client);
	}
	assert_null(client.capture);
	close(reader);
	reader = -1;
	tap_captures_close(&captures);
	return 0;
}

EACH_TEST(NULL, close_client)
