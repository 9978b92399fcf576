/* SPDX-License-Identifier: BSD-3-Clause */
/* Which worker runs what of which group, and what it is called. */
#include "test_main.h"

#include <string.h>

#include "server/layout.h"

#define NO_UPSTREAM 0 /* in place of its core */

static struct service_group groups[SERVER_MAX_GROUPS];
static struct layout layout;

static struct service_group group_on(unsigned id, enum downstream_layout downstream, unsigned upper,
				     unsigned lower, unsigned upstream) {
	return (struct service_group){
		.id = id,
		.upstream_channel_count = upstream != NO_UPSTREAM,
		.threads = {.downstream = downstream,
			    .upper_mac_core = upper,
			    .lower_mac_core = lower,
			    .upstream_core = upstream},
	};
}

static struct server_config config_of(size_t count) {
	return (struct server_config){.groups = groups, .group_count = count};
}

static void check_name(const struct server_config *config, unsigned worker, const char *expected) {
	struct group_slots slots = group_slots_of(config);
	char name[200];

	layout_name(&layout, &slots, worker, name, sizeof(name));
	assert_string_equal(name, expected);
}

/* Cores of the parts of each group, and which workers they make. In 1ds1t the core of the lower MAC is not used. */
static const struct {
	const char *what;
	struct {
		unsigned id;
		enum downstream_layout downstream;
		unsigned upper, lower, upstream;
	} groups[3];
	struct {
		unsigned core;
		const char *name;
	} workers[5];
} cases[] = {
	{"one group, which is not named, on one core",
	 {{5, LAYOUT_1DS1T, 3, 4, 3}},
	 {{3, "upper and lower MAC, upstream"}}},
	{"one group on three cores",
	 {{5, LAYOUT_1DS2T, 3, 4, 5}},
	 {{3, "upper MAC"}, {4, "lower MAC"}, {5, "upstream"}}},
	{"one group whose lower MAC and upstream share a core",
	 {{5, LAYOUT_1DS2T, 3, 4, 4}},
	 {{3, "upper MAC"}, {4, "lower MAC, upstream"}}},
	{"each on its own",
	 {{5, LAYOUT_1DS2T, 3, 4, 5}, {9, LAYOUT_1DS1T, 8, 77, 6}},
	 {{3, "upper MAC of group 5"},
	  {4, "lower MAC of group 5"},
	  {5, "upstream of group 5"},
	  {8, "upper and lower MAC of group 9"},
	  {6, "upstream of group 9"}}},
	{"one core for all",
	 {{5, LAYOUT_1DS1T, 3, 4, 3}, {9, LAYOUT_1DS1T, 3, 4, 3}},
	 {{3, "upper and lower MAC, upstream of groups 5, 9"}}},
	{"one core for all, and one without an upstream",
	 {{5, LAYOUT_1DS1T, 3, 4, 3}, {9, LAYOUT_1DS1T, 3, 4, NO_UPSTREAM}},
	 {{3, "upper and lower MAC, upstream of group 5; upper and lower MAC of group 9"}}},
	{"the lower MACs of two on one core, and one's lower with another's upper",
	 {{1, LAYOUT_1DS2T, 1, 2, 1}, {2, LAYOUT_1DS2T, 3, 2, 3}, {3, LAYOUT_1DS2T, 2, 3, 4}},
	 {{1, "upper MAC, upstream of group 1"},
	  {2, "lower MAC of groups 1, 2; upper MAC of group 3"},
	  {3, "upper MAC, upstream of group 2; lower MAC of group 3"},
	  {4, "upstream of group 3"}}},
};

TEST(workers_and_their_names) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct server_config config;
		unsigned count = 0, workers = 0;

		print_message("%s\n", cases[i].what);
		for (; count < 3 && cases[i].groups[count].id != 0; count++)
			groups[count] = group_on(
				cases[i].groups[count].id, cases[i].groups[count].downstream,
				cases[i].groups[count].upper, cases[i].groups[count].lower,
				cases[i].groups[count].upstream);
		config = config_of(count);
		assert_int_equal(layout_make(&layout, &config), 0);
		for (; workers < 5 && cases[i].workers[workers].name != NULL; workers++) {
			assert_int_equal(layout.cores[workers], cases[i].workers[workers].core);
			check_name(&config, workers, cases[i].workers[workers].name);
		}
		assert_int_equal(layout.worker_count, workers);
	}
	assert_int_equal(layout.groups[2].upper, 1);
	assert_int_equal(layout.groups[2].lower, 2);
	assert_int_equal(layout.groups[2].upstream, 3);
}

/* Four are named, of five it is said how many they are. A name ends where its space does. */
TEST(many_groups) {
	const struct server_config config = config_of(SERVER_MAX_GROUPS), four = config_of(4),
				   five = config_of(5);
	struct group_slots slots;
	char name[16];

	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++)
		groups[g] = group_on(g + 1, LAYOUT_1DS1T, 2, 3, 2);
	assert_int_equal(layout_make(&layout, &config), 0);
	assert_int_equal(layout.worker_count, 1);
	check_name(&config, 0, "upper and lower MAC, upstream of 64 groups");
	slots = group_slots_of(&config);
	for (size_t size = 1; size <= sizeof(name); size++) {
		memset(name, 'x', sizeof(name));
		layout_name(&layout, &slots, 0, name, size);
		assert_int_equal(strnlen(name, sizeof(name)), size - 1);
	}
	memset(name, 'x', sizeof(name));
	layout_name(&layout, &slots, 0, name + 2, 0);
	for (size_t i = 0; i < sizeof(name); i++)
		assert_int_equal(name[i], 'x');
	assert_int_equal(layout_make(&layout, &five), 0);
	check_name(&five, 0, "upper and lower MAC, upstream of 5 groups");
	assert_int_equal(layout_make(&layout, &four), 0);
	check_name(&four, 0, "upper and lower MAC, upstream of groups 1, 2, 3, 4");
}

/* Three cores a group are more than there are lcores. */
TEST(too_many_cores) {
	const struct server_config config = config_of(SERVER_MAX_GROUPS);
	const size_t most = PLATFORM_MAX_WORKERS / 3;

	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++)
		groups[g] = group_on(g + 1, LAYOUT_1DS2T, 3 * g, 3 * g + 1, 3 * g + 2);
	assert_int_equal(layout_make(&layout, &config), -1);
	assert_int_equal(layout_make(&layout, &(struct server_config){.groups = groups,
								      .group_count = most}),
			 0);
	assert_int_equal(layout.worker_count, 3 * most);
}
