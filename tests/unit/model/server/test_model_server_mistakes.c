/* SPDX-License-Identifier: BSD-3-Clause */
/* Server files that are wrong: every mistake at its place, in the server's file or a group's own. */
#include "test_model_server.h"

#include <unistd.h>

static void keys_at_the_top(void **state) {
	(void)state;
	expect_of_server("service_group: 1\nservice_groups: [" GROUP("1") "]\n" BONDING "\n", NULL,
			 1,
			 "dir/server.yaml:1: service_group: found unknown key \"service_group\", "
			 "allowed: did you mean \"service_groups\"?\n");
	expect_of_server("service_groups: []\n", NULL, 1,
			 "dir/server.yaml:1: service_groups: found a list of 0, allowed: a list of "
			 "1 to 64 maps\n");
	expect_of_server(
		"service_groups: 5\n", NULL, 1,
		"dir/server.yaml:1: service_groups: found \"5\", allowed: a list of 1 to 64 "
		"maps\n");
	expect_of_server(
		"name: a b\n" BONDING "\n" BONDING "\nservice_groups: [" GROUP("1") "]\n", NULL, 2,
		"dir/server.yaml:1: name: found \"a b\", allowed: up to 64 of the characters "
		"A-Z a-z 0-9 . _ -\n"
		"dir/server.yaml:3: bonding_groups: found the key again, allowed: it once\n");
}

static void room_for_too_few(void **state) {
	(void)state;
	expect_of_server(BONDING
			 "\nmax_groups: 1\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n",
			 NULL, 1,
			 "dir/server.yaml:2: max_groups: found \"1\", allowed: 2 or more, as many "
			 "as the list has\n");
	expect_of_server(BONDING "\nmax_groups: 65\nservice_groups: [" GROUP("1") "]\n", NULL, 1,
			 "dir/server.yaml:2: max_groups: found \"65\", allowed: a number, 1 to "
			 "64\n");
}

static void items_of_the_list(void **state) {
	(void)state;
	expect_of_server(
		BONDING
		"\nservice_groups:\n"
		"  - " GROUP("1") "\n"
				  "  - 5\n"
				  "  - {service_group: 2, " CHANNELS(
					  "2") ", modem: 1, rphy: {mtu: 1, mut: 2},\n"
					       "     modems: [" MODEM(
						       "2") "]}\n"
							    "  - {service_group: 3,\n"
							    "     modems: [" MODEM("3") "]}\n",
		NULL, 5,
		"dir/server.yaml:4: service_groups[1]: found \"5\", allowed: a map of keys\n"
		"dir/server.yaml:5: service_groups[2].modem: found unknown key \"modem\", allowed: "
		"did "
		"you mean \"modems\"?\n"
		"dir/server.yaml:5: service_groups[2].rphy.mut: found unknown key \"mut\", "
		"allowed: did "
		"you mean \"mtu\"?\n"
		"dir/server.yaml:5: service_groups[2].rphy.mtu: found \"1\", allowed: a size such "
		"as "
		"\"512 kB\", 1.5 kB to 9 kB\n"
		"dir/server.yaml:7: service_groups[3].channels: found nothing, allowed: a list of "
		"1 to "
		"256 maps\n");
}

/* What groups have in common is read for each of them, and told once. */
static void a_shared_mistake_is_told_once(void **state) {
	(void)state;
	expect_of_server("rphy: {mtu: 1}\nupstream: 7\nbonding_groups: [{id: 1, channels: [9]}]\n"
			 "service_groups: [" GROUP("1") ", " GROUP("2") ", " GROUP("3") "]\n",
			 NULL, 3,
			 "dir/server.yaml:1: rphy.mtu: found \"1\", allowed: a size such as \"512 "
			 "kB\", 1.5 kB "
			 "to 9 kB\n"
			 "dir/server.yaml:2: upstream: found \"7\", allowed: a map of keys\n"
			 "dir/server.yaml:3: bonding_groups[0].channels[0]: found \"9\", allowed: "
			 "the id of a "
			 "channel of this file\n");
	/* those that have it are not held against each other */
	expect_of_server(
		BONDING "\nmodems: [{}]\nservice_groups: [{service_group: 1, " CHANNELS(
			"1") "}, {service_group: 2, " CHANNELS("1") "}]\n",
		NULL, 5,
		"dir/server.yaml:2: modems[0].mac: found nothing, allowed: a unicast MAC "
		"address such as \"02:00:00:00:00:01\"\n"
		"dir/server.yaml:2: modems[0].addresses: found nothing, allowed: a list of 1 "
		"to 64 values\n"
		"dir/server.yaml:2: modems[0].bonding_group: found nothing, allowed: a "
		"number, 1 to 65535\n"
		"dir/server.yaml:2: modems[0].security: found nothing, allowed: a map of "
		"keys\n"
		"dir/server.yaml:2: modems[0].service_flows: found nothing, allowed: a list "
		"of 1 to 32 maps\n");
}

