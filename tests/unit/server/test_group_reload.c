/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes, goes and differs in one reload of groups on shared ports: each packet finds the group that the file says. */
#include "test.h"

#include <string.h>

#include "model/loader.h"
#include "server/reconfigure.h"

#include "fixture.h"
#include "life_bench.h"

#define MS 1000000ull
#define GROUPS 3

static struct life_bench storage, *const bench = &storage;
static struct service_group next[GROUPS];
static struct server_config file = {.groups = next};
static char line[RECONFIGURE_LINE];
static uint32_t serial;

/* The groups 1, 2 and 3, as they are or with others of what tells their packets. */
static void load_next(unsigned count, bool others) {
	static const unsigned workers[GROUPS][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};

	file.group_count = count;
	for (unsigned g = 0; g < count; g++) {
		const unsigned *w = workers[g];

		life_bench_load(&next[g], g + 1, LIFE_SHARED, w[0], w[1], w[2]);
		if (!others || g == 2)
			continue;
		for (unsigned m = 0; m < 2; m++)
			next[g].modems[m].addresses[0].bytes[3] += 100;
		next[g].upstream_channels[0].session += 0x10;
	}
}

static void free_next(void) {
	for (unsigned g = 0; g < file.group_count; g++)
		service_group_free(&next[g]);
}

/* All traffic of the groups of the file comes through, and none is taken for another one's. */
static void all_is_told_apart(void) {
	struct life_totals before = life_bench_totals(bench), after;
	uint64_t up[LIFE_IDS], packets = 0;

	memcpy(up, bench->taken_up, sizeof(up));
	for (unsigned g = 0; g < file.group_count; g++) {
		for (unsigned i = 0; i < 4; i++, packets++) {
			assert_true(life_bench_down(bench, 0, &next[g], 200, serial));
			assert_true(life_bench_up(bench, 0, &next[g], serial++));
		}
		life_bench_pass(bench, 2 * MS);
	}
	after = life_bench_totals(bench);
	assert_int_equal(after.port_dropped, before.port_dropped);
	assert_int_equal(after.down_dropped, before.down_dropped);
	assert_int_equal(after.up_dropped, before.up_dropped);
	assert_int_equal(after.down_out, before.down_out + packets);
	for (unsigned g = 0; g < file.group_count; g++)
		assert_int_equal(bench->taken_up[next[g].id], up[next[g].id] + 4);
}

static void reload(const char *expected) {
	if (!server_reconfigure(&bench->server, &file, line))
		fail_msg("refused: %s", line);
	if (strstr(line, expected) == NULL)
		fail_msg("found: %s", line);
}

/* The group that was there first may have had its ports for itself. */
static void differs_and_comes(void **state) {
	(void)state;
	for (unsigned there = 1; there <= 2; there++) {
		life_bench_open(bench, there, GROUPS);
		load_next(there + 1, true);
		reload("1 service group added");
		all_is_told_apart();
		free_next();
		life_bench_close(bench);
	}
}

/* Two groups differ at a time, and a third one was there before. */
static void several_differ(void **state) {
	(void)state;
	life_bench_open(bench, 2, GROUPS);
	load_next(3, false);
	reload("1 service group added");
	all_is_told_apart();
	free_next();
	load_next(3, true);
	reload("service group 2: 2 modems changed, 1 upstream channel changed");
	all_is_told_apart();
	free_next();
	load_next(3, false);
	reload("service group 1: 2 modems changed, 1 upstream channel changed");
	all_is_told_apart();
	free_next();
	life_bench_close(bench);
}

/* One goes while the other differs. */
static void differs_and_goes(void **state) {
	(void)state;
	life_bench_open(bench, 2, GROUPS);
	load_next(1, true);
	reload("1 service group removed");
	all_is_told_apart();
	free_next();
	life_bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differs_and_comes),
		cmocka_unit_test(several_differ),
		cmocka_unit_test(differs_and_goes),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
