/* SPDX-License-Identifier: BSD-3-Clause */
/* A server's file that is loaded again: what is the same is not read, and nobody can tell by what comes of it. */
#include "test_live.h"
#include "test_model_server.h"

#define TOP "rate_limit: 2 Gbps\nthreads: {layout: combined, cores: \"3-9\", main_core: 2}\n"
#define ITEM(n) "  - {service_group: " n ", file: " n ".yaml}\n"
#define OWN(n) CHANNELS(n) "\n" BONDING "\nmodems: [" MODEM(n) "]\n"
#define SERVER TOP "service_groups:\n" ITEM("1") ITEM("2") ITEM("3")

struct session {
	struct kept_groups *kept;
	const struct server_config *config;
	const struct modem *before[SERVER_MAX_GROUPS]; /* where the modems were */
	char *said;
};

static const struct server_config *load_again(struct session *s, const char *text,
					      struct memory_file *files,
					      const struct server_devices *devices) {
	const struct server_files from = {.read = read_memory, .context = files};
	const struct server_source source = {"dir/server.yaml", text, strlen(text), &from, devices};
	const struct server_config *config;
	size_t size;
	FILE *errors;

	memset(s->before, 0, sizeof(s->before));
	for (size_t g = 0; s->config != NULL && g < s->config->group_count; g++)
		s->before[g] = s->config->groups[g].modems;
	free(s->said);
	errors = open_memstream(&s->said, &size);
	assert_non_null(errors);
	config = server_config_load_text_again(&s->kept, &source, errors);
	fclose(errors);
	if (config != NULL)
		s->config = config;
	return config;
}

static void expect_same_group(const struct service_group *a, const struct service_group *b) {
	struct group_room room = group_room(a);
	struct live_group l;

	assert_int_equal(live_group_create(&l, a, &room), 0);
	expect_same_as(&l, b);
	live_group_free(&l);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->network.device, b->network.device);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->threads.main_core, b->threads.main_core);
	assert_int_equal(a->threads.upper_mac_core, b->threads.upper_mac_core);
	assert_int_equal(a->threads.upstream_core, b->threads.upstream_core);
}

/* Loads again, and for the first time: both say and give the same. `taken`: groups that were not read, as bits. */
static void expect_as_new(struct session *s, const char *text, struct memory_file *files,
			  const struct server_devices *devices, unsigned taken) {
	struct loaded_server fresh = load_server_on(text, files, devices);
	const struct server_config *config = load_again(s, text, files, devices);

	assert_string_equal(s->said, fresh.said);
	assert_int_equal(config == NULL, fresh.mistakes > 0);
	if (config != NULL)
		assert_int_equal(config->group_count, fresh.config.group_count);
	for (size_t g = 0; config != NULL && g < config->group_count; g++) {
		expect_same_group(&config->groups[g], &fresh.config.groups[g]);
		assert_int_equal(config->groups[g].modems == s->before[g], taken >> g & 1);
	}
	unload_server(&fresh);
}

static void end(struct session *s) {
	server_config_forget(s->kept);
	free(s->said);
}

static void what_is_the_same_is_not_read(void **state) {
	struct memory_file files[] = {{"dir/1.yaml", OWN("1")},
				      {"dir/2.yaml", OWN("2")},
				      {"dir/3.yaml", OWN("3")},
				      {NULL, NULL}};
	struct session s = {0};

	(void)state;
	expect_as_new(&s, SERVER, files, NULL, 0);
	expect_as_new(&s, SERVER, files, NULL, 7);
	files[1].text = "rate_limit: 3 Gbps\n" OWN("2");
	expect_as_new(&s, SERVER, files, NULL, 5);
	expect_as_new(&s, "# a line more\n\n" SERVER, files, NULL, 7);
	/* its own item, another name of its file, its place, what stands beside the list */
	expect_as_new(&s,
		      TOP "service_groups:\n" ITEM("1")
			      ITEM("2") "  - {service_group: 7, file: 3.yaml}\n",
		      files, NULL, 3);
	expect_as_new(&s, TOP "service_groups:\n" ITEM("1") ITEM("2") ITEM("3"), files, NULL, 3);
	expect_as_new(&s, TOP "service_groups:\n" ITEM("2") ITEM("1") ITEM("3"), files, NULL, 4);
	expect_as_new(&s, "max_frame: 1600\n" SERVER, files, NULL, 0);
	expect_as_new(&s, "max_frame: 1601\n" SERVER, files, NULL, 0);
	expect_as_new(&s, TOP "service_groups:\n" ITEM("1"), files, NULL, 0);
	expect_as_new(&s, SERVER, files, NULL, 0);
	end(&s);
}

static void a_file_without_files_of_groups(void **state) {
	struct session s = {0};

	(void)state;
	expect_as_new(&s, SMALL, NULL, NULL, 0);
	expect_as_new(&s, SMALL, NULL, NULL, 1);
	expect_as_new(&s, "rate_limit: none\n" SMALL, NULL, NULL, 0);
	expect_as_new(&s, BONDING "\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n", NULL,
		      NULL, 0);
	expect_as_new(&s, BONDING "\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n", NULL,
		      NULL, 3);
	end(&s);
}

