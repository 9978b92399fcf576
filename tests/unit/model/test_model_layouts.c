/* SPDX-License-Identifier: BSD-3-Clause */
/* Core configurations by name: which group's threads get which cores. */
#include "test_main.h"
#include "test_model_server.h"

#include "model/layouts.h"

/* Upper MAC, lower MAC (of two threads) and upstream of a group. */
struct expected_cores {
	uint32_t upper_mac, lower_mac, upstream;
};

/* A server of `count` groups with an upstream, and these keys for all of them and each of them. */
static struct loaded_server load_groups(const char *threads, const char *const own[],
					size_t count) {
	char text[4000];
	size_t used =
		(size_t)snprintf(text, sizeof(text), BONDING "\n%s\nservice_groups:\n", threads);

	for (size_t g = 1; g <= count; g++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"  - {service_group: %zu, channels: [{id: 1, type: ofdm, rate: 1 Gbps,"
			" session: %zu}], upstream_channels: [{id: 1, type: ofdma, rate: 1 Gbps,"
			" session: %zu}], modems: [{mac: \"02:01:00:00:00:%02zx\", addresses:"
			" [10.0.0.%zu], bonding_group: 1, security: {said: 1, cipher: none},"
			" service_flows: [{id: 1}]}]%s}\n",
			g, g, g, g, g, own != NULL ? own[g - 1] : "");
	return load_server(text, NULL);
}

static void expect_cores(const char *threads, const char *const own[], size_t count,
			 const struct expected_cores *expected) {
	struct loaded_server loaded = load_groups(threads, own, count);

	assert_string_equal(loaded.said, "");
	for (size_t g = 0; g < count; g++) {
		const struct thread_config *config = &loaded.config.groups[g].threads;

		assert_int_equal(config->upper_mac_core, expected[g].upper_mac);
		assert_int_equal(config->upstream_core, expected[g].upstream);
		assert_int_equal(config->downstream,
				 expected[g].lower_mac == 0 ? LAYOUT_1DS1T : LAYOUT_1DS2T);
		if (expected[g].lower_mac != 0)
			assert_int_equal(config->lower_mac_core, expected[g].lower_mac);
	}
	unload_server(&loaded);
}

static void expect_refused(const char *threads, const char *const own[], size_t count,
			   const char *said) {
	struct loaded_server loaded = load_groups(threads, own, count);

	assert_string_equal(loaded.said, said);
	unload_server(&loaded);
}

TEST(every_layout) {
	expect_cores("threads: {layout: 1us1t_1ds1t, cores: 1-6}", NULL, 3,
		     (const struct expected_cores[]){{1, 0, 2}, {3, 0, 4}, {5, 0, 6}});
	expect_cores("threads: {layout: 1us1t_1ds2t, cores: [3, 9-10, \"4,5\", 20]}", NULL, 2,
		     (const struct expected_cores[]){{3, 9, 10}, {4, 5, 20}});
	expect_cores("threads: {layout: 2us1t_1ds2t, cores: 1-8}", NULL, 3,
		     (const struct expected_cores[]){{1, 2, 3}, {4, 5, 3}, {6, 7, 8}});
	expect_cores("threads: {layout: combined, cores: 1-3}", NULL, 3,
		     (const struct expected_cores[]){{1, 0, 1}, {2, 0, 2}, {3, 0, 3}});
	expect_cores("threads: {layout: combined2, cores: \"5,7\"}", NULL, 3,
		     (const struct expected_cores[]){{5, 0, 5}, {5, 0, 5}, {7, 0, 7}});
}

/* A core of its own key is not taken from the list; a list of its own is for the group alone. */
TEST(groups_that_differ) {
	static const char *const own[] = {
		", threads: {upper_mac_core: 30}",
		"",
		", threads: {layout: combined, cores: 1}",
		", threads: {layout: combined}",
	};
	static const char *const plain[] = {
		", threads: {layout: combined, cores: [2]}",
		", threads: {upper_mac_core: 3, upstream_core: 4}",
		"",
	};

	expect_cores("threads: {layout: 1us1t_1ds1t, cores: 1-4}", own, 4,
		     (const struct expected_cores[]){{30, 0, 1}, {2, 0, 3}, {1, 0, 1}, {4, 0, 4}});
	expect_cores("", plain, 3,
		     (const struct expected_cores[]){{2, 0, 2}, {3, 0, 4}, {1, 0, 1}});
}

TEST(without_an_upstream_no_core_is_taken_for_it) {
	struct loaded_server loaded =
		load_good("threads: {layout: 1us1t_1ds2t, cores: 1-4}\n" BONDING
			  "\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n",
			  NULL);
	uint32_t cores[LAYOUTS_MOST_CORES];

	assert_int_equal(loaded.config.groups[1].threads.upper_mac_core, 3);
	assert_int_equal(layouts_cores(&loaded.config.groups[1], cores), 2);
	assert_int_equal(cores[0], 3);
	assert_int_equal(cores[1], 4);
	unload_server(&loaded);
}

