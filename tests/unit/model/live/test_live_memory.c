/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory runs out at every allocation there is: nothing is half done, and nothing is left behind. */
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

static json_t *modem_9(const struct live_group *l) {
	json_t *value = object_json(l, LIVE_MODEM, 0, true);
	json_t *other = json_pack("{s:s, s:[s], s:{s:i}, s:[{s:i, s:i}], s:[], s:[]}", "mac",
				  "02:01:00:00:00:09", "addresses", "10.0.0.9", "security", "said",
				  9, "service_flows", "id", 9, "dsid", 9, "classifiers",
				  "upstream_service_flows");

	assert_int_equal(
		json_object_set(json_object_get(value, "security"), "said",
				json_object_get(json_object_get(other, "security"), "said")),
		0);
	json_object_del(other, "security");
	json_object_update(value, other);
	json_decref(other);
	return value;
}

static void try_one(enum live_verb verb, enum live_object object, json_t *value,
		    struct live_group *l) {
	struct step step = {.l = *l, .verb = verb, .object = object, .value = value};

	with_little_memory(try_request, &step);
	json_decref(value);
}

static void requests_are_read(void **state) {
	struct live_group l = live_of(LIVE_SMALL);
	char *before = live_text(&l), *after;

	try_one(LIVE_ADD, LIVE_MODEM, modem_9(&l), &l);
	try_one(LIVE_SET, LIVE_MODEM,
		json_pack("{s:s, s:s, s:{s:{s:i}, s:{s:i, s:i}}}", "mac", "02:01:00:00:00:01",
			  "max_aggregate_rate", "7 Mbps", "service_flows", "1", "priority", 5, "77",
			  "priority", 3, "dsid", 77),
		&l);
	try_one(LIVE_REMOVE, LIVE_MODEM, json_pack("{s:s}", "mac", "02:01:00:00:00:02"), &l);
	try_one(LIVE_SET, LIVE_CHANNEL, json_pack("{s:i, s:s}", "id", 1, "rate", "3 Gbps"), &l);
	try_one(LIVE_SET, LIVE_GROUP, json_pack("{s:s}", "rate_limit", "3 Gbps"), &l);
	try_one(LIVE_REPLACE, LIVE_FILTER_GROUP,
		json_pack("{s:i, s:[{s:s, s:s, s:s}]}", "id", 1, "rules", "family", "ipv4",
			  "source", "10.0.0.0/8", "action", "deny"),
		&l);
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
