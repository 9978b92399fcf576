/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests trial_request.h and line_reader.h: JSON requests for trials, one per line. */
#include "test_main.h"

#include <unistd.h>

#include "group_defaults.h"
#include "trials/line_reader.h"
#include "trials/trial_request.h"

static struct service_group sg = {.upstream = {.frame_timeout_ns = 1000000}};

static char error[TRIAL_ERROR];

static int read_line(const char *line, bool upstream, struct trial_request *out) {
	struct trial_limits limits = {.sg = &sg, .downstream = true, .upstream = upstream};

	service_group_set_defaults(&sg);
	error[0] = '\0';
	return trial_request_read(line, strlen(line), &limits, out, error);
}

TEST(request_is_parsed) {
	struct trial_request r;

	assert_int_equal(
		read_line("{\"seconds\": 1.5, \"rate\": 4e9, \"upstream_rate\": 600000000, "
			  "\"mix\": \"84:1,1280:3\", \"upstream_mix\": \"256\", "
			  "\"latency\": false, \"prove\": 0.0625, \"drop\": true, "
			  "\"shape\": \"steps:1Gbps,50%,0%\"}",
			  true, &r),
		0);
	assert_int_equal(r.duration_ns, 1500000000);
	assert_true(r.load.downstream && r.load.upstream && r.load.no_latency);
	assert_int_equal(r.load.rate, 4000000000);
	assert_int_equal(r.load.upstream_rate, 600000000);
	assert_int_equal(r.load.mix.count, 2);
	assert_int_equal(r.load.mix.weights[1], 3);
	assert_int_equal(r.load.upstream_mix.sizes[0], 256);
	assert_int_equal(r.load.prove_every, 16);
	assert_true(r.load.drop);
	assert_ptr_equal(r.load.shape, &r.shape);
	assert_int_equal(r.shape.count, 6);
	assert_true(r.shape.points[5].time == 1.5); /* the trial's duration */
	assert_true(r.shape.points[0].share == 0.25 && r.shape.points[2].share == 0.5);
	assert_int_equal(json_object_size(r.source), 9);
	json_decref(r.source);
}

TEST(missing_keys_have_defaults) {
	struct trial_request r;

	assert_int_equal(read_line(" {\"rate\":\"max\",\"seconds\":1}\r", true, &r), 0);
	assert_int_equal(r.duration_ns, 1000000000);
	assert_true(r.load.downstream && !r.load.upstream && !r.load.no_latency);
	assert_int_equal(r.load.rate, 0);
	assert_int_equal(r.load.mix.count, 3);
	assert_int_equal(r.load.prove_every, 1);
	assert_true(!r.load.drop && r.load.shape == NULL);
	json_decref(r.source);
	/* decimal fractions are rounded to 1/n */
	assert_int_equal(read_line("{\"seconds\":1,\"rate\":1e9,\"prove\":0.333333}", true, &r), 0);
	assert_int_equal(r.load.prove_every, 3);
	json_decref(r.source);
}

/* Answers are JSON, so error messages must be UTF-8 even if text in them is truncated. */
static void assert_is_text(void) {
	json_t *text = json_string(error);

	if (text == NULL)
		fail_msg("no UTF-8: %s", error);
	json_decref(text);
}

/* Characters of two bytes: 8 and 40 bytes. */
#define E_8 "\u00e9\u00e9\u00e9\u00e9"
#define E_40 E_8 E_8 E_8 E_8 E_8

