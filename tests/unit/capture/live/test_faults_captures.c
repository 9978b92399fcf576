/* SPDX-License-Identifier: BSD-3-Clause */
/* Each call that may fail does so once while a capture begins, ends, or follows a change of the server. */
#include "test_main.h"

#include <string.h>

#include "capture/live/captures.h"
#include "platform/secret/secret_memory.h"

#include "fault_runs.h"
#include "fixture.h"

#define MS UINT64_C(1000000)
#define WISH                                                                                     \
	"{\"group\": 1, \"stages\": [\"classify\", \"frame\", \"verify_source\"], \"dropped\": " \
	"true}"

static struct life_bench storage, *const bench = &storage;
static struct tap_captures captures;
static struct tap_capture *capture; /* that runs; NULL: none */

/* By the control thread, until it was begun or refused, as it is asked in each of its rounds. */
static enum outcome capture_begin(void *context) {
	char why[TAP_LINE] = "";
	struct tap_wish w;
	bool runs;

	(void)context;
	if (!tap_wish_read(WISH, strlen(WISH), &w, why)) {
		assert_string_not_equal(why, "");
		return OUTCOME_REFUSED;
	}
	capture = tap_capture_ask(&captures, &w);
	assert_non_null(capture);
	tap_captures_follow(&captures);
	runs = tap_capture_state(&captures, capture) == TAP_RUNNING;
	if (runs)
		return OUTCOME_DONE;
	assert_int_equal(tap_capture_state(&captures, capture), TAP_REFUSED);
	assert_string_not_equal(capture->why, "");
	tap_capture_free(&captures, capture);
	capture = NULL;
	return OUTCOME_REFUSED;
}

static enum outcome capture_end(void *context) {
	(void)context;
	tap_capture_end(&captures, capture);
	tap_captures_follow(&captures);
	assert_int_equal(tap_capture_state(&captures, capture), TAP_ENDED);
	tap_capture_free(&captures, capture);
	capture = NULL;
	return OUTCOME_DONE;
}

static void begin_again(void *context) {
	assert_int_equal(capture_begin(context), OUTCOME_DONE);
}

static void end_again(void *context) {
	assert_int_equal(capture_end(context), OUTCOME_DONE);
}

static void serves(void) {
	static uint32_t serial;
	uint64_t before = bench->taken_up[1];

	for (unsigned i = 0; i < 2; i++) {
		assert_true(life_bench_down(bench, 0, &bench->file[0], 200, serial));
		assert_true(life_bench_up(bench, 0, &bench->file[0], serial++));
	}
	life_bench_pass(bench, 2 * MS);
	assert_int_equal(bench->taken_up[1], before + 2);
	assert_true(server_balanced(&bench->server));
}

TEST(beginnings) {
	const struct operation o = {
		"capture begins", capture_begin, end_again, serves, NULL, false, true};

	assert_true(every_fault(&o, &bench->server) > 10);
	assert_false(captures.active);
}

TEST(ends) {
	const struct operation o = {"capture ends", capture_end, begin_again, serves,
				    NULL,	    false,	 false};

	begin_again(NULL);
	assert_int_equal(every_fault(&o, &bench->server), 0); /* it makes none */
	end_again(NULL);
	assert_false(captures.active);
}

static int begin(void **state) {
	secret_json_wipe();
	life_bench_open(bench, 2, 3);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_int_equal(worker_reserve(&bench->server.workers[w], 200), 0);
	return tap_captures_open(&captures, &bench->server);
}

static int end(void **state) {
	tap_captures_stop(&captures);
	tap_captures_close(&captures);
	life_bench_close(bench);
	return fixture_stop(state);
}

ALL_TESTS(begin, end)
