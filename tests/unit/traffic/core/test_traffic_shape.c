/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests shape_read.h: rates over time, their syntax and files, and the exact area under a shape. */
#include "core/shape_read.h"

#include <unistd.h>

#include "random.h"
#include "shape_peak.h"
#include "test_main.h"

#define RATE 1000000000ull
#define DURATION 60.0

static struct shape shape;
static char error[SHAPE_ERROR];

static void assert_close(double actual, double expected, double tolerance) {
	if (actual < expected - tolerance || actual > expected + tolerance)
		fail_msg("found %.12g, expected %.12g", actual, expected);
}

static void read_valid(const char *text) {
	if (!shape_read(&shape, text, RATE, DURATION, error))
		fail_msg("%s: %s", text, error);
}

/* The share of the rate at a time, reached in one step. */
static double share_at(double time) {
	struct shape_walk w;

	shape_walk_start(&w, &shape);
	shape_walk_advance(&w, time);
	return shape_walk_share(&w);
}

static double area_up_to(double time) {
	struct shape_walk w;

	shape_walk_start(&w, &shape);
	return shape_walk_advance(&w, time);
}

#define SAMPLES 5

/* Expected shares at times, and areas from 0 to times. */
static const struct shape_case {
	const char *text;
	double period, peak;
	struct {
		double time, value;
	} shares[SAMPLES], areas[SAMPLES]; /* end at the first with time 0 */
} cases[] = {
	{"constant", 0, 1, {{5, 1}}, {{7.5, 7.5}}},
	{"bursts:on=2ms,off=8ms",
	 0.010,
	 1,
	 {{1e-9, 1}, {0.0019, 1}, {0.0021, 0}, {0.0099, 0}, {0.0101, 1}},
	 {{0.005, 0.002}, {1, 0.2}}},
	{"bursts:off=8ms,on=2ms", 0.010, 1, {{0.0019, 1}, {0.0021, 0}}, {{1, 0.2}}},
	{"bursts:period=10ms,duty=20%", 0.010, 1, {{0.0019, 1}, {0.0021, 0}}, {{1, 0.2}}},
	{"ramp", DURATION, 1, {{DURATION / 4, 0.25}}, {{DURATION, DURATION / 2}}},
	/* repeats after its time */
	{"ramp:from=80%,to=200Mbps,time=10s",
	 10,
	 0.8,
	 {{1e-12, 0.8}, {5, 0.5}, {15, 0.5}},
	 {{20, 10}}},
	{"steps:10%,500Mbps,100%", DURATION, 1, {{10, 0.1}, {30, 0.5}, {59.9, 1}}},
	{"steps:0,50%,each=2s", 4, 0.5, {{1.9, 0}, {2, 0.5}}, {{4, 1}}},
	{"points:0=0%,4s=100%,4s=25%,8s=25%", 8, 1, {{2, 0.5}, {4, 0.25}}, {{4, 2}, {8, 3}}},
	{"points:0s=1Gbps,500ms=2 Gbps", 0.5, 2},
	{"day", DURATION, 1, {{DURATION * 21 / 24, 1}}},
	{"day:time=24h", 86400, 1},
};

TEST(shapes_have_expected_values) {
	for (const struct shape_case *m = cases; m < cases + ARRAY_COUNT(cases); m++) {
		print_message("  %s\n", m->text);
		read_valid(m->text);
		assert_close(shape_period(&shape), m->period, 1e-9);
		assert_close(shape_peak(&shape), m->peak, 1e-12);
		for (int i = 0; i < SAMPLES && m->shares[i].time > 0; i++)
			assert_close(share_at(m->shares[i].time), m->shares[i].value, 1e-12);
		for (int i = 0; i < SAMPLES && m->areas[i].time > 0; i++)
			assert_close(area_up_to(m->areas[i].time), m->areas[i].value, 1e-9);
	}
}

TEST(day_shape_is_periodic) {
	read_valid("day");
	assert_true(share_at(DURATION * 5 / 24) < 0.25);
	assert_close(share_at(0), share_at(DURATION * 0.999999), 1e-4);
}

static void read_file(const char *kind, const char *text, bool valid) {
	char name[] = "/tmp/shape-XXXXXX", words[64];
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	snprintf(words, sizeof(words), "%s:@%s", kind, name);
	assert_int_equal(shape_read(&shape, words, RATE, DURATION, error), valid);
	unlink(name);
}

TEST(shape_file_is_parsed) {
	read_file("points", "# a ramp\n0s 0%\n\n  10s,\t1 Gbps # and its end\r\n", true);
	assert_close(share_at(5), 0.5, 1e-12);
	/* ends with the value of its start */
	read_file("day", "0:00 20%\n06:00 10%\n18.5h 100%\n", true);
	assert_close(shape_period(&shape), DURATION, 1e-9);
	assert_close(share_at(DURATION * 18.5 / 24), 1, 1e-9);
	assert_close(share_at(DURATION * 3 / 24), 0.15, 1e-9);
	assert_close(share_at(DURATION * 0.9999999), 0.2, 1e-4);
	read_file("day", "00:00 20%\n24:00 40%", true);
	assert_int_equal(shape.count, 2);
}

