/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures of a server whose groups come, go, and move from worker to worker. */
#include "test_main.h"

#include "capture/live/captures.h"
#include "capture/live/end.h"
#include "capture/live/names.h"
#include "capture/live/sites.h"
#include "platform/secret/secret_memory.h"

#include "fault_runs.h"
#include "fixture.h"
#include "life_kit.h"

#define TURNS 30
#define MS UINT64_C(1000000)

static struct life_kit storage, *const bench = &storage;
static struct tap_captures captures;
static struct tap_capture *capture; /* that runs */
static const char *request; /* that it is of */

/*
 * Each time that views are replaced, the workers are waited for twice: before drops are seen by the new ones, and before
 * the old ones are freed.
 */
static bool short_of_memory; /* then names that no worker has seen are freed, too */
static enum { VIEWS_REPLACED = 1, WORKERS_PASSED, DROPS_SEEN, WORKERS_PASSED_AGAIN } follows;
__typeof__(server_synchronize) __real_server_synchronize, __wrap_server_synchronize;
__typeof__(tap_point_publish) __real_tap_point_publish, __wrap_tap_point_publish;
__typeof__(tap_point_publish_drops) __real_tap_point_publish_drops, __wrap_tap_point_publish_drops;
__typeof__(tap_names_free) __real_tap_names_free, __wrap_tap_names_free;

void __wrap_server_synchronize(const struct server *s) {
	if (follows == VIEWS_REPLACED)
		follows = WORKERS_PASSED;
	else if (follows == WORKERS_PASSED || follows == DROPS_SEEN)
		follows = WORKERS_PASSED_AGAIN;
	__real_server_synchronize(s);
}

void __wrap_tap_point_publish(const struct tap_point *point, struct tap_view *v) {
	follows = VIEWS_REPLACED;
	__real_tap_point_publish(point, v);
}

void __wrap_tap_point_publish_drops(const struct tap_point *point, struct tap_view *v) {
	assert_true(follows == WORKERS_PASSED || follows == DROPS_SEEN);
	follows = DROPS_SEEN;
	__real_tap_point_publish_drops(point, v);
}

void __wrap_tap_names_free(struct tap_names *n) {
	if (n != NULL && !short_of_memory)
		assert_int_equal(follows, WORKERS_PASSED_AGAIN);
	__real_tap_names_free(n);
}

/* By the control thread, until it was begun or refused, as it is asked in each of its rounds. */
static enum outcome capture_begin(void *context) {
	char why[TAP_LINE] = "";
	struct tap_request w;

	(void)context;
	if (!tap_request_read(request, strlen(request), &w, why)) {
		assert_string_not_equal(why, "");
		return OUTCOME_REFUSED;
	}
	capture = tap_capture_request(&captures, &w);
	assert_non_null(capture);
	tap_captures_follow(&captures);
	if (tap_capture_state(&captures, capture) == TAP_RUNNING)
		return OUTCOME_DONE;
	assert_int_equal(tap_capture_state(&captures, capture), TAP_REFUSED);
	assert_string_not_equal(capture->why, "");
	tap_capture_free(&captures, capture);
	return OUTCOME_REFUSED;
}

static enum outcome capture_end(void *context) {
	(void)context;
	tap_capture_end(&captures, capture);
	tap_captures_follow(&captures);
	assert_int_equal(tap_capture_state(&captures, capture), TAP_ENDED);
	tap_capture_free(&captures, capture);
	return OUTCOME_DONE;
}

static void begin_again(void *context) {
	assert_int_equal(capture_begin(context), OUTCOME_DONE);
}

static void end_again(void *context) {
	assert_int_equal(capture_end(context), OUTCOME_DONE);
	assert_false(captures.active);
}

/* A server with this capture. */
static void open_with(unsigned most_groups, const char *asked) {
	secret_json_wipe();
	life_kit_open(bench, 2, most_groups);
	assert_int_equal(tap_captures_open(&captures, &bench->server), 0);
	request = asked;
	begin_again(NULL);
}

/* The capture has ended, or does so now. */
static void close_all(void) {
	if (captures.active)
		end_again(NULL);
	tap_captures_close(&captures);
	life_kit_close(bench);
}

static uint64_t came[4]; /* records of each source */

/* Takes the sources' records out: they are in order, and what the stage says. */
static void take(struct life_script *s) {
	for (unsigned p = 0; p < capture->source_count; p++) {
		struct tap_ring *ring = &capture->sources[p]->end->ring;
		const struct tap_record *r;
		uint64_t last = 0;
		uint32_t size;

		for (; (r = tap_ring_first(ring, &size)) != NULL; tap_ring_take(ring)) {
			life_check(s, r->tsc >= last, "records are out of order");
			life_check(s, r->reason == DROP_NONE, "a packet was dropped");
			life_check(s, (r->known & TAP_KNOWS_MODEM) != 0, "no modem is known");
			last = r->tsc;
			came[p]++;
		}
	}
}

