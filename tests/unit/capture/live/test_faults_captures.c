/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures of a server whose groups come, go, and move from worker to worker. */
#include "test_main.h"

#include <sched.h>
#include <string.h>

#include "model/load/loader.h"

#include "capture/live/captures.h"
#include "capture/live/end.h"
#include "capture/live/names.h"
#include "capture/live/output.h"
#include "capture/live/sites.h"
#include "platform/secret/secret_memory.h"

#include "fault_runs.h"
#include "fixture.h"
#include "life_bench.h"

#define TURNS 30
#define WINDOW 48 /* packets on their way: fewer than any ring holds */
#define MS UINT64_C(1000000)

static struct life_bench storage, *const bench = &storage;
static struct tap_captures captures;
static struct tap_capture *capture; /* that runs */
static const char *wish; /* that it is of */

/*
 * Each time that views are replaced, the workers are waited for twice: before drops are seen by the new ones, and before
 * the old ones are freed.
 */
static bool short_of_memory; /* then names that no worker has seen are freed, too */
static enum { VIEWS_REPLACED = 1, WORKERS_PASSED, DROPS_SEEN, WORKERS_PASSED_AGAIN } follows;
__typeof__(server_synchronize) __real_server_synchronize, __wrap_server_synchronize;
__typeof__(tap_spot_publish) __real_tap_spot_publish, __wrap_tap_spot_publish;
__typeof__(tap_spot_publish_drops) __real_tap_spot_publish_drops, __wrap_tap_spot_publish_drops;
__typeof__(tap_names_free) __real_tap_names_free, __wrap_tap_names_free;

void __wrap_server_synchronize(const struct server *s) {
	if (follows == VIEWS_REPLACED)
		follows = WORKERS_PASSED;
	else if (follows == WORKERS_PASSED || follows == DROPS_SEEN)
		follows = WORKERS_PASSED_AGAIN;
	__real_server_synchronize(s);
}

void __wrap_tap_spot_publish(const struct tap_spot *spot, struct tap_view *v) {
	follows = VIEWS_REPLACED;
	__real_tap_spot_publish(spot, v);
}

void __wrap_tap_spot_publish_drops(const struct tap_spot *spot, struct tap_view *v) {
	assert_true(follows == WORKERS_PASSED || follows == DROPS_SEEN);
	follows = DROPS_SEEN;
	__real_tap_spot_publish_drops(spot, v);
}

void __wrap_tap_names_free(struct tap_names *n) {
	if (n != NULL && !short_of_memory)
		assert_int_equal(follows, WORKERS_PASSED_AGAIN);
	__real_tap_names_free(n);
}

/* By the control thread, until it was begun or refused, as it is asked in each of its rounds. */
static enum outcome capture_begin(void *context) {
	char why[TAP_LINE] = "";
	struct tap_wish w;

	(void)context;
	if (!tap_wish_read(wish, strlen(wish), &w, why)) {
		assert_string_not_equal(why, "");
		return OUTCOME_REFUSED;
	}
	capture = tap_capture_ask(&captures, &w);
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
	life_bench_open(bench, 2, most_groups);
	assert_int_equal(tap_captures_open(&captures, &bench->server), 0);
	wish = asked;
	begin_again(NULL);
}

/* The capture has ended, or does so now. */
static void close_all(void) {
	if (captures.active)
		end_again(NULL);
	tap_captures_close(&captures);
	life_bench_close(bench);
}

/* Takes a place's records out: they are in order, and what the stage says. Returns how many. */
static unsigned taken(const struct tap_place *place) {
	const struct tap_record *r;
	uint64_t last = 0;
	unsigned count = 0;
	uint32_t size;

	while ((r = tap_ring_first(&place->end->ring, &size)) != NULL) {
		assert_true(r->tsc >= last);
		assert_int_equal(r->reason, DROP_NONE);
		assert_int_not_equal(r->known & TAP_KNOWS_MODEM, 0);
		last = r->tsc;
		count++;
		tap_ring_take(&place->end->ring);
	}
	return count;
}

struct mover {
	bool failed, done;
};

