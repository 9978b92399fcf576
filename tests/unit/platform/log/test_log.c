/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests log.h: levels, rate limits, lost lines, files, threads, journald, output of libraries. */
#include "test_main.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_pipe.h"
#include "platform/log/log_out.h"
#include "platform/log/log_stream.h"

#define LINES 100
#define THREADS 4
#define FLOOD 2000 /* lines; more than a pipe or socket stores without a reader */

static struct log_pipe pipe_;

static void log_from_one_site(unsigned number) {
	log_info("group", LOG_FIELDS(LOG_NUMBER("number", number)), "line %u", number);
}

TEST(lines_below_level_are_dropped) {
	log_pipe_open(&pipe_, LOG_TEXT, LEVEL_WARNING);
	log_error("a", LOG_NO_FIELDS, "first");
	log_warning("a", LOG_NO_FIELDS, "second");
	log_notice("a", LOG_NO_FIELDS, "third");
	log_pipe_close(&pipe_);
	assert_int_equal(log_pipe_count(pipe_.text, "\n"), 2);
	assert_non_null(strstr(pipe_.text, " error a: first\n"));
	assert_non_null(strstr(pipe_.text, " warning a: second\n"));
}

TEST(level_and_format_names_are_parsed) {
	enum log_level level = LEVEL_ERROR;
	enum log_format format = LOG_PLAIN;

	assert_true(log_level_parse("debug", &level) && level == LEVEL_DEBUG);
	assert_true(log_format_parse("json", &format) && format == LOG_JSON);
	assert_false(log_level_parse("Debug", &level) || log_level_parse("", &level));
	assert_false(log_format_parse("yaml", &format) || log_format_parse("", &format));
}

/* A site, a statement that logs, writes LOG_BURST lines per LOG_WINDOW_NS. After the window, the next call of the
 * log writes a summary of the suppressed lines. */
TEST(site_is_rate_limited) {
	log_pipe_now = 5;
	log_pipe_open(&pipe_, LOG_TEXT, LEVEL_INFO);
	for (unsigned i = 0; i < LINES; i++)
		log_from_one_site(i);
	assert_int_equal(log_pipe_count(log_pipe_read(&pipe_), "\n"), LOG_BURST);
	log_pipe_now += LOG_WINDOW_NS - 1;
	log_tick();
	assert_int_equal(log_pipe_count(log_pipe_read(&pipe_), "\n"), LOG_BURST);
	log_pipe_now++;
	log_tick();
	log_tick();
	assert_int_equal(log_pipe_count(log_pipe_read(&pipe_), "\n"), LOG_BURST + 1);
	assert_non_null(strstr(pipe_.text, " info group: 80 more suppressed, the last: line 99 "
					   "suppressed=80\n"));
	for (unsigned i = 0; i < LINES; i++)
		log_from_one_site(i);
	log_pipe_now += LOG_WINDOW_NS;
	log_from_one_site(1000);
	assert_int_equal(log_pipe_count(log_pipe_read(&pipe_), "80 more suppressed"), 2);
	assert_non_null(strstr(pipe_.text, "line 1000 number=1000\n"));
	for (unsigned i = 0; i < LINES; i++)
		log_from_one_site(i);
	log_pipe_close(&pipe_); /* writes the last summary */
	assert_int_equal(log_pipe_count(pipe_.text, "more suppressed"), 3);
}

/* Writes FLOOD lines, each from its own site, so that no rate limit applies. */
static void flood(void) {
	static struct log_site sites[FLOOD];

	for (unsigned i = 0; i < FLOOD; i++) {
		sites[i] = (struct log_site){.level = LEVEL_INFO, .area = "flood"};
		log_write(&sites[i], LOG_NO_FIELDS, "number %u", i);
	}
}

