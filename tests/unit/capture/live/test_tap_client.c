/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the capture socket, whose rings the test fills, and for whom it is the control thread; and the socket of a
 * server without groups: who comes is taken when that can be, and answered. No EAL is needed. */
#include "test_main.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "capture/live/client.h"
#include "capture/live/end.h"
#include "capture/live/service.h"

#define RING (UINT32_C(4) << 20)
#define SIZE 1000 /* bytes of a packet */
#define HELD 3000 /* packets, more than an output has capacity for */
#define LOOKS 50 /* of the control thread, which has 5 ms between two */
#define LOOK_US 5000
#define BUSY_MOST 200 /* of 1,000 parts of a time in which there is nothing to do */

/* Blocks of a file, and options of theirs (draft-ietf-opsawg-pcapng). */
enum { STATISTICS_BLOCK = 5, PACKET_BLOCK = 6 };
enum { PACKET_FLAGS = 2, STATISTICS_RECEIVED = 4 };
enum { OUTBOUND = 2 };

static struct server nothing;
static struct tap_captures captures;
static struct tap_client client;
static int reader = -1;
static uint64_t now; /* ms */

static void client_ask(const char *request, bool good) {
	int fds[2];

	memset(&nothing, 0, sizeof(nothing));
	assert_int_equal(tap_captures_open(&captures, &nothing), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	reader = fds[1];
	tap_client_open(&client, &captures, fds[0], now);
	assert_int_equal(write(reader, request, strlen(request)), strlen(request));
	assert_int_equal(tap_client_serve(&client, POLLIN, now, false), good);
}

static struct tap_source *cluster_add(struct tap_capture *capture) {
	const struct tap_end_config config = {.snap = TAP_SNAP_MAX, .sample = 1, .ring = RING};
	struct tap_source *source = calloc(1, sizeof(*source));

	assert_non_null(source);
	source->end = tap_end_create(&config);
	source->direction = DIRECTION_DOWN;
	strcpy(source->name, "sg 1 downstream");
	capture->sources = reallocarray(capture->sources, capture->source_count + 1,
					sizeof(struct tap_source *));
	assert_non_null(source->end);
	assert_non_null(capture->sources);
	capture->sources[capture->source_count++] = source;
	return source;
}

/* A request that is granted, with one source. */
static struct tap_source *client_begin(const char *request) {
	struct tap_source *source;

	client_ask(request, true);
	assert_non_null(client.capture);
	source = cluster_add(client.capture);
	client.capture->state = TAP_RUNNING;
	captures.wakeup = false;
	assert_true(tap_client_serve(&client, 0, now, false));
	client.output.ns_per_tick = 1;
	return source;
}

/* A round when what came is old enough to be reported. */
static void client_take(short events) {
	usleep(3000);
	assert_true(tap_client_serve(&client, events, now, false));
}

static void record_come(struct tap_source *source, struct tap_record record) {
	struct tap_record *r = tap_ring_reserve(&source->end->ring, (uint32_t)sizeof(*r) + SIZE);

	assert_non_null(r);
	*r = record;
	r->size = r->wire_size = SIZE;
	memset(r->bytes, 0, SIZE);
	tap_ring_put(&source->end->ring);
}

/* `apart`: ticks between two of them. */
static void packets_come(struct tap_source *source, unsigned count, uint64_t apart) {
	uint64_t first = rte_rdtsc();

	for (unsigned i = 0; i < count; i++)
		record_come(source, (struct tap_record){.tsc = first + i * apart,
							.reason = DROP_NONE,
							.side = TAP_OUT});
}

static uint8_t file[2 * HELD * SIZE]; /* that came, behind the line of the answer */
static size_t size;

/* As far as it is there. */
static void read_all(void) {
	ssize_t n;

	while ((n = recv(reader, file + size, sizeof(file) - size, MSG_DONTWAIT)) > 0)
		size += (size_t)n;
}

/* An option of a block, 0 where it is not there. `at`: behind the fixed fields. */
static uint64_t option_of(const uint8_t *at, const uint8_t *end, uint16_t wanted) {
	uint16_t head[2];
	uint64_t value = 0;

	for (; at + sizeof(head) <= end; at += sizeof(head) + (head[1] + 3u) / 4 * 4) {
		memcpy(head, at, sizeof(head));
		if (head[0] == wanted)
			memcpy(&value, at + sizeof(head), RTE_MIN(head[1], sizeof(value)));
	}
	return value;
}

/* Returns how many packets came. Of a kind of blocks, whose fixed fields take `fixed` bytes, an option is summed up. */
static unsigned packets_in(uint32_t block, uint32_t fixed, uint16_t option, uint64_t *sum) {
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
			*sum += option_of(at + 8 + fixed, at + head[1] - 4, option);
	}
	return count;
}

