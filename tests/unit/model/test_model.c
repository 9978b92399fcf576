/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the loader of service groups: values and messages, by texts/groups.txt, values.txt and grants.txt. */
#include "model_kit.h"
#include "model_values.h"
#include "text_cases.h"

static void messages_are_limited_to_100(void **state) {
	char text[20000] = "channels: [{id: 1, type: ofdm, rate: 1.89 Gbps, session: 7}]\n"
			   "bonding_groups: [{id: 1, channels: [1, 2]}]\n"
			   "modems: [{}]\n"
			   "filter_groups:\n";
	struct loaded loaded;
	size_t lines = 0;

	for (int i = 0; i < 150; i++)
		strcat(text, "  - {id: x, rules: []}\n");
	loaded = load_text(text);
	for (const char *c = loaded.messages; *c != '\0'; c++)
		lines += *c == '\n';
	assert_int_equal(loaded.mistakes, 306);
	assert_int_equal(lines, 101);
	/* checked last, but printed first, by line */
	assert_ptr_equal(strstr(loaded.messages, "sg.yaml:2: bonding_groups[0].channels[1]: "),
			 loaded.messages);
	assert_non_null(strstr(loaded.messages, "sg.yaml:3: modems[0].mac: missing"));
	assert_non_null(strstr(loaded.messages, "sg.yaml:51: filter_groups[46].rules: found"));
	assert_null(strstr(loaded.messages, "sg.yaml:52:"));
	assert_non_null(strstr(loaded.messages, "sg.yaml: 206 more mistakes are not shown\n"));
	unload(&loaded);
}

static void unreadable_files_are_reported(void **state) {
	struct service_group sg;
	char *messages;
	size_t length;
	FILE *errors = open_memstream(&messages, &length);

	assert_int_equal(service_group_load("/no/such/file.yaml", &sg, errors), 1);
	assert_int_equal(service_group_load("/", &sg, errors), 1);
	assert_null(sg.arena);
	fclose(errors);
	assert_string_equal(messages,
			    "/no/such/file.yaml: cannot read the file: No such file or directory\n"
			    "/: cannot read the file: Is a directory\n");
	free(messages);
}

static void name_defaults_to_that_of_the_file(void **state) {
	static const char *const names[][2] = {
		{"sg.yaml", "sg"},
		{"a/b.c/two words.v2.yaml", "two_words.v2"},
		{"/dir/.hidden", "xhidden"},
		{"/", "service-group"},
		{"node", "node"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		struct service_group sg;

		assert_int_equal(
			service_group_load_text(names[i][0], SMALL, strlen(SMALL), &sg, stderr), 0);
		assert_string_equal(sg.name, names[i][1]);
		service_group_free(&sg);
	}
}

static void maximum_of_sids_is_loaded(void **state) {
	static char text[20000];
	char *end = text + snprintf(text, sizeof(text), SMALL_HEAD "upstream_channels:\n");
	struct loaded loaded;

	for (int c = 1; c <= SG_MAX_UPSTREAM_CHANNELS; c++)
		end += sprintf(end, "  - {id: %d, type: ofdma, rate: 1 Gbps, session: %d}\n", c, c);
	end += sprintf(end,
		       "modems:\n%s    upstream_service_flows:\n      - id: 9\n"
		       "        sid_clusters:\n",
		       SMALL_MODEM);
	for (int cluster = 0; cluster < SG_MAX_SID_CLUSTERS; cluster++) {
		end += sprintf(end, "          - {id: %d, sids: [", cluster);
		for (int c = 1; c <= SG_MAX_UPSTREAM_CHANNELS; c++)
			end += sprintf(end, "{channel: %d, sid: %d},", c, cluster + 1);
		end += sprintf(end, "]}\n");
	}
	loaded = load_text(text);
	assert_string_equal(loaded.messages, "");
	assert_int_equal(loaded.sg.modems[0].upstream_flows[0].cluster_count, 8);
	assert_int_equal(loaded.sg.modems[0].upstream_flows[0].clusters[7].sids[63].channel, 63);
	unload(&loaded);
}

static void thirty_thousand_modems_are_loaded(void **state) {
	const int modems = 30000;
	char *text = malloc((size_t)modems * 400), *end = text;
	struct loaded loaded;

	assert_non_null(text);
	end += sprintf(end, "%s",
		       SMALL_HEAD
		       "upstream_channels: [{id: 1, type: ofdma, rate: 1 Gbps, session: 7},\n"
		       "  {id: 2, type: ofdma, rate: 1 Gbps, session: 8}]\nmodems:\n");
	for (int m = 0; m < modems; m++)
		end += sprintf(end,
			       "  - mac: \"02:01:00:00:%02x:%02x\"\n"
			       "    addresses: [10.1.%d.%d]\n"
			       "    bonding_group: 1\n"
			       "    security: {said: 1, cipher: none}\n"
			       "    service_flows: [{id: %d}]\n"
			       "    upstream_service_flows:\n"
			       "      - {id: %d, sid_clusters: [{id: 0, sids: "
			       "[{channel: %d, sid: %d}]}]}\n",
			       m >> 8, m & 255, m >> 8, m & 255, m + 1, 100000 + m, m % 2 + 1,
			       m / 2 % 15000 + 1);
	loaded = load_bytes(text, (size_t)(end - text));
	assert_string_equal(loaded.messages, "");
	assert_int_equal(loaded.sg.modem_count, modems);
	unload(&loaded);
	free(text);
}

/* A case: lines with "! " are the expected messages, lines with "= " the expected values. */
static void run_group_case(const struct text_case *c) {
	char *messages, *values;
	struct loaded loaded;
	int lines;

	messages = extract_lines(c->parts[0].text, "! ");
	values = extract_lines(c->parts[0].text, "= ");
	loaded = load_text(c->parts[0].text);
	lines = expect_lines(loaded.messages, "sg.yaml:", messages);
	assert_int_equal(loaded.mistakes, lines);
	assert_int_equal(loaded.sg.arena == NULL, lines > 0);
	if (lines == 0) {
		char *actual = group_values(&loaded.sg);

		expect_values(actual, values);
		free(actual);
	}
	unload(&loaded);
	free(messages);
	free(values);
}

int main(void) {
	static const char *const files[] = {MODEL_TEXTS "groups.txt", MODEL_TEXTS "values.txt",
					    MODEL_TEXTS "grants.txt", NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_limited_to_100),
		cmocka_unit_test(unreadable_files_are_reported),
		cmocka_unit_test(name_defaults_to_that_of_the_file),
		cmocka_unit_test(maximum_of_sids_is_loaded),
		cmocka_unit_test(thirty_thousand_modems_are_loaded),
	};

	return text_cases_run(files, run_group_case) + cmocka_run_group_tests(tests, NULL, NULL);
}