TEST(errors_are_one_line) {
	static const struct {
		const char *line, *message;
	} cases[] = {
		{"", "not JSON"},
		{"{", "not JSON"},
		{"{\"seconds\":1}{}", "not JSON"},
		{"\xff", "not JSON"},
		{"[]", "not a JSON object"},
		{"{}", "seconds: missing"},
		{"{\"rate\":1e9}", "seconds: missing"},
		{"{\"seconds\":1,\"seconds\":2,\"rate\":1e9}", "duplicate"},
		{"{\"seconds\":1}", "found 0 and 0"},
		{"{\"seconds\":1,\"rate\":0,\"upstream_rate\":0}", "found 0 and 0"},
		{"{\"seconds\":0,\"rate\":1e9}", "seconds: found 0, allowed"},
		{"{\"seconds\":-1,\"rate\":1e9}", "seconds: found -1, allowed"},
		{"{\"seconds\":86401,\"rate\":1e9}", "seconds: found 86401"},
		{"{\"seconds\":\"1\",\"rate\":1e9}", "seconds: found \"1\""},
		{"{\"seconds\":true,\"rate\":1e9}", "seconds: found true"},
		{"{\"seconds\":1,\"rate\":999}", "rate: found 999"},
		{"{\"seconds\":1,\"rate\":1e13}", "rate: found"},
		{"{\"seconds\":1,\"rate\":-1}", "rate: found -1"},
		{"{\"seconds\":1,\"rate\":\"fast\"}", "rate: found \"fast\""},
		{"{\"seconds\":1,\"rate\":null}", "rate: found null"},
		{"{\"seconds\":1,\"rate\":1e9,\"mix\":\"63\"}", "mix: found \"63\""},
		{"{\"seconds\":1,\"rate\":1e9,\"mix\":\"x" E_40 E_40 E_40 "\"}", "@FILE"},
		{"{\"seconds\":1,\"x" E_40 E_40 "\":1}", "allowed: seconds, rate"},
		{"{\"seconds\":1,\"rate\":1e9,\"mix\":\"1997\"}", "mix: found \"1997\""},
		{"{\"seconds\":1,\"rate\":1e9,\"mix\":1280}", "mix: found 1280"},
		{"{\"seconds\":1,\"rate\":1e9,\"upstream_mix\":\"\"}", "upstream_mix: "},
		{"{\"seconds\":1,\"rate\":1e9,\"latency\":1}", "latency: found 1"},
		{"{\"seconds\":1,\"rate\":1e9,\"prove\":0}", "prove: found 0"},
		{"{\"seconds\":1,\"rate\":1e9,\"prove\":0.3}", "prove: found 0.2"},
		{"{\"seconds\":1,\"rate\":1e9,\"prove\":2}", "prove: found 2"},
		{"{\"seconds\":1,\"rate\":1e9,\"prove\":1e-9}", "prove: found"},
		{"{\"seconds\":1,\"rate\":1e9,\"drop\":1}", "drop: found 1"},
		{"{\"seconds\":1,\"rate\":1e9,\"shape\":1}", "shape: found 1"},
		{"{\"seconds\":1,\"rate\":1e9,\"shape\":\"saw\"}", "shape: found \"saw\""},
		{"{\"seconds\":1,\"rate\":\"max\",\"shape\":\"day\"}",
		 "shape: not allowed with the rate"},
		{"{\"shape\":\"day\",\"rate\":1e9}", "seconds: missing"},
		{"{\"seconds\":1,\"rate\":1e9,\"Mix\":\"imix\"}", "unknown key \"Mix\""},
		{"{\"seconds\":1,\"upstream_rate\":1e9}", "upstream_rate: found"},
		{"{\"seconds\":1,\"rate\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,"
		 "22,23,24,25,26,27]}",
		 "rate: found a value too long to show"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct trial_request r;

		assert_int_equal(read_line(cases[i].line, false, &r), -1);
		if (strstr(error, cases[i].message) == NULL)
			fail_msg("%s: %s", cases[i].line, error);
		assert_null(strchr(error, '\n'));
		assert_null(r.source);
		assert_is_text();
	}
}

TEST(lines_are_read_one_by_one) {
	static char long_line[2 * LINE_MAX_SIZE];
	static struct line_reader reader;
	static const volatile sig_atomic_t running, stopped = 1;
	FILE *f = tmpfile();
	const char *line;
	size_t size;

	assert_non_null(f);
	memset(long_line, 'x', sizeof(long_line));
	fputs("first\n\nthird\r\n", f);
	fwrite(long_line, LINE_MAX_SIZE, 1, f);
	fputc('\n', f);
	fwrite(long_line, LINE_MAX_SIZE + 1, 1, f);
	fputc('\n', f);
	fwrite(long_line, sizeof(long_line), 1, f);
	fputs("\nlast", f);
	fflush(f);
	assert_int_equal(lseek(fileno(f), 0, SEEK_SET), 0);
	line_reader_init(&reader, fileno(f), &running);
	for (int i = 0; i < 4; i++) {
		static const char *const lines[] = {"first", "", "third\r", long_line};
		static const size_t sizes[] = {5, 0, 6, LINE_MAX_SIZE};

		assert_int_equal(line_reader_next(&reader, &line, &size), LINE_READ);
		assert_int_equal(size, sizes[i]);
		assert_memory_equal(line, lines[i], size);
	}
	assert_int_equal(line_reader_next(&reader, &line, &size), LINE_TOO_LONG);
	assert_int_equal(line_reader_next(&reader, &line, &size), LINE_TOO_LONG);
	assert_int_equal(line_reader_next(&reader, &line, &size), LINE_READ);
	assert_int_equal(size, 4);
	assert_memory_equal(line, "last", 4);
	assert_int_equal(line_reader_next(&reader, &line, &size), LINE_END);
	assert_int_equal(line_reader_next(&reader, &line, &size), LINE_END);
	assert_int_equal(lseek(fileno(f), 0, SEEK_SET), 0);
	line_reader_init(&reader, fileno(f), &stopped);
	assert_int_equal(line_reader_next(&reader, &line, &size), LINE_END);
	fclose(f);
}