/* The control thread: parts move, one or all; and the captures follow. */
static void move_turn(struct life_script *script, unsigned turn) {
	static const unsigned parts[] = {PART_UPPER, PART_LOWER, PART_UPSTREAM,
					 PART_UPPER | PART_LOWER | PART_UPSTREAM};
	struct server *s = &bench->server;
	unsigned worker = turn * 7 % LIFE_WORKERS;

	if (turn % 3 != 0)
		life_check(script,
			   server_move_group(s, 0, parts[turn % ARRAY_COUNT(parts)], worker) == 0,
			   "a part cannot be moved");
	else
		life_check(script,
			   server_worker_drain(s, worker, (worker + 1) % LIFE_WORKERS) == 0 &&
				   server_worker_resume(s, worker) == 0,
			   "a worker cannot be drained");
	captures.wakeup = turn % 2 == 0; /* all views anew */
	tap_captures_follow(&captures);
	take(script);
}

TEST(parts_that_move) {
	struct life_script script = {.turn = move_turn, .turns = TURNS};

	open_with(2, "{\"group\":1,\"stages\":[\"classify\",\"frame\",\"verify_source\"],"
		     "\"rate\":1000000,\"snaplen\":64}");
	memset(came, 0, sizeof(came));
	life_play(bench, &script);
	take(&script);
	assert_null(script.failed);
	assert_int_equal(capture->source_count, 3);
	for (unsigned p = 0; p < 3; p++)
		assert_int_equal(came[p], bench->taken_up[1]);
	close_all();
}

/* Of a group's parts those that have what is asked for; and what a group has not got has no name. */
TEST(parts_that_are_asked_for) {
	struct served_group without;
	struct tap_names *names;

	open_with(5, "{\"dropped\":[\"filter_deny\"],\"group\":1}");
	assert_int_equal(tap_site_count(&bench->server), 5 * TAP_GROUP_PARTS + SERVER_PORTS_MAX);
	assert_int_equal(capture->source_count, 2); /* both MACs of the downstream */
	for (unsigned p = 0; p < capture->source_count; p++)
		assert_int_equal(capture->sources[p]->direction, DIRECTION_DOWN);
	without = bench->server.groups[0];
	without.upstream = NULL;
	names = tap_names_create(&without);
	assert_non_null(names);
	assert_int_equal(tap_names_up_flow(names, 100), TAP_NONE);
	assert_int_not_equal(tap_names_down_flow(names, 1), TAP_NONE);
	tap_names_free(names);
	close_all();
}

static uint64_t memory_taken(void) {
	uint64_t bytes = 0;

	for (unsigned p = 0; p < capture->source_count; p++)
		bytes += capture->sources[p]->end->ring.size;
	return bytes;
}

/* Groups that come later get rings, too, and all together keep to what a capture may take. */
TEST(memory_has_a_bound) {
	unsigned group = 0;

	open_with(5, "{\"dropped\":true}");
	assert_true(memory_taken() <= TAP_MEMORY);
	for (unsigned i = 0; i < 3; i++) {
		unsigned before = capture->source_count;

		group = life_kit_add(bench, life_kit_group(bench, 3 + i, 0, 1, 2, 0));
		tap_captures_follow(&captures);
		assert_int_equal(capture->source_count, before + TAP_GROUP_PARTS);
		assert_true(memory_taken() <=
			    TAP_MEMORY + (i + 1) * TAP_GROUP_PARTS * TAP_RING_LEAST);
	}
	life_kit_remove(bench, group, 0);
	close_all();
}

/* What is gone is seen no more, whether another one is in its source at the next rule or not. */
TEST(groups_that_go) {
	const struct service_group *comes;
	struct life_script script = {0};

	open_with(3, "{\"stages\":[\"classify\"],\"direction\":\"downstream\"}");
	comes = life_kit_group(bench, 3, 0, 1, 2, 0);
	assert_int_equal(capture->source_count, 2);
	for (unsigned turn = 1; turn <= 4; turn++) {
		unsigned group = life_kit_add(bench, comes);

		if (turn % 2 == 0)
			tap_captures_follow(&captures);
		life_kit_down(bench, 0, comes, 200, turn);
		life_kit_pass(bench, MS);
		life_kit_remove(bench, group, 100);
		if (turn % 2 == 0)
			tap_captures_follow(&captures);
	}
	tap_captures_follow(&captures);
	assert_int_equal(capture->source_count, 2 + 2); /* as often as somebody looked */
	memset(came, 0, sizeof(came));
	take(&script);
	assert_null(script.failed);
	for (unsigned p = 0; p < 4; p++) {
		assert_int_equal(capture->sources[p]->gone, p >= 2);
		assert_int_equal(came[p], p >= 2);
	}
	close_all();
}

static void serves(void) {
	life_kit_serves(bench);
}

TEST(calls_that_fail) {
	const struct operation begins = {
		"capture begins", capture_begin, end_again, serves, NULL, false, true};
	const struct operation ends = {"capture ends", capture_end, begin_again, serves,
				       NULL,	       false,	    false};

	open_with(3, "{\"group\": 1, \"stages\": [\"classify\", \"frame\", \"verify_source\"], "
		     "\"dropped\": true}");
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_int_equal(worker_reserve(&bench->server.workers[w], 200), 0);
	assert_int_equal(every_fault(&ends, &bench->server), 0); /* it makes none */
	end_again(NULL);
	short_of_memory = true;
	assert_true(every_fault(&begins, &bench->server) > 10);
	assert_false(captures.active);
	close_all();
}

ALL_TESTS(NULL, fixture_stop)