TEST(shape_file_errors_name_the_line) {
	static const struct {
		const char *kind, *text, *message;
	} invalid[] = {
		{"points", "0s 0%\n10s banana\n", ":2: found \"10s banana\", allowed: a share"},
		{"points", "0s 0%\n\n# c\n10 50%\n", ":4: found \"10 50%\", allowed: a time"},
		{"points", "0s\n", ":1: found \"0s\", allowed: a time and a rate"},
		{"points", "0s -5%\n", ":1: found \"0s -5%\""},
		{"points", "", "allowed: at least two points"},
		{"points", "0s 1%\n", "allowed: at least two points"},
		{"day", "25:00 5%\n", ":1: found \"25:00 5%\", allowed: an hour of the day"},
		{"day", "0:60 5%\n", ":1: found"},
		{"day", "1:00 5%\n2:00 6%\n", "allowed: a first point at time 0"},
		{"day", "0:00 5%\n5:00 5%\n4:00 6%\n", "allowed: points in the order"},
		{"day", "\001\002\377\n", ":1: found \"???\", allowed:"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(invalid); i++) {
		read_file(invalid[i].kind, invalid[i].text, false);
		if (strstr(error, invalid[i].message) == NULL)
			fail_msg("%s: %s", invalid[i].message, error);
	}
	assert_false(shape_read(&shape, "points:@/nonexistent/x", RATE, DURATION, error));
	assert_string_equal(error, "/nonexistent/x: No such file or directory");
	assert_false(shape_read(&shape, "day:@/tmp", RATE, DURATION, error));
	assert_string_equal(error, "/tmp: Is a directory");
}

TEST(invalid_shapes_are_rejected) {
	char invalid[] = "constant: constant:1 bursts bursts: bursts:on=1ms bursts:on=1ms,off=0s "
			 "bursts:on=1ms,on=2ms,off=3ms bursts:on=1ms,off=1ms,period=2ms "
			 "bursts:period=10ms,duty=100% bursts:period=10ms,duty=0% "
			 "bursts:period=10ms,duty=500Mbps bursts:period=10ms,duty=nan% "
			 "bursts:on=4us,off=4us bursts:on=1ms,off=9ms,banana ramp:from=0%,to=0% "
			 "ramp:from=-1% ramp:to=0x10% ramp:to=1e3% ramp:to=11Gbps ramp:time=0s "
			 "ramp:time=5 ramp:up steps steps: steps:50 steps:50%, steps:0,0 "
			 "steps:50%,each=-1s points points: points:0=50% points:1s=50%,2s=60% "
			 "points:0=50%,2s=60%,1s=70% points:0=50%,0=60% "
			 "points:0=1%,1s=1%,1s=2%,1s=3%,2s=1% points:0=0%,1s=0% points:0-5%,1s-6% "
			 "points:@ points:@/nonexistent,1s=5% day:night day:time=";

	assert_false(shape_read(&shape, "", RATE, DURATION, error));
	for (char *word = strtok(invalid, " "); word != NULL; word = strtok(NULL, " ")) {
		if (shape_read(&shape, word, RATE, DURATION, error))
			fail_msg("shape_read() accepted \"%s\"", word);
		assert_null(strchr(error, '\n'));
		if (strstr(error, "allowed: ") == NULL && strstr(error, "No such file") == NULL)
			fail_msg("%s: %s", word, error);
	}
}

TEST(too_many_points_are_rejected) {
	static char text[16 * (SHAPE_MAX_POINTS + 2)];
	size_t size = (size_t)snprintf(text, sizeof(text), "points:0=50%%");

	for (int i = 1; i < SHAPE_MAX_POINTS; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, ",%ds=5%%", i);
	read_valid(text);
	snprintf(text + size, sizeof(text) - size, ",9999s=5%%");
	assert_false(shape_read(&shape, text, RATE, DURATION, error));
	size = (size_t)snprintf(text, sizeof(text), "steps:1%%");
	for (int i = 0; i < SHAPE_MAX_POINTS / 2; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, ",1%%");
	assert_false(shape_read(&shape, text, RATE, DURATION, error));
}

TEST(area_is_independent_of_step) {
	static const char *const shapes[] = {"bursts:on=13us,off=29us", "ramp:time=3ms",
					     "points:0=0%,1ms=100%,1ms=20%,2ms=1000%", "day"};
	struct random random = {11};

	for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
		struct shape_walk w;
		double area = 0, time = 0;

		read_valid(shapes[i]);
		shape_walk_start(&w, &shape);
		for (int n = 0; n < 200000; n++) {
			uint32_t kind = random_below(&random, 1000);
			double step = 1e-9 * random_below(&random, kind == 0 ? 30000000 : 2000);

			area += shape_walk_advance(&w, step);
			time += step;
		}
		assert_close(area / area_up_to(time), 1, 1e-6);
	}
}

TEST(random_text_is_handled) {
	static const char letters[] = "bursteponday:=,.%@0123456789sm Gk-";
	struct random random = {5};
	char text[48];

	for (int n = 0; n < 200000; n++) {
		static const char *const kinds[] = {
			"bursts:", "ramp:", "steps:", "points:", "day:"};
		size_t size =
			(size_t)snprintf(text, sizeof(text), "%s", kinds[random_below(&random, 5)]);
		uint32_t more = random_below(&random, 20);

		for (uint32_t i = 0; i < more; i++)
			text[size++] = letters[random_below(&random, sizeof(letters) - 1)];
		text[size] = '\0';
		if (shape_read(&shape, text, RATE, DURATION, error))
			assert_true(shape.count >= 2 && shape.area > 0);
		else
			assert_true(error[0] != '\0' && strchr(error, '\n') == NULL);
	}
}
