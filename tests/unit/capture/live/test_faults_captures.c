/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests captures while groups are added, removed and moved between workers, and calls fail. */
#include "test_main.h"

#include "capture/live/buffer.h"
#include "capture/live/captures.h"
#include "capture/live/names.h"
#include "capture/live/sites.h"
#include "platform/secret/secret_memory.h"

#include "fault_runs.h"
#include "fixture.h"
#include "life_kit.h"

#define STEPS 30
#define MS UINT64_C(1000000)

static struct life_kit storage, *const kit = &storage;
static struct tap_captures captures;
static struct tap_capture *capture; /* running */
static const char *request; /* its request */

/* Calls may fail. New names are then freed in any phase if their view cannot be created. */
static bool calls_fail;

/* How far the replacement of views is. The order: publish the views, server_synchronize(), publish them for drops,
 * server_synchronize(), free the old views and names. The wrappers below check it. */
static enum { NO_REPLACEMENT, VIEWS_REPLACED, WORKERS_PASSED, DROPS_REPLACED, OLD_UNUSED } phase;
__typeof__(server_synchronize) __real_server_synchronize, __wrap_server_synchronize;
__typeof__(tap_site_publish) __real_tap_site_publish, __wrap_tap_site_publish;
__typeof__(tap_site_publish_drops) __real_tap_site_publish_drops, __wrap_tap_site_publish_drops;
__typeof__(tap_names_free) __real_tap_names_free, __wrap_tap_names_free;

void __wrap_server_synchronize(const struct server *s) {
	if (phase == VIEWS_REPLACED)
		phase = WORKERS_PASSED;
	else if (phase == WORKERS_PASSED || phase == DROPS_REPLACED)
		phase = OLD_UNUSED;
	__real_server_synchronize(s);
}

void __wrap_tap_site_publish(const struct tap_site *site, struct tap_view *v) {
	phase = VIEWS_REPLACED;
	__real_tap_site_publish(site, v);
}

void __wrap_tap_site_publish_drops(const struct tap_site *site, struct tap_view *v) {
	assert_true(phase == WORKERS_PASSED || phase == DROPS_REPLACED);
	phase = DROPS_REPLACED;
	__real_tap_site_publish_drops(site, v);
}

void __wrap_tap_names_free(struct tap_names *n) {
	if (n != NULL && !calls_fail)
		assert_int_equal(phase, OLD_UNUSED);
	__real_tap_names_free(n);
}

/* Begins the capture of `request`, as the control thread does. */
static enum outcome begin_capture(void *context) {
	char why[TAP_LINE] = "";
	struct tap_request w;

	(void)context;
	if (!tap_request_read(request, strlen(request), &w, why)) {
		assert_string_not_equal(why, "");
		return OUTCOME_REFUSED;
	}
	capture = tap_capture_request(&captures, &w);
	assert_non_null(capture);
	tap_captures_update(&captures);
	if (tap_capture_state(&captures, capture) == TAP_RUNNING)
		return OUTCOME_DONE;
	assert_int_equal(tap_capture_state(&captures, capture), TAP_REFUSED);
	assert_string_not_equal(capture->why, "");
	tap_capture_free(&captures, capture);
	return OUTCOME_REFUSED;
}

static enum outcome end_capture(void *context) {
	(void)context;
	tap_capture_end(&captures, capture);
	tap_captures_update(&captures);
	assert_int_equal(tap_capture_state(&captures, capture), TAP_ENDED);
	tap_capture_free(&captures, capture);
	return OUTCOME_DONE;
}

static void begin_ok(void *context) {
	assert_int_equal(begin_capture(context), OUTCOME_DONE);
}

static void end_ok(void *context) {
	assert_int_equal(end_capture(context), OUTCOME_DONE);
	assert_false(captures.active);
}

/* Opens a server with groups 1 and 2 and capacity for `max_groups`, and begins the capture. */
static void open_with_capture(unsigned max_groups, const char *capture_request) {
	secret_json_wipe();
	life_kit_open(kit, 2, max_groups);
	assert_int_equal(tap_captures_open(&captures, &kit->server), 0);
	request = capture_request;
	begin_ok(NULL);
}