TEST(lost_lines_are_reported_when_pipe_is_read) {
	uint64_t lost = 0;
	unsigned received;
	const char *summary;

	log_pipe_open(&pipe_, LOG_TEXT, LEVEL_INFO);
	flood();
	received = log_pipe_count(log_pipe_read(&pipe_), "flood: number ");
	assert_in_range(received, 1, FLOOD - 1);
	log_error("a", LOG_NO_FIELDS, "reloaded");
	log_error("a", LOG_NO_FIELDS, "and on");
	log_pipe_close(&pipe_);
	summary = strstr(pipe_.text, "lost=");
	assert_non_null(summary);
	assert_int_equal(sscanf(summary, "lost=%" SCNu64, &lost), 1);
	assert_int_equal(received + lost, FLOOD);
	assert_non_null(strstr(summary, "a: reloaded\n"));
	assert_int_equal(log_pipe_count(pipe_.text, "\n"), received + 3);
}

/* Opens the log with output to `fd`, which the caller closes, at LEVEL_INFO and with the system's clock. */
static void log_to(int fd, enum log_format format) {
	const struct log_options o = {
		.level = LEVEL_INFO, .format = format, .format_given = true, .fd = fd};

	assert_true(fd >= 0);
	log_open(&o);
}

/* journald's stream is a socket. Once it is full, lines are lost. */
TEST(full_socket_drops_lines) {
	memset(&pipe_, 0, sizeof(pipe_));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pipe_.fds), 0);
	assert_int_equal(fcntl(pipe_.fds[0], F_SETFL, O_NONBLOCK), 0);
	log_to(pipe_.fds[1], LOG_TEXT);
	flood();
	log_pipe_close(&pipe_);
	assert_in_range(log_pipe_count(pipe_.text, "flood: number "), 1, FLOOD - 1);
}

