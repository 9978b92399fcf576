/* SPDX-License-Identifier: BSD-3-Clause */
/* Which worker runs what of which group, and what it is called. */
#include "test.h"

#include <string.h>

#include "server/layout.h"

#define UP 1 /* upstream channels */

static struct service_group groups[SERVER_MAX_GROUPS];
static struct layout layout;

static struct service_group group_on(unsigned id, enum downstream_layout downstream, unsigned upper,
				     unsigned lower, unsigned upstream) {
	return (struct service_group){
		.id = id,
		.upstream_channel_count = UP,
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
	struct group_slots slots;
	char name[200];

	slots = group_slots_of(config);
	layout_name(&layout, &slots, worker, name, sizeof(name));
	assert_string_equal(name, expected);
}

static void each_on_its_own(void **state) {
	const struct server_config config = config_of(2);

	(void)state;
	groups[0] = group_on(5, LAYOUT_1DS2T, 3, 4, 5);
	groups[1] = group_on(9, LAYOUT_1DS1T, 8, 77, 6);
	assert_int_equal(layout_make(&layout, &config), 0);
	assert_int_equal(layout.worker_count, 5);
	assert_memory_equal(layout.cores, ((unsigned[]){3, 4, 5, 8, 6}), 5 * sizeof(unsigned));
	check_name(&config, 0, "upper MAC of group 5");
	check_name(&config, 1, "lower MAC of group 5");
	check_name(&config, 2, "upstream of group 5");
	check_name(&config, 3, "upper and lower MAC of group 9");
	check_name(&config, 4, "upstream of group 9");
}

static void one_core_for_all(void **state) {
	const struct server_config config = config_of(2);

	(void)state;
	groups[0] = group_on(5, LAYOUT_1DS1T, 3, 4, 3);
	groups[1] = group_on(9, LAYOUT_1DS1T, 3, 4, 3);
	assert_int_equal(layout_make(&layout, &config), 0);
	assert_int_equal(layout.worker_count, 1);
	check_name(&config, 0, "upper and lower MAC, upstream of groups 5, 9");
	groups[1].upstream_channel_count = 0;
	assert_int_equal(layout_make(&layout, &config), 0);
	check_name(&config, 0,
		   "upper and lower MAC, upstream of group 5; upper and lower MAC of group 9");
}

/* The lower MACs of two groups on one core; and one group's lower with another's upper. */
static void mixed(void **state) {
	const struct server_config config = config_of(3);

	(void)state;
	groups[0] = group_on(1, LAYOUT_1DS2T, 1, 2, 1);
	groups[1] = group_on(2, LAYOUT_1DS2T, 3, 2, 3);
	groups[2] = group_on(3, LAYOUT_1DS2T, 2, 3, 4);
	assert_int_equal(layout_make(&layout, &config), 0);
	assert_int_equal(layout.worker_count, 4);
	check_name(&config, 0, "upper MAC, upstream of group 1");
	check_name(&config, 1, "lower MAC of groups 1, 2; upper MAC of group 3");
	check_name(&config, 2, "upper MAC, upstream of group 2; lower MAC of group 3");
	check_name(&config, 3, "upstream of group 3");
	assert_int_equal(layout.groups[2].upper, 1);
	assert_int_equal(layout.groups[2].lower, 2);
	assert_int_equal(layout.groups[2].upstream, 3);
}

static void many_groups(void **state) {
	const struct server_config config = config_of(SERVER_MAX_GROUPS);
	struct group_slots slots;
	char name[16];

	(void)state;
	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++)
		groups[g] = group_on(g + 1, LAYOUT_1DS1T, 2, 3, 2);
	assert_int_equal(layout_make(&layout, &config), 0);
	assert_int_equal(layout.worker_count, 1);
	check_name(&config, 0, "upper and lower MAC, upstream of 64 groups");
	for (size_t size = 1; size <= sizeof(name); size++) {
		memset(name, 'x', sizeof(name));
		slots = group_slots_of(&config);
		layout_name(&layout, &slots, 0, name, size);
		assert_int_equal(strnlen(name, sizeof(name)), size - 1);
	}
}

/* Four are named, of five it is said how many they are. */
static void a_few_groups_are_named(void **state) {
	const struct server_config four = config_of(4), five = config_of(5);

	(void)state;
	for (unsigned g = 0; g < 5; g++)
		groups[g] = group_on(g + 1, LAYOUT_1DS1T, 2, 3, 4);
	assert_int_equal(layout_make(&layout, &five), 0);
	check_name(&five, 1, "upstream of 5 groups");
	assert_int_equal(layout_make(&layout, &four), 0);
	check_name(&four, 1, "upstream of groups 1, 2, 3, 4");
}

static void no_room_for_a_name(void **state) {
	const struct server_config config = config_of(3);
	struct group_slots slots = group_slots_of(&config);
	char room[] = "xxxx";

	(void)state;
	for (unsigned g = 0; g < 3; g++)
		groups[g] = group_on(g + 1, LAYOUT_1DS2T, 1 + g % 2, 2, 1);
	assert_int_equal(layout_make(&layout, &config), 0);
	layout_name(&layout, &slots, 0, room + 2, 0);
	assert_string_equal(room, "xxxx");
}

/* Three cores a group are more than there are lcores. */
static void too_many_cores(void **state) {
	const struct server_config config = config_of(SERVER_MAX_GROUPS);
	const size_t most = PLATFORM_MAX_WORKERS / 3;

	(void)state;
	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++)
		groups[g] = group_on(g + 1, LAYOUT_1DS2T, 3 * g, 3 * g + 1, 3 * g + 2);
	assert_int_equal(layout_make(&layout, &config), -1);
	assert_int_equal(layout_make(&layout, &(struct server_config){.groups = groups,
								      .group_count = most}),
			 0);
	assert_int_equal(layout.worker_count, 3 * most);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_on_its_own),
		cmocka_unit_test(one_core_for_all),
		cmocka_unit_test(mixed),
		cmocka_unit_test(many_groups),
		cmocka_unit_test(too_many_cores),
		cmocka_unit_test(a_few_groups_are_named),
		cmocka_unit_test(no_room_for_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
