/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a configuration on their way into the scheduler of a whole server, step by step. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "model/loader.h"
#include "server/reload.h"

#include "fixture.h"
#include "server_bench.h"

#define RPHY_DEPTH 1024
#define FLOWS 5
#define MBPS 1000000ull

static struct server_bench storage, *const bench = &storage;

static void load(struct service_group *sg, const char *from, const char *to) {
	char varied[8192];
	const char *at = strstr(server_bench_text, from);

	assert_non_null(at);
	snprintf(varied, sizeof(varied), "%.*s%s%srphy: {mtu: 1500, max_segments: 16}\n",
		 (int)(at - server_bench_text), server_bench_text, to, at + strlen(from));
	assert_int_equal(service_group_load_text("sg.yaml", varied, strlen(varied), sg, stderr), 0);
}

static void open_bench(void) {
	char text[8192];

	snprintf(text, sizeof(text), "%srphy: {mtu: 1500, max_segments: 16}\n", server_bench_text);
	server_bench_open(bench, text, RPHY_DEPTH);
}

static struct reload_job job_of(struct service_group *next, struct reload_changes *changes) {
	char why[256];

	assert_true(reload_compare(&bench->sg, next, changes, why, sizeof(why)));
	return (struct reload_job){.downstream = bench->group->downstream,
				   .now = &bench->sg,
				   .next = next,
				   .changes = changes};
}

static uint8_t priority_of(uint32_t flow) {
	const struct ds_flow *f = &bench->group->downstream->tables.flows[flow];

	return f->header[DS_FLOW_HEADER - 2 - (f->sequenced ? 5 : 1)] >> 5;
}

/* With packets queued: what waits goes out under the new rate, and nobody loses any. */
static void channel_rate(void **state) {
	struct reload_changes changes;
	struct service_group next;
	struct reload_job job;
	struct clock *clock;
	uint64_t before, capacity;

	(void)state;
	open_bench();
	clock = server_bench_clock(bench);
	load(&next, "rate: 40 Mbps", "rate: 80 Mbps");
	for (int i = 0; i < 15; i++)
		server_bench_good(bench, 2, 0, 1000);
	server_bench_good(bench, 0, 0, 1000);
	server_bench_round(bench);
	before = clock->now;
	clock->now += 1000000;
	job = job_of(&next, &changes);
	assert_int_equal(changes.count, 1);
	assert_true(reload_step(&job));
	assert_null(job.why);
	clock->now += 1000000;
	capacity = qos_capacity(bench->group->downstream, 2, clock->now);
	assert_int_equal(capacity,
			 (before + 1000000) * 40 * MBPS / 8 / 1000000000 + 80 * MBPS / 8 / 1000);
	server_bench_settle(bench);
	assert_int_equal(bench->back, 16);
	free(changes.list);
	service_group_free(&next);
	server_bench_close(bench);
}

/* The frames tell the new priority, and nothing else of their headers changes. */
static void priority(void **state) {
	struct ds_flow before[FLOWS];
	struct reload_changes changes;
	struct service_group next;
	struct reload_job job;
	const struct ds_flow *flows;

	(void)state;
	open_bench();
	flows = bench->group->downstream->tables.flows;
	memcpy(before, flows, sizeof(before));
	load(&next, "id: 5, priority: 1", "id: 5, priority: 6");
	job = job_of(&next, &changes);
	assert_true(reload_step(&job));
	assert_int_equal(priority_of(4), 6);
	before[4].header[DS_FLOW_HEADER - 7] ^= (1 ^ 6) << 5;
	assert_memory_equal(before, flows, sizeof(before));
	free(changes.list);
	service_group_free(&next);

	load(&next, "id: 2, priority: 3", "id: 2, priority: 7"); /* and flow 5 has its own again */
	job = job_of(&next, &changes);
	assert_true(reload_step(&job));
	assert_int_equal(priority_of(1), 7);
	before[1].header[DS_FLOW_HEADER - 3] ^= (3 ^ 7) << 5;
	assert_memory_equal(before, flows, sizeof(before));
	free(changes.list);
	service_group_free(&next);
	server_bench_close(bench);
}

/* Many changes go in as many steps; a refusal, in the midst of them, takes all of them back. */
static void all_or_nothing(void **state) {
	struct reload_changes changes = {.count = 5 * RELOAD_STEP + 2};
	struct reload_job job = {.changes = &changes};
	struct service_group next;
	unsigned steps = 1;

	(void)state;
	open_bench();
	load(&next, "id: 5, priority: 1", "id: 5, priority: 6");
	changes.list = calloc(changes.count, sizeof(*changes.list));
	assert_non_null(changes.list);
	for (size_t i = 0; i < changes.count; i++)
		changes.list[i] = (struct qos_change){QOS_FLOW, 4, 3, 0};
	job.downstream = bench->group->downstream;
	job.now = &bench->sg;
	job.next = &next;
	while (!reload_step(&job))
		steps++;
	assert_null(job.why);
	assert_int_equal(job.done, changes.count);
	assert_int_equal(steps, 6);
	assert_int_equal(priority_of(4), 6);

	/* one that no loader lets pass */
	next.modems[1].service_flows[0].bonding_group = 77;
	changes.list[5 * RELOAD_STEP] = (struct qos_change){QOS_FLOW, 1, 1, 0};
	job.done = 0;
	for (steps = 1; !reload_step(&job); steps++)
		assert_in_range(steps, 1, 20);
	assert_non_null(job.why);
	assert_int_equal(job.refused, 5 * RELOAD_STEP);
	assert_int_equal(job.done, 0);
	assert_int_equal(steps, 6 + 5);
	assert_int_equal(priority_of(4), 1);
	assert_int_equal(priority_of(1), 3);
	free(changes.list);
	service_group_free(&next);
	server_bench_close(bench);
}

/* Refused at once: there is nothing to take back. */
static void first_refused(void **state) {
	struct qos_change change = {QOS_CHANNEL, 0, 0, 0};
	struct reload_changes changes = {.list = &change, .count = 1};
	struct reload_job job = {.changes = &changes};
	struct service_group next;

	(void)state;
	open_bench();
	load(&next, "rate: 40 Mbps", "rate: 80 Mbps");
	next.channels[0].rate = 1;
	job.downstream = bench->group->downstream;
	job.now = &bench->sg;
	job.next = &next;
	assert_true(reload_step(&job));
	assert_non_null(job.why);
	assert_int_equal(job.done, 0);
	service_group_free(&next);
	server_bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(channel_rate),
		cmocka_unit_test(priority),
		cmocka_unit_test(all_or_nothing),
		cmocka_unit_test(first_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