/* Ends the capture if it runs, and closes the server. */
static void close_all(void) {
	if (captures.active)
		end_ok(NULL);
	tap_captures_close(&captures);
	life_kit_close(kit);
}

static uint64_t records[4]; /* received, by source */

/* Reads all records of the sources. Checks their order and contents. */
static void read_records(struct life_script *s) {
	for (unsigned p = 0; p < capture->source_count; p++) {
		struct tap_ring *ring = &capture->sources[p]->buffer->ring;
		const struct tap_record *r;
		uint64_t last = 0;
		uint32_t size;

		for (; (r = tap_ring_first(ring, &size)) != NULL; tap_ring_pop(ring)) {
			life_check(s, r->tsc >= last, "records are out of order");
			life_check(s, r->reason == DROP_NONE, "a packet was dropped");
			life_check(s, (r->known & TAP_KNOWS_MODEM) != 0, "no modem is known");
			last = r->tsc;
			records[p]++;
		}
	}
}

/* A step of the control thread: moves one or all parts of a group, or drains and resumes a worker.
 * Then it updates the capture. */
static void move_step(struct life_script *script, unsigned number) {
	static const unsigned parts[] = {PART_UPPER, PART_LOWER, PART_UPSTREAM,
					 PART_UPPER | PART_LOWER | PART_UPSTREAM};
	struct server *s = &kit->server;
	unsigned worker = number * 7 % LIFE_WORKERS;

	if (number % 3 != 0)
		life_check(script,
			   server_move_group(s, 0, parts[number % ARRAY_COUNT(parts)], worker) == 0,
			   "the group cannot be moved");
	else
		life_check(script,
			   server_worker_drain(s, worker, (worker + 1) % LIFE_WORKERS) == 0 &&
				   server_worker_resume(s, worker) == 0,
			   "a worker cannot be drained");
	/* if set, the update replaces all views; a move alone replaces none */
	captures.wakeup = number % 2 == 0;
	tap_captures_update(&captures);
	read_records(script);
}

TEST(capture_continues_while_parts_move) {
	struct life_script script = {.step = move_step, .steps = STEPS};

	open_with_capture(2, "{\"group\":1,\"stages\":[\"classify\",\"frame\",\"verify_source\"],"
			     "\"rate\":1000000,\"snaplen\":64}");
	memset(records, 0, sizeof(records));
	life_run_script(kit, &script);
	read_records(&script);
	assert_null(script.failure);
	assert_int_equal(capture->source_count, 3);
	for (unsigned p = 0; p < 3; p++)
		assert_int_equal(records[p], kit->received_up[1]);
	close_all();
}

/* Only parts with a requested capture point have a source. Names of a group without upstream have no upstream flows. */
TEST(only_parts_with_capture_point_have_source) {
	struct served_group without;
	struct tap_names *names;

	open_with_capture(5, "{\"dropped\":[\"filter_deny\"],\"group\":1}");
	assert_int_equal(tap_site_count(&kit->server), 5 * TAP_GROUP_PARTS + SERVER_PORTS_MAX);
	assert_int_equal(capture->source_count, 2); /* upper and lower MAC */
	for (unsigned p = 0; p < capture->source_count; p++)
		assert_int_equal(capture->sources[p]->direction, DIRECTION_DOWN);
	without = kit->server.groups[0];
	without.upstream = NULL;
	names = tap_names_create(&without);
	assert_non_null(names);
	assert_int_equal(tap_names_up_flow(names, 100), TAP_NONE);
	assert_int_not_equal(tap_names_down_flow(names, 1), TAP_NONE);
	tap_names_free(names);
	close_all();
}

static uint64_t ring_memory(void) {
	uint64_t bytes = 0;

	for (unsigned p = 0; p < capture->source_count; p++)
		bytes += capture->sources[p]->buffer->ring.size;
	return bytes;
}

