/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the loader of server files: values and messages, by texts/servers.txt, server_values.txt and layouts.txt. */
#include "model/layouts.h"

#include "model_server_kit.h"
#include "model_values.h"
#include "text_cases.h"

#include <unistd.h>

/* Writes `form` with the numbers from 1 to `count`. */
static void print_repeated(FILE *out, const char *form, unsigned count) {
	for (unsigned i = 1; i <= count; i++)
		fprintf(out, form, i, i, i, i);
}

/* Keys that all groups share count once per group for the limit of aliases. */
static void shared_keys_count_for_the_alias_limit(void **state) {
	struct loaded_server loaded;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "channels: [");
	print_repeated(out, "{id: %u, type: ofdm, rate: 1 Gbps, session: %u},", SG_MAX_CHANNELS);
	fprintf(out, "]\nbonding_groups: [{id: 1024, channels: &c [");
	print_repeated(out, "%u,", SG_MAX_CHANNELS);
	fprintf(out, "]},");
	print_repeated(out, "{id: %u, channels: *c},", 1023);
	fprintf(out, "]\nfilter_groups: [{id: 5, rules: &r [");
	print_repeated(out, "{family: ipv4, action: deny},", SG_MAX_RULES);
	fprintf(out, "]},");
	print_repeated(out, "{id: %u, rules: *r},", 4);
	fprintf(out, "{id: 6, rules: *r}]\nmodems: [{mac: \"02:01:00:00:00:01\", addresses: "
		     "[10.0.0.1], bonding_group: 1, security: {said: 1, cipher: none}, "
		     "service_flows: [{id: 1, dsid: 1}]}]\nservice_groups: [");
	print_repeated(out, "{service_group: %u, ports: {network: {vlan: %u}, rphy: {vlan: %u}}},",
		       SERVER_MAX_GROUPS);
	fprintf(out, "]\n");
	fclose(out);
	loaded = load_server(text, NULL);
	assert_non_null(strstr(loaded.messages, "aliases repeat more than 20 million values"));
	assert_int_equal(loaded.mistakes, 1);
	unload_server(&loaded);
	free(text);
}

static void maximum_of_groups_is_loaded(void **state) {
	struct loaded_server loaded;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, BONDING "\nservice_groups:\n");
	print_repeated(out,
		       "  - {service_group: %u, channels: [{id: 1, type: ofdm, rate: 1 Gbps,"
		       " session: %u}], modems: [{mac: \"02:01:00:00:00:%02x\", addresses:"
		       " [10.0.0.%u], bonding_group: 1, security: {said: 1, cipher: none},"
		       " service_flows: [{id: 1}]}]}\n",
		       SERVER_MAX_GROUPS);
	fclose(out);
	loaded = load_valid_server(text, NULL);
	assert_int_equal(loaded.config.group_count, SERVER_MAX_GROUPS);
	assert_int_equal(loaded.config.groups[63].channels[0].session, 64);
	unload_server(&loaded);
	free(text);
}

/* Files of groups on disk, relative to the server's file. Devices and unreadable files are rejected. */
static void unreadable_group_files_are_rejected(void **state) {
	static const struct {
		const char *file, *path, *reason;
	} cases[] = {
		{"/", "/", "Is a directory"},
		{"/dev/zero", "/dev/zero", "not a regular file"},
		{"no/such.yaml", "/tmp/no/such.yaml", "No such file or directory"},
	};
	char path[] = "/tmp/vcmts-server-XXXXXX";
	int descriptor = mkstemp(path);

	assert_true(descriptor >= 0);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		FILE *file = fopen(path, "w");
		struct server_config config;
		char *messages, expected[400];
		size_t length;
		FILE *errors = open_memstream(&messages, &length);

		assert_non_null(file);
		fprintf(file, "service_groups: [{file: %s}]\n", cases[i].file);
		fclose(file);
		assert_int_equal(server_config_load(path, &config, errors), 1);
		fclose(errors);
		snprintf(expected, sizeof(expected),
			 "%s:1: service_groups[0].file: cannot read \"%s\": %s\n", path,
			 cases[i].path, cases[i].reason);
		assert_string_equal(messages, expected);
		assert_null(config.groups);
		free(messages);
	}
	close(descriptor);
	unlink(path);
}

/* A byte order mark at the begin of a file is skipped. */
static void byte_order_mark_is_skipped(void **state) {
	struct memory_file files[] = {
		{"dir/two.yaml", "\xef\xbb\xbf" CHANNELS("2") "\nmodems: [" MODEM("2") "]\n"},
		{0},
	};
	struct loaded_server loaded =
		load_valid_server("\xef\xbb\xbf" BONDING "\n"
				  "rphy: {mtu: 2000}\n"
				  "service_groups:\n"
				  "  - " GROUP("1") "\n"
						    "  - {file: two.yaml, service_group: 2}\n",
				  files);

	assert_int_equal(loaded.config.groups[1].rphy.mtu, 2000);
	unload_server(&loaded);
}

