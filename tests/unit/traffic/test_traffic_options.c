/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests options.h: the command line of the traffic program, and its errors. */
#include "options.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shape_peak.h"
#include "test_main.h"

#define WORDS_MAX 12
#define CASE_WORDS 4 /* including the final NULL */

static struct options parse(const char *const *extra) {
	const char *words[WORDS_MAX] = {"traffic", "--config=c", "--network=n", "--rphy=r"};
	struct options o;
	int n = 4;

	while (*extra != NULL)
		words[n++] = *extra++;
	options_parse(&o, n, (char **)(uintptr_t)words);
	return o;
}

/* The exit status of a process with these options; -1: the options are valid. */
static int exit_status(const char *const *extra) {
	pid_t child = fork();
	int status;

	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDERR_FILENO);
		parse(extra);
		_exit(99);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 99 ? -1 : WEXITSTATUS(status);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

#define NO_UPSTREAM UINT64_MAX

static const struct {
	const char *words[CASE_WORDS];
	uint64_t rate, upstream_rate;
} rates[] = {
	{{NULL}, 2000000000, NO_UPSTREAM},
	{{"--upstream-mix=84"}, 2000000000, NO_UPSTREAM},
	{{"--upstream-rate=1Gbps", "--upstream-rate=0"}, 2000000000, NO_UPSTREAM},
	{{"--upstream-rate=250Mbps", "--rate=1Gbps"}, 1000000000, 250000000},
	{{"--upstream-rate", "max"}, 2000000000, 0},
	{{"--rate=2Gbps", "--upstream-share=15%"}, 2000000000, 300000000},
	{{"--upstream-share=12.5%", "--rate=1Mbps"}, 1000000, 125000},
	{{"--upstream-share=0%"}, 2000000000, NO_UPSTREAM},
};

TEST(rates_of_both_directions_are_parsed) {
	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		struct options o = parse(rates[i].words);

		assert_int_equal(o.rate, rates[i].rate);
		assert_int_equal(o.upstream, rates[i].upstream_rate != NO_UPSTREAM);
		if (o.upstream)
			assert_int_equal(o.upstream_rate, rates[i].upstream_rate);
		assert_false(o.no_downstream || o.send_only);
	}
}

TEST(options_are_parsed) {
	struct options o = parse(WORDS());

	assert_string_equal(o.mix, "imix");
	assert_string_equal(o.upstream_mix, "upstream-imix");
	o = parse(WORDS("--upstream-rate", "max", "--upstream-mix", "84:1,256:2"));
	assert_string_equal(o.upstream_mix, "84:1,256:2");
	o = parse(WORDS("--no-downstream", "--upstream-rate=max"));
	assert_true(o.upstream && o.no_downstream && !o.send_only);
	o = parse(WORDS("--flows=1000000", "--send-only"));
	assert_int_equal(o.flows, 1000000);
	assert_true(o.send_only);
}

/* A shape in units of the downstream rate applies to the upstream rate as shares. */
TEST(shape_applies_to_both_directions) {
	struct options o = parse(WORDS("--rate=1Gbps", "--upstream-rate=10Mbps",
				       "--shape=ramp:to=500Mbps", "--duration=4s"));

	assert_true(shape_period(&o.shape) == 4 && shape_peak(&o.shape) == 0.5);
	assert_true(shape_period(&o.upstream_shape) == 4 && shape_peak(&o.upstream_shape) == 0.5);
	o = parse(WORDS("--rate=1Gbps", "--upstream-rate=10Mbps", "--shape=ramp",
			"--upstream-shape=ramp:to=5Mbps,time=1s"));
	assert_true(shape_period(&o.shape) == 10 && shape_peak(&o.shape) == 1);
	assert_true(shape_period(&o.upstream_shape) == 1 && shape_peak(&o.upstream_shape) == 0.5);
	o = parse(WORDS("--upstream-rate=10Mbps", "--shape=day", "--upstream-shape=constant"));
	assert_int_equal(o.upstream_shape.count, 0);
	o = parse(WORDS("--no-downstream", "--upstream-rate=10Mbps", "--shape=ramp:to=5Mbps"));
	assert_true(shape_peak(&o.upstream_shape) == 0.5);
	o = parse(WORDS("--upstream-rate=10Mbps"));
	assert_true(o.shape.count == 0 && o.upstream_shape.count == 0);
}

TEST(invalid_options_exit_with_2) {
	static const char *const valid[][CASE_WORDS] = {
		{"--shape=constant", "--rate=max"},
		{"--shape=ramp", "--upstream-rate=max", "--upstream-shape=constant"},
		{NULL},
		{"--upstream-rate=0", "--check"},
		{"--replay=f"},
		{"--trials", "--no-downstream"},
	};
	static const char *const invalid[][CASE_WORDS] = {
		{"--shape="},
		{"--shape=ramp", "--upstream-rate=max"},
		{"--shape=ramp:to=200%", "--rate=1Tbps"},
		{"--upstream-share=1001%"},
		{"--upstream-share=-1%"},
		{"--upstream-share=.%"},
		{"--upstream-share=15%", "--upstream-rate=1Mbps"},
		{"--upstream-share=200%", "--rate=1Tbps"},
		{"--upstream-share=0.001%", "--rate=1kbps"},
		{"--upstream-share=15%", "--no-downstream"},
		{"--upstream-rate=2Tbps"},
		{"--upstream-rate=-1Mbps"},
		{"--upstream-rate="},
		{"--rate=0"},
		{"--no-downstream"},
		{"--no-downstream", "--upstream-rate=0"},
		{"--permit-share=60", "--classify-share=60"},
		{"--flows=0"},
		{"--replay=f", "--mix=imix"},
		{"--replay=f", "--flows=9"},
		{"--replay=f", "--no-downstream", "--upstream-rate=max"},
		{"--flows=16777217"},
		{"--flows=many"},
		{"--banana"},
		{"--trials", "--shape=ramp"},
		{"--trials", "--upstream-rate=1Mbps", "--upstream-shape=constant"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(valid); i++)
		assert_int_equal(exit_status(valid[i]), -1);
	for (size_t i = 0; i < ARRAY_COUNT(invalid); i++) {
		if (exit_status(invalid[i]) != 2)
			fail_msg("exit status of %s is not 2", invalid[i][0]);
	}
}
