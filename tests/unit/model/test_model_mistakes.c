/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes: all at once, in the order of the lines, and none that another one brings along. */
#include "test_model.h"
#include "text_cases.h"

static void hundred_mistakes_and_a_count(void **state) {
	char text[20000] = "channels: [{id: 1, type: ofdm, rate: 1.89 Gbps, session: 7}]\n"
			   "bonding_groups: [{id: 1, channels: [1, 2]}]\n"
			   "modems: [{}]\n"
			   "filter_groups:\n";
	struct loaded loaded;
	size_t lines = 0;

	for (int i = 0; i < 150; i++)
		strcat(text, "  - {id: x, rules: []}\n");
	loaded = load_text(text);
	for (const char *c = loaded.said; *c != '\0'; c++)
		lines += *c == '\n';
	assert_int_equal(loaded.mistakes, 306);
	assert_int_equal(lines, 101);
	/* found last, and shown first */
	assert_ptr_equal(strstr(loaded.said, "sg.yaml:2: bonding_groups[0].channels[1]: "),
			 loaded.said);
	assert_non_null(strstr(loaded.said, "sg.yaml:3: modems[0].mac: found nothing"));
	assert_non_null(strstr(loaded.said, "sg.yaml:51: filter_groups[46].rules: found"));
	assert_null(strstr(loaded.said, "sg.yaml:52:"));
	assert_non_null(strstr(loaded.said, "sg.yaml: 206 more mistakes are not shown\n"));
	unload(&loaded);
}

static void what_is_found_cannot_harm_a_terminal(void **state) {
	expect_mistakes(
		SMALL "\"\\e[31m\\0\": 1\n", 1,
		"sg.yaml:9: \\x1b[31m: found unknown key \"\\x1b[31m\\x00\", allowed: name, "
		"service_group, ports, max_frame, threads, rphy, crypto, rate_limit, cpe_timeout, "
		"filter_default, flow_cache, max_queued, max_modems, channels, bonding_groups, "
		"filter_groups, upstream, "
		"upstream_channels, modems\n");
	expect_mistakes(
		"max_frame: \"\xc3\xa4\\\"" /* a quote in the text */
		"xyzuvwxyzuvwxyzuvwxyzuvwxyzuvwxyzuvwxyzuvwxyzuvwxyzuvwxyzuvwxyzuvwxyzu\"\n" SMALL,
		1,
		"sg.yaml:1: max_frame: found \"\\xc3\\xa4\\\"xyzuvwxyzuvwxyzuvwxyzuvwxyzuvwxyzu"
		"vwxyzuvwxyzuvwxyzuvwxyz...\", allowed: a size such as \"512 kB\", 64 B to 2 "
		"kB\n");
}

static void a_said_is_shared_with_all_that_belongs_to_it(void **state) {
	static const char modems[] =
		SMALL_HEAD "modems:\n"
			   "  - mac: \"02:01:00:00:00:01\"\n"
			   "    addresses: [10.0.0.1]\n"
			   "    bonding_group: 1\n"
			   "    security: {said: 5, key: 000102030405060708090a0b0c0d0e0f,\n"
			   "       iv: 000102030405060708090a0b0c0d0e0f, key_sequence: 2}\n"
			   "    service_flows: [{id: 1}]\n"
			   "  - mac: \"02:01:00:00:00:02\"\n"
			   "    addresses: [10.0.0.2]\n"
			   "    bonding_group: 1\n"
			   "    security: {said: 5, key: 000102030405060708090a0b0c0d0e0%c,\n"
			   "       iv: 000102030405060708090a0b0c0d0e0%c, key_sequence: %c}\n"
			   "    service_flows: [{id: 2}]\n";
	static const char same[] = "ff2";
	static const char *const others[] = {"0f2", "f02", "ff3"};
	char text[2000];

	snprintf(text, sizeof(text), modems, same[0], same[1], same[2]);
	expect_mistakes(text, 0, "");
	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		snprintf(text, sizeof(text), modems, others[i][0], others[i][1], others[i][2]);
		expect_mistakes(
			text, 1,
			"sg.yaml:13: modems[1].security.said: found \"5\", allowed: a said of "
			"its own, or the same keys, ivs, cipher and key_sequence as the modems "
			"that share it\n");
	}
}

/* Multicast and broadcast, and frames with tags, are dropped before rules are asked. */
static void rules_that_never_match(void **state) {
	static const struct {
		const char *rule;
		bool refused;
	} all[] = {
		{"ipv4, destination: 224.0.0.0/4", true},
		{"ipv4, destination: 239.1.0.0/16", true},
		{"ipv4, destination: 255.255.255.255", true},
		{"ipv4, destination: 224.0.0.0/3", false},
		{"ipv4, destination: 240.0.0.0/4", false},
		{"ipv4, destination: 255.255.255.254/31", false},
		{"ipv4, destination: 223.0.0.0/8", false},
		{"ipv4, source: 224.0.0.0/4", false},
		{"ipv6, destination: 'ff00::/8'", true},
		{"ipv6, destination: 'ff02::1'", true},
		{"ipv6, destination: 'fe00::/7'", false},
		{"ipv6, destination: 'fe00::/8'", false},
		{"ipv6, source: 'ff00::/8'", false},
		{"ipv6, protocol: 0", false},
		{"ipv6, protocol: 43", false},
		{"ipv6, protocol: 44", false},
		{"ipv6, protocol: 44, source_ports: 7", true},
		{"llc, ethertype: 0x8100", true},
		{"llc, ethertype: 0x88a8", true},
		{"llc, ethertype: 0x0800", false},
		{"llc, ethertype: 0x86dd", false},
	};
	char text[2000];

	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		struct loaded loaded;

		snprintf(text, sizeof(text),
			 SMALL "filter_groups: [{id: 1, rules: [{action: deny, family: %s}]}]\n",
			 all[i].rule);
		loaded = load_text(text);
		if (loaded.mistakes != all[i].refused)
			fail_msg("%s: %s", all[i].rule, loaded.said);
		unload(&loaded);
	}
}

static void files_that_cannot_be_read(void **state) {
	struct service_group sg;
	char *said;
	size_t length;
	FILE *errors = open_memstream(&said, &length);

	assert_int_equal(service_group_load("/no/such/file.yaml", &sg, errors), 1);
	assert_int_equal(service_group_load("/", &sg, errors), 1);
	assert_null(sg.arena);
	fclose(errors);
	assert_string_equal(
		said, "/no/such/file.yaml:1: file: found no readable file (No such file or "
		      "directory), allowed: a YAML file of at most 1 GiB\n"
		      "/:1: file: found no readable file (Is a directory), allowed: a YAML file "
		      "of at most 1 GiB\n");
	free(said);
}

static void texts_of_groups(const struct text_case *c) {
	char *said = text_take(c->parts[0].text, "! ");
	struct loaded loaded = load_text(c->parts[0].text);
	int lines = expect_lines(loaded.said, "sg.yaml:", said);

	assert_int_equal(loaded.mistakes, lines);
	assert_int_equal(loaded.sg.arena == NULL, lines > 0);
	unload(&loaded);
	free(said);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hundred_mistakes_and_a_count),
		cmocka_unit_test(what_is_found_cannot_harm_a_terminal),
		cmocka_unit_test(a_said_is_shared_with_all_that_belongs_to_it),
		cmocka_unit_test(rules_that_never_match),
		cmocka_unit_test(files_that_cannot_be_read),
	};

	return text_cases_run(MODEL_TEXTS "groups.txt", texts_of_groups) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
