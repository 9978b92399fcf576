/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lines come, how many of them, and what becomes of those that nobody reads. */
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

#define MANY 100
#define THREADS 4
#define FLOOD 2000

static struct log_pipe pipe_;

static void one_site(unsigned number) {
	log_info("group", LOG_FIELDS(LOG_NUMBER("number", number)), "line %u", number);
}

TEST(levels_are_those_asked_for) {
	log_pipe_open(&pipe_, LOG_TEXT, LEVEL_WARNING);
	log_error("a", LOG_NO_FIELDS, "first");
	log_warning("a", LOG_NO_FIELDS, "second");
	log_notice("a", LOG_NO_FIELDS, "third");
	log_pipe_close(&pipe_);
	assert_int_equal(log_pipe_count(pipe_.text, "\n"), 2);
	assert_non_null(strstr(pipe_.text, " error a: first\n"));
	assert_non_null(strstr(pipe_.text, " warning a: second\n"));
}

TEST(names_of_levels_and_formats) {
	enum log_level level = LEVEL_ERROR;
	enum log_format format = LOG_PLAIN;

	assert_true(log_level_parse("debug", &level) && level == LEVEL_DEBUG);
	assert_true(log_format_parse("json", &format) && format == LOG_JSON);
	assert_false(log_level_parse("Debug", &level) || log_level_parse("", &level));
	assert_false(log_format_parse("yaml", &format) || log_format_parse("", &format));
}

/* A burst, and then how many more, told once by whoever comes first: the next line, or a look. */
TEST(a_site_has_its_burst) {
	log_pipe_now = 5;
	log_pipe_open(&pipe_, LOG_TEXT, LEVEL_INFO);
	for (unsigned i = 0; i < MANY; i++)
		one_site(i);
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
	for (unsigned i = 0; i < MANY; i++)
		one_site(i);
	log_pipe_now += LOG_WINDOW_NS;
	one_site(1000);
	assert_int_equal(log_pipe_count(log_pipe_read(&pipe_), "80 more suppressed"), 2);
	assert_non_null(strstr(pipe_.text, "line 1000 number=1000\n"));
	for (unsigned i = 0; i < MANY; i++)
		one_site(i);
	log_pipe_close(&pipe_); /* which tells the rest */
	assert_int_equal(log_pipe_count(pipe_.text, "more suppressed"), 3);
}

/* One line of each of many sites: more than any pipe holds. */
static void flood(void) {
	static struct log_site sites[FLOOD];

	for (unsigned i = 0; i < FLOOD; i++) {
		sites[i] = (struct log_site){.level = LEVEL_INFO, .area = "flood"};
		log_write(&sites[i], LOG_NO_FIELDS, "number %u", i);
	}
}

TEST(nobody_reads) {
	uint64_t lost = 0;
	unsigned came;
	const char *told;

	log_pipe_open(&pipe_, LOG_TEXT, LEVEL_INFO);
	flood();
	came = log_pipe_count(log_pipe_read(&pipe_), "flood: number ");
	assert_in_range(came, 1, FLOOD - 1);
	log_error("a", LOG_NO_FIELDS, "read again");
	log_error("a", LOG_NO_FIELDS, "and on");
	log_pipe_close(&pipe_);
	told = strstr(pipe_.text, "lost=");
	assert_non_null(told);
	assert_int_equal(sscanf(told, "lost=%" SCNu64, &lost), 1);
	assert_int_equal(came + lost, FLOOD);
	assert_non_null(strstr(told, "a: read again\n"));
	assert_int_equal(log_pipe_count(pipe_.text, "\n"), came + 3);
}

/* To a file of the test's. */
static void log_to(int fd, enum log_format format) {
	const struct log_options o = {
		.level = LEVEL_INFO, .format = format, .format_given = true, .fd = fd};

	assert_true(fd >= 0);
	log_open(&o);
}

/* The journal's is a socket: one that nobody reads takes some lines, and then none. */
TEST(a_socket_that_nobody_reads) {
	memset(&pipe_, 0, sizeof(pipe_));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pipe_.fds), 0);
	assert_int_equal(fcntl(pipe_.fds[0], F_SETFL, O_NONBLOCK), 0);
	log_to(pipe_.fds[1], LOG_TEXT);
	flood();
	log_pipe_close(&pipe_);
	assert_in_range(log_pipe_count(pipe_.text, "flood: number "), 1, FLOOD - 1);
}

TEST(a_part_of_a_line_is_ended) {
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

/* Others write to the same file, too: nothing is written over. */
TEST(a_file_has_everybodys_lines) {
	FILE *file = tmpfile();
	char text[256] = "";

	log_to(fileno(file), LOG_PLAIN);
	log_info("a", LOG_NO_FIELDS, "ours");
	assert_int_equal(write(fileno(file), "theirs\n", 7), 7);
	log_program("vcmts-other"); /* with which its lines begin */
	log_info("a", LOG_NO_FIELDS, "ours again");
	log_program("vcmtsd");
	log_close();
	assert_true(pread(fileno(file), text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, "vcmtsd: ours\ntheirs\nvcmts-other: ours again\n");
	fclose(file);
}

static void *thread_logs(void *arg) {
	static struct log_site sites[THREADS][MANY];
	unsigned thread = (unsigned)(uintptr_t)arg;
	char filling[200];

	memset(filling, 'f', sizeof(filling) - 1);
	filling[sizeof(filling) - 1] = '\0';
	for (unsigned i = 0; i < MANY; i++) {
		sites[thread][i] = (struct log_site){.level = LEVEL_INFO, .area = "thread"};
		log_write(&sites[thread][i], LOG_NO_FIELDS, "%s%u.%u.", filling, thread, i);
	}
	return NULL;
}

TEST(threads_write_whole_lines) {
	pthread_t threads[THREADS];
	FILE *file = tmpfile();
	static bool seen[THREADS][MANY];
	char line[512];
	unsigned lines = 0;

	log_to(fileno(file), LOG_PLAIN);
	for (uintptr_t t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, thread_logs, (void *)t), 0);
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
	assert_int_equal(lines, THREADS * MANY);
	fclose(file);
}

TEST(only_the_journal_is_the_journal) {
	struct log_options o = {.level = LEVEL_INFO};
	char told[64];
	struct stat status;

	for (unsigned same = 0; same < 2; same++) {
		memset(&pipe_, 0, sizeof(pipe_));
		assert_int_equal(pipe2(pipe_.fds, O_NONBLOCK), 0);
		assert_int_equal(fstat(pipe_.fds[1], &status), 0);
		snprintf(told, sizeof(told), "%ju:%ju", (uintmax_t)status.st_dev,
			 (uintmax_t)status.st_ino + 1 - same);
		setenv("JOURNAL_STREAM", told, 1);
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

TEST(what_others_print_is_logged) {
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

/* A stream that floods is limited as any other site is, and its site goes with it. */
TEST(a_flood_of_others_is_limited) {
	FILE *stream;

	log_pipe_open(&pipe_, LOG_TEXT, LEVEL_INFO);
	stream = log_stream_open("dpdk", always_error);
	for (unsigned i = 0; i < MANY; i++)
		fprintf(stream, "flood %u\n", i);
	fclose(stream);
	log_pipe_now += 2 * LOG_WINDOW_NS;
	log_tick();
	log_pipe_close(&pipe_);
	assert_int_equal(log_pipe_count(pipe_.text, "\n"), LOG_BURST + 1);
	assert_int_equal(log_pipe_count(pipe_.text, "80 more suppressed, the last: flood 99"), 1);
}