/* Rings fit into TAP_MEMORY. Sources that are added later get at least TAP_RING_MIN each, even beyond it. */
TEST(ring_memory_is_limited) {
	unsigned group = 0;

	open_with_capture(5, "{\"dropped\":true}");
	assert_true(ring_memory() <= TAP_MEMORY);
	for (unsigned i = 0; i < 3; i++) {
		unsigned before = capture->source_count;

		group = life_kit_add(kit, life_kit_load_extra(kit, 3 + i, 0, 1, 2, 0));
		tap_captures_update(&captures);
		assert_int_equal(capture->source_count, before + TAP_GROUP_PARTS);
		assert_true(ring_memory() <= TAP_MEMORY + (i + 1) * TAP_GROUP_PARTS * TAP_RING_MIN);
	}
	life_kit_remove(kit, group, 0);
	close_all();
}

/* Sources of removed groups are marked as removed, even if another group has their slot by then. */
TEST(sources_of_removed_groups_are_marked) {
	const struct service_group *added;
	struct life_script script = {0};

	open_with_capture(3, "{\"stages\":[\"classify\"],\"direction\":\"downstream\"}");
	added = life_kit_load_extra(kit, 3, 0, 1, 2, 0);
	assert_int_equal(capture->source_count, 2);
	for (unsigned number = 1; number <= 4; number++) {
		unsigned group = life_kit_add(kit, added);

		if (number % 2 == 0)
			tap_captures_update(&captures);
		life_kit_send_packet(kit, 0, added, 200, number);
		life_kit_run(kit, MS);
		life_kit_remove(kit, group, 100);
		if (number % 2 == 0)
			tap_captures_update(&captures);
	}
	tap_captures_update(&captures);
	/* groups 1 and 2; the added group has one for each of the two updates that found it in service */
	assert_int_equal(capture->source_count, 2 + 2);
	memset(records, 0, sizeof(records));
	read_records(&script);
	assert_null(script.failure);
	for (unsigned p = 0; p < 4; p++) {
		assert_int_equal(capture->sources[p]->removed, p >= 2);
		assert_int_equal(records[p], p >= 2);
	}
	close_all();
}

/* A running capture follows changes of the server, also while it has no site. */
TEST(capture_without_site_gets_sources_of_added_group) {
	const struct service_group *added;
	unsigned group;

	open_with_capture(3, "{\"stages\":[\"classify\"],\"group\":1}");
	end_ok(NULL);
	added = life_kit_load_extra(kit, 3, 0, 1, 2, 0);
	group = life_kit_add(kit, added);
	request = "{\"stages\":[\"classify\"],\"group\":3}";
	begin_ok(NULL);
	assert_int_equal(capture->source_count, 1);
	for (unsigned number = 1; number <= 2; number++) {
		life_kit_remove(kit, group, 0);
		tap_captures_update(&captures);
		assert_int_equal(tap_capture_state(&captures, capture), TAP_RUNNING);
		group = life_kit_add(kit, added);
		tap_captures_update(&captures);
		assert_int_equal(capture->source_count, number + 1);
	}
	life_kit_remove(kit, group, 0);
	close_all();
}

static void check_traffic(void) {
	life_kit_check_traffic(kit);
}

/* If a call fails, a capture is refused and leaves nothing, or it begins, without the packets of sites for which memory
 * was short. */
TEST(failed_call_refuses_or_completes_capture) {
	const struct operation begin = {
		.name = "begin",
		.run = begin_capture,
		.undo = end_ok,
		.check_traffic = check_traffic,
		.reads = true,
	};
	const struct operation end = {
		.name = "end",
		.run = end_capture,
		.undo = begin_ok,
		.check_traffic = check_traffic,
	};

	open_with_capture(
		3, "{\"group\": 1, \"stages\": [\"classify\", \"frame\", \"verify_source\"], "
		   "\"dropped\": true}");
	/* capacity for stage lists, as their growth would count as a leak */
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_int_equal(worker_reserve(&kit->server.workers[w], 200), 0);
	/* the end of the only capture allocates nothing */
	assert_int_equal(run_with_each_fault(&end, &kit->server), 0);
	end_ok(NULL);
	calls_fail = true;
	assert_true(run_with_each_fault(&begin, &kit->server) > 10);
	assert_false(captures.active);
	close_all();
}

ALL_TESTS(NULL, fixture_stop)