/* A full pipe accepts a part of a line. The output ends that part before it writes the next line. */
TEST(partial_line_is_terminated) {
	static char line[PIPE_TEXT / 2];
	struct log_out o;
	size_t part;

	memset(line, 'l', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\n';
	memset(&pipe_, 0, sizeof(pipe_));
	assert_int_equal(pipe2(pipe_.fds, O_NONBLOCK), 0);
	log_out_open(&o, pipe_.fds[1]);
	assert_false(log_out_write(&o, line, sizeof(line)));
	log_pipe_read(&pipe_);
	part = pipe_.used;
	assert_in_range(part, 1, sizeof(line) - 2);
	assert_true(log_out_write(&o, "next\n", 5));
	assert_true(log_out_write(&o, "last\n", 5));
	assert_string_equal(log_pipe_read(&pipe_) + part, "\nnext\nlast\n");
	log_out_close(&o);
	close(pipe_.fds[0]);
	close(pipe_.fds[1]);
}

/* A process that inherits the log's open file description writes to it. Neither overwrites the other's lines. */
TEST(inherited_file_is_not_overwritten) {
	FILE *file = tmpfile();
	char text[256] = "";

	log_to(fileno(file), LOG_PLAIN);
	log_info("a", LOG_NO_FIELDS, "first");
	assert_int_equal(write(fileno(file), "second\n", 7), 7);
	log_program("vcmts-other"); /* changes the prefix of the log's further lines */
	log_info("a", LOG_NO_FIELDS, "third");
	log_program("vcmtsd");
	log_close();
	assert_true(pread(fileno(file), text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, "vcmtsd: first\nsecond\nvcmts-other: third\n");
	fclose(file);
}

/* Each line has its own site, so that none is suppressed. */
static void *log_from_thread(void *arg) {
	static struct log_site sites[THREADS][LINES];
	unsigned thread = (unsigned)(uintptr_t)arg;
	char filling[200];

	memset(filling, 'f', sizeof(filling) - 1);
	filling[sizeof(filling) - 1] = '\0';
	for (unsigned i = 0; i < LINES; i++) {
		sites[thread][i] = (struct log_site){.level = LEVEL_INFO, .area = "thread"};
		log_write(&sites[thread][i], LOG_NO_FIELDS, "%s%u.%u.", filling, thread, i);
	}
	return NULL;
}

TEST(threads_write_complete_lines) {
	pthread_t threads[THREADS];
	FILE *file = tmpfile();
	static bool seen[THREADS][LINES];
	char line[512];
	unsigned lines = 0;

	log_to(fileno(file), LOG_PLAIN);
	for (uintptr_t t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, log_from_thread, (void *)t), 0);
	for (unsigned t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	log_close();
	rewind(file);
	for (; fgets(line, sizeof(line), file) != NULL; lines++) {
		unsigned thread, number;

		assert_int_equal(strspn(line + 8, "f"), 199);
		assert_int_equal(sscanf(line + 8 + 199, "%u.%u.\n", &thread, &number), 2);
		assert_true(thread < THREADS && !seen[thread][number]);
		seen[thread][number] = true;
	}
	assert_int_equal(lines, THREADS * LINES);
	fclose(file);
}

/* Without `format_given`, the log has the journal's format if JOURNAL_STREAM names device and inode of the output. */
TEST(journal_format_needs_matching_stream) {
	struct log_options o = {.level = LEVEL_INFO};
	char summary[64];
	struct stat status;

	for (unsigned same = 0; same < 2; same++) {
		memset(&pipe_, 0, sizeof(pipe_));
		assert_int_equal(pipe2(pipe_.fds, O_NONBLOCK), 0);
		assert_int_equal(fstat(pipe_.fds[1], &status), 0);
		snprintf(summary, sizeof(summary), "%ju:%ju", (uintmax_t)status.st_dev,
			 (uintmax_t)status.st_ino + 1 - same);
		setenv("JOURNAL_STREAM", summary, 1);
		o.fd = pipe_.fds[1];
		log_open(&o);
		log_info("a", LOG_FIELDS(LOG_NUMBER("key", 1)), "said");
		log_pipe_close(&pipe_);
		assert_string_equal(pipe_.text, same ? "<6>a: said key=1\n" : "vcmtsd: said\n");
	}
	unsetenv("JOURNAL_STREAM");
}

static enum log_level always_error(void) {
	return LEVEL_ERROR;
}

static enum log_level always_debug(void) {
	return LEVEL_DEBUG;
}

/* Each line is a message, also one that fclose() ends. Empty lines, and lines below the level, are not written. */
TEST(library_output_is_logged) {
	static const char *const messages[] = {"one", "two", "three", "4"}; /* not "4hree" */
	char line[128];
	FILE *stream;

	log_pipe_open(&pipe_, LOG_JSON, LEVEL_INFO);
	stream = log_stream_open("eal", always_error);
	assert_non_null(stream);
	fprintf(stream, "one\ntw");
	fprintf(stream, "o\n\nthree\n");
	fprintf(stream, "4");
	fclose(stream);
	stream = log_stream_open("dpdk", always_debug);
	assert_non_null(stream);
	fprintf(stream, "too much\n");
	fclose(stream);
	log_pipe_close(&pipe_);
	assert_int_equal(log_pipe_count(pipe_.text, "\n"), 4);
	for (unsigned i = 0; i < ARRAY_COUNT(messages); i++) {
		snprintf(line, sizeof(line),
			 "\"level\":\"error\",\"area\":\"eal\",\"message\":\"%s\"}\n", messages[i]);
		assert_int_equal(log_pipe_count(pipe_.text, line), 1);
	}
}

/* A stream has one site. fclose() writes its summary and frees it; a later log_tick() must not use it. */
TEST(library_output_is_rate_limited) {
	FILE *stream;

	log_pipe_open(&pipe_, LOG_TEXT, LEVEL_INFO);
	stream = log_stream_open("dpdk", always_error);
	for (unsigned i = 0; i < LINES; i++)
		fprintf(stream, "flood %u\n", i);
	fclose(stream);
	log_pipe_now += 2 * LOG_WINDOW_NS;
	log_tick();
	log_pipe_close(&pipe_);
	assert_int_equal(log_pipe_count(pipe_.text, "\n"), LOG_BURST + 1);
	assert_int_equal(log_pipe_count(pipe_.text, "80 more suppressed, the last: flood 99"), 1);
}