/* Devices of the command line replace those of the file, so that groups with own ports may conflict on a shared one. */
static void devices_of_command_line_replace_those_of_file(void **state) {
	static const char text[] =
		BONDING "\nservice_groups:\n"
			"  - {service_group: 1, " CHANNELS("1") ", modems: [" MODEM(
				"1") "]}\n"
				     "  - {service_group: 2, ports: {network: {device: a}, rphy: "
				     "{device: b},\n"
				     "     control: {device: c}},\n"
				     "     " CHANNELS("1") ", modems: [" MODEM("2") "]}\n";
	const struct server_devices network = {.network = "net_null0,x=1", .control = "net_null9"};
	const struct server_devices rphy = {.rphy = "net_null1"};
	struct loaded_server loaded = load_server_on(text, NULL, &network);

	assert_string_equal(loaded.messages, "");
	for (size_t g = 0; g < 2; g++) {
		assert_string_equal(loaded.config.groups[g].network.device, "net_null0,x=1");
		assert_string_equal(loaded.config.groups[g].control_port.device, "net_null9");
	}
	assert_string_equal(loaded.config.groups[1].rphy_port.device, "b");
	unload_server(&loaded);
	loaded = load_server_on(text, NULL, &rphy);
	assert_string_equal(
		loaded.messages,
		"dir/server.yaml:6: service_groups[1].channels[0].session: duplicate "
		"session 0x0000000b, first in service group 1 on line 3; on port net_null1, "
		"such groups need another vlan, rpd_mac or rpd_ip\n");
	unload_server(&loaded);
	loaded = load_server_on(BONDING "\n" CHANNELS("1") "\nmodems: [" MODEM("1") "]\n", NULL,
				&rphy);
	assert_string_equal(loaded.config.groups[0].rphy_port.device, "net_null1");
	unload_server(&loaded);
}

static void cores_of_a_group_are_listed_once(void **state) {
	struct service_group sg = {
		.threads = {.downstream = LAYOUT_1DS2T,
			    .upper_mac_core = 4,
			    .lower_mac_core = 2,
			    .upstream_core = 7},
		.upstream_channel_count = 1,
	};
	uint32_t cores[LAYOUTS_MAX_CORES];

	assert_int_equal(layouts_cores(&sg, cores), 3);
	assert_memory_equal(cores, ((const uint32_t[]){4, 2, 7}), 3 * sizeof(cores[0]));
	sg.threads.downstream = LAYOUT_1DS1T;
	assert_int_equal(layouts_cores(&sg, cores), 2);
	sg.threads.upstream_core = 4;
	assert_int_equal(layouts_cores(&sg, cores), 1);
	sg.threads.upstream_core = 7;
	sg.upstream_channel_count = 0;
	assert_int_equal(layouts_cores(&sg, cores), 1);
}

static void power_names_parse_back(void **state) {
	enum idle_kind kind;
	enum power_policy policy = POWER_NONE;
	enum power_driver driver;

	for (enum idle_kind k = IDLE_POLL; k <= IDLE_AUTO; k++)
		assert_true(idle_kind_parse(idle_kind_name(k), &kind) && kind == k);
	for (enum power_policy p = POWER_NONE; p <= POWER_SAVING; p++)
		assert_true(power_policy_parse(power_policy_name(p), &policy) && policy == p);
	for (enum power_driver d = POWER_DRIVER_AUTO; d <= POWER_DRIVER_SIMULATED; d++)
		assert_true(power_driver_parse(power_driver_name(d), &driver) && driver == d);
	assert_false(idle_kind_parse("", &kind) || idle_kind_parse("poll ", &kind));
	assert_false(power_policy_parse("saver", &policy));
	assert_int_equal(policy, POWER_SAVING);
}

/* A case: the first part is the server's file, with expected messages and values; further parts are files of groups. */
static void run_server_case(const struct text_case *c) {
	struct memory_file files[TEXT_PARTS] = {0};
	struct loaded_server loaded;
	char *messages, *values;

	messages = extract_lines(c->parts[0].text, "! ");
	values = extract_lines(c->parts[0].text, "= ");
	for (unsigned p = 1; p < c->count; p++)
		files[p - 1] = (struct memory_file){c->parts[p].title, c->parts[p].text};
	loaded = load_server(c->parts[0].text, files);
	assert_int_equal(loaded.mistakes,
			 expect_lines(loaded.messages, "dir/server.yaml:", messages));
	if (loaded.mistakes == 0) {
		char *actual = server_values(&loaded.config);

		expect_values(actual, values);
		free(actual);
	}
	unload_server(&loaded);
	free(messages);
	free(values);
}

int main(void) {
	static const char *const files[] = {MODEL_TEXTS "servers.txt",
					    MODEL_TEXTS "server_values.txt",
					    MODEL_TEXTS "layouts.txt", NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_keys_count_for_the_alias_limit),
		cmocka_unit_test(unreadable_group_files_are_rejected),
		cmocka_unit_test(byte_order_mark_is_skipped),
		cmocka_unit_test(maximum_of_groups_is_loaded),
		cmocka_unit_test(devices_of_command_line_replace_those_of_file),
		cmocka_unit_test(cores_of_a_group_are_listed_once),
		cmocka_unit_test(power_names_parse_back),
	};

	return text_cases_run(files, run_server_case) + cmocka_run_group_tests(tests, NULL, NULL);
}