/* Each came out of a port of ours. */
static void packets_are(unsigned count) {
	uint64_t flags;

	assert_int_equal(packets_in(PACKET_BLOCK, 20 + SIZE, PACKET_FLAGS, &flags), count);
	assert_int_equal(flags, count * OUTBOUND);
}

/* All until the end that the client asks for. */
static void read_until_end(void) {
	bool there;

	assert_int_equal(shutdown(reader, SHUT_WR), 0);
	there = tap_client_serve(&client, POLLIN, now, false);
	assert_true(there);
	client.capture->state = TAP_ENDED;
	for (int round = 0; there && round < 1000; round++) {
		there = tap_client_serve(&client, POLLOUT, now, false);
		read_all();
	}
	assert_false(there);
	tap_client_close(&client);
	read_all();
}

/* Who asks for the end gets all that was taken until then, however slowly it reads. */
TEST(all_until_the_end) {
	packets_come(client_begin("{\"rate\":1000000}\n"), HELD, 0);
	read_until_end();
	packets_are(HELD);
}

/* The control thread hears of an end once: for each wakeup it makes all views anew. */
TEST(told_once) {
	packets_come(client_begin("{\"count\":5}\n"), 10, 0);
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

/* Copies that this thread finds late, all at once, are within the rate, as they came in their time. */
TEST(rate_by_their_time) {
	struct tap_source *source = client_begin("{\"rate\":100}\n");

	packets_come(source, 100, 10000001);
	assert_null(tap_output_fill(&client.output, client.capture->sources, 1, UINT64_MAX));
	assert_int_equal(client.output.packets, 100);
	packets_come(source, 100, 1); /* and these are not */
	assert_null(tap_output_fill(&client.output, client.capture->sources, 1, UINT64_MAX));
	assert_in_range(client.output.limited, 80, 100);
}

/* Drops of two stages have an interface each, and one tally; what is reported of them is reported once. */
TEST(drops_are_told_once) {
	struct tap_source *source = client_begin("{\"dropped\":true}\n");
	uint64_t received;

	for (unsigned i = 0; i < 4; i++)
		record_come(source, (struct tap_record){.tsc = rte_rdtsc(),
							.reason = DROP_FILTER_DENY,
							.stage = i % 2,
							.form = i / 2 ? TAP_DOCSIS : TAP_ETHERNET});
	packets_come(source, 3, 0);
	source->end->tallies[TAP_DROP_SLOT].matched = 40;
	source->end->tallies[tap_boundary(0, TAP_OUT)].matched = 500;
	now += 10000; /* it is time to say how far it is */
	client_take(POLLOUT);
	assert_string_equal(client.output.reported,
			    "captured: 7, matched: 540, beyond the rate: 0, missed: 0");
	read_until_end();
	packets_are(7);
	packets_in(STATISTICS_BLOCK, 12, STATISTICS_RECEIVED, &received);
	assert_int_equal(received, 540);
}

/* Groups may come and go as long as a capture lasts: nothing is kept of those that are gone but what they came to. */
TEST(places_that_go) {
	client_begin("{}\n");
	for (unsigned turn = 1; turn <= 20; turn++) {
		struct tap_source *gone = cluster_add(client.capture);

		packets_come(gone, 3, 0);
		gone->end->tallies[0].matched = gone->end->tallies[0].missed = 10;
		gone->gone = true;
		client_take(POLLOUT);
		assert_int_equal(client.capture->source_count, 1);
		assert_int_equal(client.output.retired_interfaces, turn);
	}
	client.capture->sources[0]->gone = true; /* the last of all */
	client_take(POLLOUT);
	assert_int_equal(client.capture->source_count, 0);
	assert_string_equal(client.why, TAP_END_GONE);
	client.capture->state = TAP_ENDED;
	assert_false(tap_client_serve(&client, POLLOUT, now, false));
	assert_int_equal(client.output.missed, 200);
	read_all();
	packets_are(60);
}

/* Who waits for the control thread, which may be busy for long, is not polled for what is not read; and who is gone is
 * let go. */
TEST(between_wish_and_answer) {
	client_ask("{}\nand more\n", true);
	assert_int_equal(tap_client_events(&client), 0);
	assert_true(tap_client_serve(&client, 0, now, false));
	assert_false(tap_client_serve(&client, POLLHUP, now, false));
}

/* However long nothing came, a reader has its time for what comes then. */
TEST(patience_begins_with_something) {
	uint8_t stuff[4096] = {0};

	client_begin("{}\n");
	for (int round = 0; tap_output_pending(&client.output) > 0; round++) {
		assert_true(round < 1000);
		assert_true(tap_client_serve(&client, POLLOUT, now, false));
	}
	while (send(client.fd, stuff, sizeof(stuff), MSG_DONTWAIT) > 0)
		;
	now += 3600000;
	packets_come(client.capture->sources[0], 1, 0);
	client_take(0);
	assert_true(tap_output_pending(&client.output) > 0);
	now += 9000;
	assert_true(tap_client_serve(&client, 0, now, false));
	now += 1000;
	assert_false(tap_client_serve(&client, 0, now, false));
}

/* A word of the request's, whatever it does to a terminal, or where there is none that is text. */
TEST(what_it_sent_is_told_as_text) {
	client_ask("{\"stages\":[\"a\\u001b[2J\xc3\xbc\"]}\n", false);
	read_all();
	file[size] = '\0';
	assert_non_null(strstr((const char *)file, "found \\\"a?[2J??\\\", allowed:"));
	for (size_t i = 0; i + 1 < size; i++)
		assert_in_range(file[i], ' ', '~');
}

static struct tap_service service;

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

/* Where no descriptor is left a client waits, and the thread does not spin meanwhile. */
TEST(no_descriptors) {
	struct rlimit before, none;
	uint64_t used;
	char path[108], line[512] = "";
	ssize_t n;
	int fd, more[TAP_CLIENTS + 2]; /* as poll() is asked for so many */

	memset(&service, 0, sizeof(service));
	memset(&nothing, 0, sizeof(nothing));
	snprintf(path, sizeof(path), "/tmp/vcmts-test-%d-capture.sock", (int)getpid());
	assert_int_equal(tap_service_listen(&service, path, 0600), 0);
	assert_int_equal(tap_service_start(&service, &nothing), 0);
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
	assert_int_equal(write(fd, "{}\n", 3), 3);
	while ((n = recv(fd, line, sizeof(line) - 1, MSG_DONTWAIT)) < 0) {
		tap_service_follow(&service); /* the control thread's */
		usleep(LOOK_US);
	}
	assert_non_null(strstr(line, "no service group 0"));
	close(fd);
	assert_in_range(busy(), 0, BUSY_MOST); /* whoever woke the thread did so once */
	tap_service_close(&service);
	assert_int_equal(access(path, F_OK), -1);
}

static int end(void **state) {
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

EACH_TEST(NULL, end)
