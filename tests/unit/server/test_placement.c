/* SPDX-License-Identifier: BSD-3-Clause */
/* Which placements the cores of a machine do not carry, and what is said of it. */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "server/placement.h"

static struct service_group groups[2];
static struct server_config config = {.groups = groups, .group_count = 2};

static struct cpus machine(const char *present, const char *online, const char *usable) {
	struct cpus cpus;

	assert_true(cpus_parse(present, &cpus.present));
	assert_true(cpus_parse(online, &cpus.online));
	assert_true(cpus_parse(usable, &cpus.usable));
	return cpus;
}

static void place(size_t g, unsigned upper, unsigned lower, unsigned upstream) {
	groups[g] = (struct service_group){
		.id = (uint32_t)(11 + g),
		.upstream_channel_count = 1,
		.threads = {.downstream = LAYOUT_1DS2T,
			    .upper_mac_core = upper,
			    .lower_mac_core = lower,
			    .upstream_core = upstream},
	};
}

static void check_said(const struct cpus *cpus, const char *expected) {
	struct placement_refusal refusals[CPU_FAULTS];
	size_t count = placement_refusals(&config, cpus, refusals), size = 0;
	char *said = NULL;
	FILE *out = open_memstream(&said, &size);

	assert_non_null(out);
	assert_int_equal(placement_print(refusals, count, out), count == 0 ? 0 : -1);
	fclose(out);
	assert_string_equal(said, expected);
	free(said);
}

TEST(all_there) {
	const struct cpus cpus = machine("0-3", "0-3", "0-3");

	config.main_core = 0;
	place(0, 1, 2, 3);
	place(1, 1, 2, 0);
	check_said(&cpus, "");
}

/* A line a reason, with all its cores and the key of the first. */
TEST(each_reason) {
	const struct cpus cpus = machine("0-5", "0-3", "0-1");

	config.main_core = 2;
	place(0, 0, 1, 4);
	place(1, 6, 900, 3);
	groups[1].threads.asked.layout = LAYOUT_1US1T_1DS2T;
	groups[1].threads.asked.lower_mac_core = true;
	check_said(
		&cpus,
		"service group 12: threads.cores: found cores 6,900, allowed: 0-1, the cores of "
		"this machine that may be used\n"
		"service group 11: threads.upstream_core: found core 4, allowed: 0-1, the cores "
		"that are online and may be used\n"
		"threads.main_core: found cores 2-3, allowed: 0-1, the cores that this process may "
		"use by its cpuset or affinity\n");
	groups[1].threads.asked.upper_mac_core = true;
	config.main_core = 0;
	check_said(
		&cpus,
		"service group 12: threads.upper_mac_core: found cores 6,900, allowed: 0-1, the "
		"cores of this machine that may be used\n"
		"service group 11: threads.upstream_core: found core 4, allowed: 0-1, the cores "
		"that are online and may be used\n"
		"service group 12: threads.cores: found core 3, allowed: 0-1, the cores that this "
		"process may use by its cpuset or affinity\n");
}

/* The lower MAC of 1ds1t, and the upstream where there is none, have cores that nothing runs on. */
TEST(what_does_not_run) {
	const struct cpus cpus = machine("0-1", "0-1", "0-1");

	config.main_core = 0;
	place(0, 1, 77, 1);
	groups[0].threads.downstream = LAYOUT_1DS1T;
	place(1, 0, 1, 88);
	groups[1].upstream_channel_count = 0;
	check_said(&cpus, "");
	groups[0].threads.downstream = LAYOUT_1DS2T;
	groups[1].upstream_channel_count = 1;
	check_said(&cpus, "service group 11: threads.lower_mac_core: found cores 77,88, allowed: "
			  "0-1, the cores of this machine that may be used\n");
}

TEST(here) {
	struct cpus cpus;
	unsigned core = 0;

	cpus_here(&cpus);
	while (cpus_fault(&cpus, core) != CPU_IS_USABLE)
		core++;
	config.main_core = core;
	place(0, core, core, core);
	place(1, core, core, core);
	assert_int_equal(placement_check(&config, &cpus), 0);
	assert_int_equal(cpus_fault(&cpus, core), CPU_IS_USABLE);
	groups[1].threads.upstream_core = 1023;
	assert_int_equal(placement_check(&config, &cpus), -1);
}

static void takes(const struct cpus *cpus, const char *expected) {
	const struct layout layout = {.cores = {1, 3}, .worker_count = 2};
	char line[512] = "";

	assert_int_equal(
		placement_takes(&layout, cpus, config.main_core, &groups[1], line, sizeof(line)),
		expected[0] == '\0');
	assert_string_equal(line, expected);
}

/* A group that comes to workers on the cores 1 and 3. */
TEST(one_that_comes) {
	const struct cpus cpus = machine("0-5", "0-3", "0-3");

	config.main_core = 0;
	place(1, 1, 3, 3);
	takes(&cpus, "");
	takes(NULL, "");
	place(1, 1, 4, 3);
	takes(&cpus, "threads.lower_mac_core: found core 4, allowed: 0-3, the cores that are "
		     "online and may be used");
	takes(NULL, "threads.lower_mac_core: found core 4, allowed: 1,3, the cores that have a "
		    "worker; others take a new start");
	place(1, 1, 2, 0);
	groups[1].threads.asked.layout = LAYOUT_1US1T_1DS2T;
	takes(&cpus, "threads.cores: found cores 0,2, allowed: 1,3, the cores that have a worker; "
		     "others take a new start");
	place(1, 1, 3, 1);
	groups[1].threads.main_core = 3; /* not asked for */
	takes(&cpus, "");
	groups[1].threads.asked.main_core = true;
	takes(&cpus, "threads.main_core: found core 3, allowed: 0, the server's");
}