TEST(cores_of_a_group_each_once) {
	struct service_group sg = {
		.threads = {.downstream = LAYOUT_1DS2T,
			    .upper_mac_core = 4,
			    .lower_mac_core = 2,
			    .upstream_core = 4},
		.upstream_channel_count = 1,
	};
	uint32_t cores[LAYOUTS_MOST_CORES];

	assert_int_equal(layouts_cores(&sg, cores), 2);
	sg.threads.upstream_core = 7;
	assert_int_equal(layouts_cores(&sg, cores), 3);
	assert_int_equal(cores[0], 4);
	assert_int_equal(cores[1], 2);
	assert_int_equal(cores[2], 7);
	sg.threads.downstream = LAYOUT_1DS1T;
	assert_int_equal(layouts_cores(&sg, cores), 2);
	sg.upstream_channel_count = 0;
	assert_int_equal(layouts_cores(&sg, cores), 1);
}

TEST(too_few_cores) {
	static const char *const mixed[] = {"", ", threads: {layout: combined}", ""};
	static const char *const two[] = {", threads: {layout: combined}",
					  ", threads: {layout: combined}"};

	expect_refused(
		"threads: {layout: 1us1t_1ds2t,\n  cores: 1-8}", NULL, 3,
		"dir/server.yaml:3: threads.cores: found 8 cores, allowed: 9 or more, as 3 service "
		"groups of 1us1t_1ds2t need\n");
	expect_refused(
		"threads: {layout: 2us1t_1ds2t, cores: 1}", NULL, 1,
		"dir/server.yaml:2: threads.cores: found 1 core, allowed: 3 or more, as 1 service "
		"group of 2us1t_1ds2t needs\n");
	expect_refused(
		"threads: {layout: 1us1t_1ds1t, cores: 1-4}", mixed, 3,
		"dir/server.yaml:2: threads.cores: found 4 cores, allowed: 5 or more, as 3 service "
		"groups of these layouts need\n");
	expect_refused(
		"threads: {layout: combined}", NULL, 2,
		"dir/server.yaml:2: threads.cores: found 0 cores, allowed: 2 or more, as 2 service "
		"groups of combined need\n");
	expect_refused(
		"", two, 2,
		"dir/server.yaml:4: service_groups[0].threads.cores: found 0 cores, allowed: 2 or "
		"more, as 2 service groups of combined need\n");
}

TEST(what_contradicts) {
	static const char cores[] =
		"cores such as 3, \"1-15,17\" or a list of these, each core once, 0 to "
		"1023\n";
	static const char *const lists[] = {"\"1-3,2\"", "3-1", "1024", "\"1,\"",
					    "\"\"",	 "a",	"01"};
	char threads[200], said[400];

	for (size_t i = 0; i < ARRAY_COUNT(lists); i++) {
		const char *text = lists[i][0] == '"' ? lists[i] : "";

		snprintf(threads, sizeof(threads), "threads: {layout: combined, cores: %s}",
			 lists[i]);
		snprintf(said, sizeof(said),
			 "dir/server.yaml:2: threads.cores: found %s%s%s, allowed: %s",
			 *text != '\0' ? "" : "\"",
			 strcmp(text, "\"\"") == 0 ? "nothing" : lists[i],
			 *text != '\0' ? "" : "\"", cores);
		expect_refused(threads, NULL, 1, said);
	}
	snprintf(said, sizeof(said),
		 "dir/server.yaml:2: threads.cores: found a list of 2, allowed: %s", cores);
	expect_refused("threads: {layout: combined, cores: [1-3, 3]}", NULL, 1, said);
	expect_refused(
		"threads: {cores: 1-3}", NULL, 1,
		"dir/server.yaml:2: threads.layout: found nothing, allowed: the name of a layout "
		"beside cores, or no cores\n");
	expect_refused(
		"threads: {layout: 1us1t_1ds2t, cores: 1-3, downstream: 1ds1t}", NULL, 1,
		"dir/server.yaml:2: threads.downstream: found \"1ds1t\", allowed: 1ds2t, as the "
		"layout has it\n");
	expect_refused(
		"threads: {layout: 1us1t_1ds2t, cores: 1-3, upper_mac_core: 1}", NULL, 1,
		"dir/server.yaml:2: threads.lower_mac_core: found 1, allowed: another core than "
		"upper_mac_core in 1ds2t\n");
	expect_refused("threads: {layout: 1ds1t, cores: 1}", NULL, 1,
		       "dir/server.yaml:2: threads.layout: found \"1ds1t\", allowed: 1us1t_1ds1t, "
		       "1us1t_1ds2t, 2us1t_1ds2t, combined or combined2\n");
}
