/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory runs out at every allocation there is: nothing is half done, and nothing is left behind. */
#include "short_json.h"
#include "test_live.h"
#include "test_model_server.h"

#include "memory_runs_out.h"

static bool try_create(void *context) {
	const struct service_group *sg = context;
	const struct group_room room = group_room(sg);
	struct live_group l;
	bool good = live_group_create(&l, sg, &room, (char[LIVE_LINE]){0}) == 0;

	live_group_free(&l);
	return good;
}

static void a_group_is_copied(void **state) {
	struct service_group sg = sg_of("threads: {layout: combined, cores: \"3,4\"}\n" LIVE_SMALL);

	with_little_memory(try_create, &sg);
	service_group_free(&sg);
}

struct step {
	struct live_group l;
	struct service_group next;
	enum live_verb verb;
	enum live_object object;
	json_t *value;
};

static bool try_difference(void *context) {
	struct step *step = context;
	struct live_changes changes;
	char why[LIVE_LINE] = "";
	bool good = live_difference(&step->l, &step->next, &changes, why);

	assert_true(good || strstr(why, "no memory left") != NULL);
	live_changes_free(&changes);
	return good;
}

static void a_difference_is_found(void **state) {
	struct step step = {.l = live_of(LIVE_SMALL), .next = sg_of("name: sg\n" SMALL)};
	char *before = live_text(&step.l), *after;

	service_group_free(&step.next);
	step.next = sg_of("name: sg\nrate_limit: 1 Gbps\n" SMALL);
	with_little_memory(try_difference, &step);
	after = live_text(&step.l);
	assert_string_equal(before, after);
	free(before);
	free(after);
	service_group_free(&step.next);
	live_group_free(&step.l);
}

static bool try_request(void *context) {
	const struct step *step = context;
	struct live_changes changes;
	char why[LIVE_LINE] = "";
	bool good = live_request(&step->l, step->verb, step->object, step->value, &changes, why);

	assert_true(good || strstr(why, "no memory left") != NULL);
	assert_true(!good || changes.count == 1);
	live_changes_free(&changes);
	return good;
}

#define MODEM_9                                                                              \
	"{mac: '02:01:00:00:00:09', addresses: ['10.0.0.9'], bonding_group: 1, "             \
	"filter_groups: [2, 1], max_aggregate_rate: '100 Mbps', security: {said: 9, "        \
	"key: '000102030405060708090a0b0c0d0e0f', iv: '000102030405060708090a0b0c0d0e0e'}, " \
	"service_flows: [{id: 9, dsid: 9}], classifiers: [], upstream_service_flows: []}"

static void requests_are_read(void **state) {
	static const struct {
		enum live_verb verb;
		enum live_object object;
		const char *value;
	} all[] = {
		{LIVE_ADD, LIVE_MODEM, MODEM_9},
		{LIVE_SET, LIVE_MODEM,
		 "{mac: '02:01:00:00:00:01', max_aggregate_rate: '7 Mbps', service_flows: "
		 "{1: {priority: 5}, 77: {priority: 3, dsid: 77}}}"},
		{LIVE_REMOVE, LIVE_MODEM, "{mac: '02:01:00:00:00:02'}"},
		{LIVE_SET, LIVE_CHANNEL, "{id: 1, rate: '3 Gbps'}"},
		{LIVE_SET, LIVE_GROUP, "{rate_limit: '3 Gbps'}"},
		{LIVE_REPLACE, LIVE_FILTER_GROUP,
		 "{id: 1, rules: [{family: ipv4, source: 10.0.0.0/8, action: deny}]}"},
	};
	struct live_group l = live_of(LIVE_SMALL);
	char *before = live_text(&l), *after;

	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		struct step step = {.l = l,
				    .verb = all[i].verb,
				    .object = all[i].object,
				    .value = json_of(all[i].value)};

		with_little_memory(try_request, &step);
		json_decref(step.value);
	}
	after = live_text(&l);
	assert_string_equal(before, after);
	free(before);
	free(after);
	live_group_free(&l);
}

/* Twice, of which the second finds one of two groups to be the same. */
static bool try_again(void *context) {
	static const char text[] = "service_groups: [{service_group: 1, file: 1.yaml}, "
				   "{service_group: 2, file: 2.yaml}]\n";
	struct memory_file files[] = {
		{"1.yaml", CHANNELS("1") "\n" BONDING "\nmodems: [" MODEM("1") "]\n"},
		{"2.yaml", CHANNELS("2") "\n" BONDING "\nmodems: [" MODEM("2") "]\n"},
		{NULL, NULL},
	};
	const struct server_files from = {.read = read_memory, .context = files};
	const struct server_source source = {"server.yaml", text, strlen(text), &from, NULL};
	struct kept_groups *kept = NULL;
	bool good = server_config_load_text_again(&kept, &source, context) != NULL;

	files[1].text =
		"rate_limit: none\n" CHANNELS("2") "\n" BONDING "\nmodems: [" MODEM("2") "]\n";
	good = server_config_load_text_again(&kept, &source, context) != NULL && good;
	assert_true(!good || kept != NULL);
	server_config_forget(kept);
	return good;
}

static void a_file_is_read_again(void **state) {
	FILE *nowhere = fopen("/dev/null", "w");

	assert_non_null(nowhere);
	until_memory_suffices(try_again, nowhere, true);
	fclose(nowhere);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_is_copied),
		cmocka_unit_test(a_difference_is_found),
		cmocka_unit_test(requests_are_read),
		cmocka_unit_test(a_file_is_read_again),
	};

	json_set_alloc_funcs(malloc, free);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