static void mistakes_in_a_file_of_its_own(void **state) {
	struct memory_file files[] = {
		{"dir/a.yaml", "# first\n" CHANNELS("1") "\nrphy: {mtu: 9, mto: 1}\nmodems: []\n"},
		{"dir/b.yaml", "max_frame: [\n"},
		{0},
	};

	(void)state;
	expect_of_server(
		BONDING "\nservice_groups:\n"
			"  - {file: b.yaml, service_group: 3}\n"
			"  - {file: a.yaml, dscp: 4}\n"
			"  - " GROUP("2") "\n",
		files, 5,
		"dir/server.yaml:4: service_groups[1].dscp: found unknown key \"dscp\", allowed: "
		"file, "
		"name, service_group, ports, max_frame, threads, rphy, crypto, rate_limit, "
		"cpe_timeout, "
		"filter_default, flow_cache, max_queued, max_modems, channels, bonding_groups, "
		"filter_groups, upstream, upstream_channels, modems\n"
		"dir/b.yaml:2: file: found text that is no YAML (did not find expected node "
		"content, "
		"while parsing a flow node), allowed: YAML 1.1 in UTF-8\n"
		"dir/a.yaml:3: rphy.mto: found unknown key \"mto\", allowed: did you mean "
		"\"mtu\"?\n"
		"dir/a.yaml:3: rphy.mtu: found \"9\", allowed: a size such as \"512 kB\", 1.5 kB "
		"to 9 "
		"kB\n"
		"dir/a.yaml:4: modems: found a list of 0, allowed: a list of 1 to 65535 maps\n");
}

static void files_that_are_none_of_a_group(void **state) {
	struct memory_file files[] = {
		{"dir/server.yaml", "service_groups: [{file: server.yaml}]\n"},
		{"dir/list.yaml", "- 1\n"},
		{"dir/empty.yaml", ""},
		{0},
	};

	(void)state;
	expect_of_server("service_groups: [{file: server.yaml}]\n", files, 1,
			 "dir/server.yaml:1: service_groups: found a list of service groups, "
			 "allowed: the keys of one service group\n");
	expect_of_server("service_groups: [{file: list.yaml}]\n", files, 1,
			 "dir/list.yaml:1: file: found no map, allowed: the keys of a service "
			 "group\n");
	expect_of_server(
		"service_groups: [{file: empty.yaml}]\n", files, 1,
		"dir/empty.yaml:1: file: found an empty file, allowed: the keys of a service "
		"group\n");
	expect_of_server(
		"service_groups: [{file: none.yaml}]\n", files, 1,
		"dir/server.yaml:1: service_groups[0].file: found no readable file (No such "
		"file or directory), allowed: a YAML file of at most 1 GiB\n");
	expect_of_server(
		"service_groups: [{file: [a]}]\n", files, 1,
		"dir/server.yaml:1: service_groups[0].file: found a list of 1, allowed: the "
		"path of a file, of up to 1023 characters\n");
	expect_of_server(
		"service_groups: [{file: \"a\\0b\"}]\n", files, 1,
		"dir/server.yaml:1: service_groups[0].file: found \"a\\x00b\", allowed: the "
		"path of a file, of up to 1023 characters\n");
	expect_of_server("service_groups: [{service_groups: []}]\n" BONDING
			 "\n" CHANNELS("1") "\nmodems: [" MODEM("1") "]\n",
			 files, 1,
			 "dir/server.yaml:1: service_groups[0].service_groups: found unknown key "
			 "\"service_groups\", allowed: did you mean \"service_group\"?\n");
}

/* `count` numbers from 1 on, each written by `form`. */
static size_t put_many(char *text, size_t room, const char *form, unsigned count) {
	size_t used = 0;

	for (unsigned i = 1; i <= count; i++)
		used += (size_t)snprintf(text + used, room - used, form, i, i, i);
	return used;
}

