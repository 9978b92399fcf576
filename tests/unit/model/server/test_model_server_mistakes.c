/* SPDX-License-Identifier: BSD-3-Clause */
/* Server files that are wrong: every mistake at its place, in the server's file or a group's own. */
#include "test_model_server.h"
#include "text_cases.h"

#include <unistd.h>

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

/* The parts behind the server's text are files of groups. */
static void texts_of_servers(const struct text_case *c) {
	struct memory_file files[TEXT_PARTS] = {0};
	char *said = text_take(c->parts[0].text, "! ");
	struct loaded_server loaded;

	for (unsigned p = 1; p < c->count; p++)
		files[p - 1] = (struct memory_file){c->parts[p].title, c->parts[p].text};
	loaded = load_server(c->parts[0].text, files);
	assert_int_equal(loaded.mistakes, expect_lines(loaded.said, "dir/server.yaml:", said));
	unload_server(&loaded);
	free(said);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_shared_may_not_multiply),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(files_of_the_disk),
	};

	return text_cases_run(MODEL_TEXTS "servers.txt", texts_of_servers) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