/* The control thread: parts move, one or all; and the captures follow. */
static void *move(void *arg) {
	static const unsigned parts[] = {PART_UPPER, PART_LOWER, PART_UPSTREAM,
					 PART_UPPER | PART_LOWER | PART_UPSTREAM};
	struct server *s = &bench->server;
	struct mover *m = arg;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		unsigned worker = turn * 7 % LIFE_WORKERS;

		if (turn % 3 == 0)
			m->failed |=
				server_worker_drain(s, worker, (worker + 1) % LIFE_WORKERS) != 0 ||
				server_worker_resume(s, worker) != 0;
		else
			m->failed |= server_move_group(s, 0, parts[turn % ARRAY_COUNT(parts)],
						       worker) != 0;
		captures.news = turn % 2 == 0; /* all views anew */
		tap_captures_follow(&captures);
	}
	__atomic_store_n(&m->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static uint64_t down_out(void) {
	return __atomic_load_n(
		&bench->server.groups[0].downstream->lower.counters.values[COUNTER_TRANSMITTED],
		__ATOMIC_RELAXED);
}

/* Never more than the window, which is all that is ever on its way. */
static void traffic(uint32_t *sent) {
	if (*sent - down_out() < WINDOW && *sent - bench->taken_up[1] < WINDOW &&
	    life_bench_down(bench, 0, &bench->file[0], 200, *sent)) {
		while (!life_bench_up(bench, 0, &bench->file[0], *sent))
			life_bench_take(bench);
		(*sent)++;
	}
	life_bench_take(bench);
	sched_yield();
}

/* Every packet is captured once, in both directions, whichever worker has it. */
TEST(parts_that_move) {
	struct mover mover = {false};
	uint32_t sent = 0;
	pthread_t thread;

	open_with(2, "{\"group\":1,\"stages\":[\"classify\",\"frame\",\"verify_source\"],"
		     "\"rate\":1000000,\"snaplen\":64}");
	life_bench_launch(bench);
	assert_int_equal(capture->place_count, 3);
	assert_int_equal(pthread_create(&thread, NULL, move, &mover), 0);
	while (!__atomic_load_n(&mover.done, __ATOMIC_ACQUIRE) && sent < 8000)
		traffic(&sent);
	pthread_join(thread, NULL);
	while (down_out() < sent || bench->taken_up[1] < sent) {
		life_bench_take(bench);
		sched_yield();
	}
	tap_capture_end(&captures, capture);
	tap_captures_follow(&captures);
	life_bench_halt(bench);
	assert_false(mover.failed);
	assert_true(sent > 0);
	assert_int_equal(capture->place_count, 3);
	for (unsigned p = 0; p < 3; p++)
		assert_int_equal(taken(capture->places[p]), sent);
	tap_capture_free(&captures, capture);
	close_all();
}

/* Of a group's parts those that have what is asked for; and what a group has not got has no name. */
TEST(parts_that_are_asked_for) {
	struct served_group without;
	struct tap_names *names;

	open_with(5, "{\"dropped\":[\"filter_deny\"],\"group\":1}");
	assert_int_equal(tap_site_count(&bench->server), 5 * TAP_GROUP_PARTS + SERVER_PORTS_MAX);
	assert_int_equal(capture->place_count, 2); /* both MACs of the downstream */
	for (unsigned p = 0; p < capture->place_count; p++)
		assert_int_equal(capture->places[p]->direction, DIRECTION_DOWN);
	without = bench->server.groups[0];
	without.upstream = NULL;
	names = tap_names_create(&without);
	assert_non_null(names);
	assert_int_equal(tap_names_up_flow(names, 100), TAP_NOBODY);
	assert_int_not_equal(tap_names_down_flow(names, 1), TAP_NOBODY);
	tap_names_free(names);
	close_all();
}

static uint64_t memory_taken(void) {
	uint64_t bytes = 0;

	for (unsigned p = 0; p < capture->place_count; p++)
		bytes += capture->places[p]->end->ring.size;
	return bytes;
}

/* Groups that come later get rings, too, and all together keep to what a capture may take. */
TEST(memory_has_a_bound) {
	struct service_group comes[3];
	char why[LIVE_LINE] = "";
	unsigned group;

	open_with(5, "{\"dropped\":true}");
	assert_true(memory_taken() <= TAP_MEMORY);
	for (unsigned i = 0; i < ARRAY_COUNT(comes); i++) {
		unsigned before = capture->place_count;

		life_bench_load(&comes[i], 3 + i, 0, 1, 2, 0);
		group = life_bench_add(bench, &comes[i]);
		tap_captures_follow(&captures);
		assert_int_equal(capture->place_count, before + TAP_GROUP_PARTS);
		assert_true(memory_taken() <=
			    TAP_MEMORY + (i + 1) * TAP_GROUP_PARTS * TAP_RING_LEAST);
	}
	assert_true(server_group_remove(&bench->server, group, 0, why));
	close_all();
	for (unsigned i = 0; i < ARRAY_COUNT(comes); i++)
		service_group_free(&comes[i]);
}

/* What is gone is seen no more, whether another one is in its place at the next look or not. */
TEST(groups_that_go) {
	struct service_group comes;
	char why[LIVE_LINE] = "";
	unsigned group = 0;

	open_with(3, "{\"stages\":[\"classify\"],\"direction\":\"downstream\"}");
	life_bench_load(&comes, 3, 0, 1, 2, 0);
	assert_int_equal(capture->place_count, 2);
	for (unsigned turn = 1; turn <= 4; turn++) {
		group = life_bench_add(bench, &comes);
		if (turn % 2 == 0)
			tap_captures_follow(&captures);
		life_bench_down(bench, 0, &comes, 200, turn);
		life_bench_pass(bench, MS);
		assert_true(server_group_remove(&bench->server, group, 100, why));
		if (turn % 2 == 0)
			tap_captures_follow(&captures);
	}
	tap_captures_follow(&captures);
	assert_int_equal(capture->place_count, 2 + 2); /* as often as somebody looked */
	for (unsigned p = 0; p < 2; p++)
		assert_false(capture->places[p]->gone);
	for (unsigned p = 2; p < 4; p++) {
		assert_true(capture->places[p]->gone);
		assert_int_equal(taken(capture->places[p]), 1);
	}
	close_all();
	service_group_free(&comes);
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

/* Each call that may fail does so once while a capture begins, ends, or follows a change of the server. */
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

static int start(void **state) {
	secret_json_wipe();
	return 0;
}

ALL_TESTS(start, fixture_stop)
