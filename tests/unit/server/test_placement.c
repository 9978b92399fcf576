/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the placement of groups on workers, names of workers, and unsuitable cores. */
#include "test_main.h"

#include "server/placement.h"

#define NO_UPSTREAM 0 /* instead of a core */

static struct service_group groups[SERVER_MAX_GROUPS];
static struct layout layout;

static struct server_config first_groups(size_t count, unsigned main_core) {
	return (struct server_config){
		.groups = groups, .group_count = count, .main_core = main_core};
}

/* The cores of a group's parts. With 1ds1t, `lower` is not used. */
struct part_cores {
	unsigned id;
	enum downstream_layout downstream;
	unsigned upper, lower, upstream;
};

static void set_cores(size_t g, struct part_cores p) {
	groups[g] = (struct service_group){
		.id = p.id,
		.upstream_channel_count = p.upstream != NO_UPSTREAM,
		.threads = {.downstream = p.downstream,
			    .upper_mac_core = p.upper,
			    .lower_mac_core = p.lower,
			    .upstream_core = p.upstream},
	};
}

static void check_name(const struct server_config *config, unsigned worker, const char *expected) {
	struct group_slots slots = group_slots_of(config);
	char name[200];

	layout_name(&layout, &slots, worker, name, sizeof(name));
	assert_string_equal(name, expected);
}

/* Groups, and the resulting workers. */
static const struct {
	const char *what;
	struct part_cores groups[3];
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

TEST(workers_are_named_by_their_parts) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct server_config config;
		unsigned count = 0, workers = 0;

		print_message("%s\n", cases[i].what);
		for (; count < 3 && cases[i].groups[count].id != 0; count++)
			set_cores(count, cases[i].groups[count]);
		config = first_groups(count, 0);
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

TEST(names_with_many_groups_are_shortened) {
	static const struct {
		unsigned groups;
		const char *name;
	} many[] = {
		{5, "upper and lower MAC, upstream of 5 groups"},
		{4, "upper and lower MAC, upstream of groups 1, 2, 3, 4"},
		{SERVER_MAX_GROUPS, "upper and lower MAC, upstream of 64 groups"},
	};
	const struct server_config all = first_groups(SERVER_MAX_GROUPS, 0);
	struct group_slots slots = group_slots_of(&all);
	char name[16];

	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++)
		set_cores(g, (struct part_cores){g + 1, LAYOUT_1DS1T, 2, 3, 2});
	for (size_t i = 0; i < ARRAY_COUNT(many); i++) {
		const struct server_config config = first_groups(many[i].groups, 0);

		assert_int_equal(layout_make(&layout, &config), 0);
		assert_int_equal(layout.worker_count, 1);
		check_name(&config, 0, many[i].name);
	}
	for (size_t size = 0; size < sizeof(name); size++) {
		memset(name, 'x', sizeof(name));
		layout_name(&layout, &slots, 0, name, size);
		assert_int_equal(strnlen(name, sizeof(name)), size == 0 ? sizeof(name) : size - 1);
		assert_int_equal(name[size], 'x');
	}
}

TEST(cores_beyond_limit_are_refused) {
	const size_t max_groups = PLATFORM_MAX_WORKERS / 3;
	struct server_config config = first_groups(SERVER_MAX_GROUPS, 0);

	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++)
		set_cores(g, (struct part_cores){g + 1, LAYOUT_1DS2T, 3 * g + 1, 3 * g + 2,
						 3 * g + 3});
	assert_int_equal(layout_make(&layout, &config), -1);
	config.group_count = max_groups;
	assert_int_equal(layout_make(&layout, &config), 0);
	assert_int_equal(layout.worker_count, 3 * max_groups);
}

static struct cpus machine(const char *present, const char *online, const char *usable) {
	struct cpus cpus;

	assert_true(cpus_parse(present, &cpus.present));
	assert_true(cpus_parse(online, &cpus.online));
	assert_true(cpus_parse(usable, &cpus.usable));
	return cpus;
}