/* Once it is needed no longer, groups with files of their own are remembered, and no others. */
static void what_cannot_be_of_use_is_forgotten(void **state) {
	struct memory_file files[] = {{"dir/1.yaml", OWN("1")}, {NULL, NULL}};
	static const char mixed[] =
		BONDING "\nservice_groups: [{service_group: 1, file: 1.yaml}, " GROUP("2") "]\n";
	struct session s = {0};

	(void)state;
	server_config_settle(&s.kept); /* harmless */
	expect_as_new(&s, mixed, files, NULL, 0);
	server_config_settle(&s.kept);
	assert_non_null(s.kept);
	assert_non_null(s.config->groups[0].modems);
	assert_null(s.config->groups[1].modems);
	expect_as_new(&s, mixed, files, NULL, 1);
	server_config_settle(&s.kept);
	expect_as_new(&s, "# other\n" SMALL, NULL, NULL, 0);
	server_config_settle(&s.kept);
	assert_null(s.kept);
	s.config = NULL;
	expect_as_new(&s, "# other\n" SMALL, NULL, NULL, 0);
	end(&s);
}

/* Threads and devices are those of all groups together, also of the ones that are not read. */
static void cores_and_devices_are_given_again(void **state) {
	static const char own_cores[] = "threads: {layout: combined, cores: 20}\n" OWN("2");
	const struct server_devices devices = {.network = "net_null{group}",
					       .rphy = "net_ring{group}"};
	struct memory_file files[] = {{"dir/1.yaml", OWN("1")},
				      {"dir/2.yaml", own_cores},
				      {"dir/3.yaml", OWN("3")},
				      {NULL, NULL}};
	struct session s = {0};

	(void)state;
	expect_as_new(&s, SERVER, files, NULL, 0);
	files[0].text = "threads: {layout: combined, cores: 30}\n" OWN("1");
	expect_as_new(&s, SERVER, files, NULL, 6);
	assert_int_equal(s.config->groups[1].threads.upper_mac_core, 20);
	assert_int_equal(s.config->groups[2].threads.upper_mac_core, 3);
	files[0].text = OWN("1");
	expect_as_new(&s, SERVER, files, NULL, 6);
	assert_int_equal(s.config->groups[2].threads.upper_mac_core, 4);
	/* the main core of all is what one of them names, as long as it does */
	files[0].text = "threads: {main_core: 2, upper_mac_core: 9}\n" OWN("1");
	files[2].text = "threads: {main_core: 6}\n" OWN("3");
	expect_as_new(&s, "service_groups:\n" ITEM("2") ITEM("3"), files, NULL, 0);
	assert_int_equal(s.config->groups[0].threads.main_core, 6);
	files[2].text = OWN("3");
	expect_as_new(&s, "service_groups:\n" ITEM("2") ITEM("3"), files, NULL, 1);
	assert_int_equal(s.config->groups[0].threads.main_core, 0);
	expect_as_new(&s, SERVER, files, &devices, 0);
	expect_as_new(&s, SERVER, files, &devices, 7);
	assert_string_equal(s.config->groups[2].network.device, "net_null2");
	end(&s);
}

/* Told as if all had been read; what was good stays. */
static void mistakes_are_told_in_full(void **state) {
	struct memory_file files[] = {{"dir/1.yaml", OWN("1")},
				      {"dir/2.yaml", OWN("2")},
				      {"dir/3.yaml", OWN("3")},
				      {NULL, NULL}};
	struct session s = {0};

	(void)state;
	expect_as_new(&s, SERVER, files, NULL, 0);
	files[1].text = "\n\n" CHANNELS("1") "\n" BONDING "\nmodems: [" MODEM("2") "]\n";
	expect_as_new(&s, SERVER, files, NULL, 0); /* a session of group 1 */
	assert_non_null(strstr(s.said, "first in service group 1"));
	files[1].text = CHANNELS("2") "\n" BONDING "\nmodems: [" MODEM("1") "]\n";
	expect_as_new(&s, SERVER, files, NULL, 0); /* its modem */
	assert_non_null(strstr(s.said, "modems[0].addresses[1]: found 2001:db8::1 again"));
	files[1].text = "max_frame: 1\n" OWN("2");
	expect_as_new(&s, SERVER, files, NULL, 0);
	files[1].text = "a: [";
	expect_as_new(&s, SERVER, files, NULL, 0);
	files[1].path = "dir/7.yaml";
	expect_as_new(&s, SERVER, files, NULL, 0);
	assert_non_null(s.said);
	assert_int_equal(s.config->groups[0].channels[0].session, 11);
	files[1] = (struct memory_file){"dir/2.yaml", "rate_limit: 7 Gbps\n" OWN("2")};
	expect_as_new(&s, SERVER, files, NULL, 5);
	end(&s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_the_same_is_not_read),
		cmocka_unit_test(a_file_without_files_of_groups),
		cmocka_unit_test(what_cannot_be_of_use_is_forgotten),
		cmocka_unit_test(cores_and_devices_are_given_again),
		cmocka_unit_test(mistakes_are_told_in_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