/* What is written once and read for every group costs as much as if it were written for each. */
static void what_is_shared_may_not_multiply(void **state) {
	const size_t room = 300000;
	char *text = malloc(room);
	struct loaded_server loaded;
	size_t used = 0;

	(void)state;
	assert_non_null(text);
#define PUT(...) used += (size_t)snprintf(text + used, room - used, __VA_ARGS__)
#define PUT_MANY(form, count) used += put_many(text + used, room - used, form, count)
	PUT("channels: [");
	PUT_MANY("{id: %u, type: ofdm, rate: 1 Gbps, session: %u},", SG_MAX_CHANNELS);
	PUT("]\nbonding_groups: [{id: 1024, channels: &c [");
	PUT_MANY("%u,", SG_MAX_CHANNELS);
	PUT("]},");
	PUT_MANY("{id: %u, channels: *c},", 1023);
	PUT("]\nfilter_groups: [{id: 5, rules: &r [");
	PUT_MANY("{family: ipv4, action: deny},", SG_MAX_RULES);
	PUT("]},");
	PUT_MANY("{id: %u, rules: *r},", 4);
	PUT("{id: 6, rules: *r}]\nmodems: [{mac: \"02:01:00:00:00:01\", addresses: [10.0.0.1], "
	    "bonding_group: 1, security: {said: 1, cipher: none}, "
	    "service_flows: [{id: 1, dsid: 1}]}]\nservice_groups: [");
	PUT_MANY("{service_group: %u, ports: {network: {vlan: %u}, rphy: {vlan: %u}}},",
		 SERVER_MAX_GROUPS);
	PUT("]\n");
#undef PUT
#undef PUT_MANY
	loaded = load_server(text, NULL);
	assert_non_null(strstr(loaded.said, "found aliases that multiply, allowed: 20 million "));
	assert_int_equal(loaded.mistakes, 1);
	unload_server(&loaded);
	free(text);
}

static void every_truncation(void **state) {
	static const char whole[] = BONDING "\nrphy: {mtu: 2 kB}\nservice_groups:\n  - " GROUP(
		"1") "\n  - {file: a.yaml, service_group: 2}\n";
	struct memory_file files[] = {
		{"dir/a.yaml", CHANNELS("2") "\nmodems: [" MODEM("2") "]\n"},
		{0},
	};
	char text[sizeof(whole)];

	(void)state;
	for (size_t size = 0; size < sizeof(whole); size++) {
		struct loaded_server loaded;

		snprintf(text, sizeof(text), "%.*s", (int)size, whole);
		loaded = load_server(text, files);
		unload_server(&loaded);
	}
}

/* On the disk: from the folder of the server's file; what never ends or cannot be read is refused. */
static void files_of_the_disk(void **state) {
	static const struct {
		const char *file, *reason;
	} cases[] = {
		{"/", "Is a directory"},
		{"/dev/zero", "Operation not supported"},
		{"no/such.yaml", "No such file or directory"},
	};
	char path[] = "/tmp/vcmts-server-XXXXXX";
	int descriptor = mkstemp(path);

	(void)state;
	assert_true(descriptor >= 0);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		FILE *file = fopen(path, "w");
		struct server_config config;
		char *said, expected[400];
		size_t length;
		FILE *errors = open_memstream(&said, &length);

		assert_non_null(file);
		fprintf(file, "service_groups: [{file: %s}]\n", cases[i].file);
		fclose(file);
		assert_int_equal(server_config_load(path, &config, errors), 1);
		fclose(errors);
		snprintf(expected, sizeof(expected),
			 "%s:1: service_groups[0].file: found no readable file (%s), allowed: a "
			 "YAML "
			 "file of at most 1 GiB\n",
			 path, cases[i].reason);
		assert_string_equal(said, expected);
		assert_null(config.groups);
		free(said);
	}
	close(descriptor);
	unlink(path);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_at_the_top),
		cmocka_unit_test(room_for_too_few),
		cmocka_unit_test(items_of_the_list),
		cmocka_unit_test(a_shared_mistake_is_told_once),
		cmocka_unit_test(mistakes_in_a_file_of_its_own),
		cmocka_unit_test(files_that_are_none_of_a_group),
		cmocka_unit_test(what_is_shared_may_not_multiply),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(files_of_the_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