/* Checks the refusals for the two groups 11 and 12, or that there are none. */
static void check_refusals(unsigned main_core, const struct cpus *cpus, const char *expected) {
	const struct server_config config = first_groups(2, main_core);
	struct placement_refusal refusals[CPU_FAULTS];
	size_t count = placement_refusals(&config, cpus, refusals), size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(placement_print(refusals, count, out), count == 0 ? 0 : -1);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

TEST(unsuitable_cores_are_refused_with_reason) {
	const struct cpus all = machine("0-3", "0-3", "0-3"), some = machine("0-5", "0-3", "0-1");
	const struct cpus two = machine("0-1", "0-1", "0-1");

	set_cores(0, (struct part_cores){11, LAYOUT_1DS2T, 1, 2, 3});
	set_cores(1, (struct part_cores){12, LAYOUT_1DS2T, 1, 2, 1});
	check_refusals(0, &all, "");
	set_cores(0, (struct part_cores){11, LAYOUT_1DS2T, 0, 1, 4});
	set_cores(1, (struct part_cores){12, LAYOUT_1DS2T, 6, 900, 3});
	groups[1].threads.requested.layout = LAYOUT_1US1T_1DS2T;
	groups[1].threads.requested.lower_mac_core = true;
	check_refusals(
		2, &some,
		"service group 12: threads.cores: found cores 6,900, allowed: 0-1, the cores of "
		"this machine that may be used\n"
		"service group 11: threads.upstream_core: found core 4, allowed: 0-1, the cores "
		"that are online and may be used\n"
		"threads.main_core: found cores 2-3, allowed: 0-1, the cores that this process may "
		"use by its cpuset or affinity\n");
	groups[1].threads.requested.upper_mac_core = true;
	check_refusals(
		0, &some,
		"service group 12: threads.upper_mac_core: found cores 6,900, allowed: 0-1, the "
		"cores of this machine that may be used\n"
		"service group 11: threads.upstream_core: found core 4, allowed: 0-1, the cores "
		"that are online and may be used\n"
		"service group 12: threads.cores: found core 3, allowed: 0-1, the cores that this "
		"process may use by its cpuset or affinity\n");
	/* cores of unused parts are not checked */
	set_cores(0, (struct part_cores){11, LAYOUT_1DS1T, 1, 77, 1});
	set_cores(1, (struct part_cores){12, LAYOUT_1DS2T, 0, 1, 88});
	groups[1].upstream_channel_count = 0;
	check_refusals(0, &two, "");
	groups[0].threads.downstream = LAYOUT_1DS2T;
	groups[1].upstream_channel_count = 1;
	check_refusals(0, &two,
		       "service group 11: threads.lower_mac_core: found cores 77,88, allowed: "
		       "0-1, the cores of this machine that may be used\n");
}

TEST(cores_of_this_machine_are_checked) {
	struct server_config config = first_groups(2, 0);
	struct cpus cpus;
	unsigned core = 0;

	cpus_read(&cpus);
	while (cpus_fault(&cpus, core) != CPU_IS_USABLE)
		core++;
	for (unsigned g = 0; g < 2; g++)
		set_cores(g, (struct part_cores){11 + g, LAYOUT_1DS1T, core, 0, NO_UPSTREAM});
	config.main_core = core;
	assert_int_equal(placement_check(&config, &cpus), 0);
	groups[1].threads.upper_mac_core = 1023;
	assert_int_equal(placement_check(&config, &cpus), -1);
	assert_int_equal(cpus_fault(&cpus, core), CPU_IS_USABLE);
}

static void check_added(const struct cpus *cpus, const char *expected) {
	const struct layout two = {.cores = {1, 3}, .worker_count = 2};
	char line[512] = "";

	assert_int_equal(placement_allows(&two, cpus, 0, &groups[1], line, sizeof(line)),
			 expected[0] == '\0');
	assert_string_equal(line, expected);
}

TEST(added_group_may_use_only_cores_of_workers) {
	const struct cpus cpus = machine("0-5", "0-3", "0-3");

	set_cores(1, (struct part_cores){12, LAYOUT_1DS2T, 1, 3, 3});
	check_added(&cpus, "");
	check_added(NULL, "");
	set_cores(1, (struct part_cores){12, LAYOUT_1DS2T, 1, 4, 3});
	check_added(&cpus, "threads.lower_mac_core: found core 4, allowed: 0-3, the cores that are "
			   "online and may be used");
	check_added(NULL,
		    "threads.lower_mac_core: found core 4, allowed: 1,3, the cores that have a "
		    "worker; others need a restart");
	set_cores(1, (struct part_cores){12, LAYOUT_1DS2T, 0, 2, 1});
	groups[1].threads.requested.layout = LAYOUT_1US1T_1DS2T;
	check_added(&cpus,
		    "threads.cores: found cores 0,2, allowed: 1,3, the cores that have a worker; "
		    "others need a restart");
	set_cores(1, (struct part_cores){12, LAYOUT_1DS2T, 1, 3, 1});
	groups[1].threads.main_core = 3; /* a default, not configured */
	check_added(&cpus, "");
	groups[1].threads.requested.main_core = true;
	check_added(&cpus, "threads.main_core: found core 3, allowed: 0, the server's");
}
