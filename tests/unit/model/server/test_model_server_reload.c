/* SPDX-License-Identifier: BSD-3-Clause */
/* A reload of a server's file reads only groups that changed, and gives what a first load gives. */
#include "test_main.h"

#include "model/server/parts.h"

#include "guard.h"
#include "live_kit.h"
#include "memory_runs_out.h"
#include "model_server_kit.h"

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
	config = server_config_reload_text(&s->kept, &source, errors);
	fclose(errors);
	if (config != NULL)
		s->config = config;
	return config;
}

static void expect_same_group(const struct service_group *a, const struct service_group *b) {
	struct group_capacity capacity = group_capacity(a);
	struct live_group l;

	assert_int_equal(live_group_create(&l, a, &capacity, (char[LIVE_LINE]){0}), 0);
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

TEST(what_is_the_same_is_not_read) {
	struct memory_file files[] = {{"dir/1.yaml", OWN("1")},
				      {"dir/2.yaml", OWN("2")},
				      {"dir/3.yaml", OWN("3")},
				      {NULL, NULL}};
	struct session s = {0};

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

TEST(a_file_without_files_of_groups) {
	struct session s = {0};

	expect_as_new(&s, SMALL, NULL, NULL, 0);
	expect_as_new(&s, SMALL, NULL, NULL, 1);
	expect_as_new(&s, "rate_limit: none\n" SMALL, NULL, NULL, 0);
	expect_as_new(&s, BONDING "\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n", NULL,
		      NULL, 0);
	expect_as_new(&s, BONDING "\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n", NULL,
		      NULL, 3);
	end(&s);
}

#define PART(n)                 \
	"  - service_group: " n \
	"\n    " CHANNELS(n) "\n    # its modems\n\n    modems:\n      - " MODEM(n) "\n"
#define OWN_ITEM(n) "  - service_group: " n "\n    file: " n ".yaml\n"
#define PARTS(a, b, c) TOP BONDING "\nservice_groups:\n" PART(a) PART(b) PART(c)

/* Groups in the server's file itself, where lines tell where they end. */
TEST(parts_of_a_file) {
	struct session s = {0};

	expect_as_new(&s, PARTS("1", "2", "3"), NULL, NULL, 0);
	expect_as_new(&s, PARTS("1", "2", "3"), NULL, NULL, 7); /* the whole is the same */
	expect_as_new(&s, PARTS("1", "4", "3"), NULL, NULL, 5);
	expect_as_new(&s, PARTS("1", "4", "3") "max_frame: 1600\n", NULL, NULL, 0);
	expect_as_new(&s, PARTS("1", "5", "3") "max_frame: 1600\n", NULL, NULL, 5);
	expect_as_new(&s, PARTS("5", "1", "3") "max_frame: 1600\n", NULL, NULL, 4);
	expect_as_new(&s, PARTS("5", "1", "3") PART("6") "max_frame: 1600\n", NULL, NULL, 0);
	expect_as_new(&s, PARTS("5", "1", "3") PART("7") "max_frame: 1600\n", NULL, NULL, 7);
	/* names, its own and by its number */
	expect_as_new(&s, PARTS("5", "1", "3") PART("7") "    name: seven\nmax_frame: 1600\n", NULL,
		      NULL, 7);
	/* mistakes have the lines of the file, and the next load begins with what was good */
	expect_as_new(&s, PARTS("1", "1", "3"), NULL, NULL, 0);
	expect_as_new(&s, PARTS("1", "2", "3") "    modem: 1\n", NULL, NULL, 0);
	expect_as_new(&s, PARTS("5", "1", "3") PART("8") "max_frame: 1600\n", NULL, NULL, 7);
	end(&s);
}

/* What is not plain (below), or is looked up elsewhere, is read as a whole, with what was the same. */
TEST(files_that_are_not_divided) {
	static const char *const more[] = {
		"    name: &seven seven\n",
		"    \"name\": seven\n",
		"--- \n",
		"...\n",
		"   name: seven\n",
		"  -\n",
		"  - [1]\n",
		" - service_group: 9\n",
		"  - - service_group: 9\n",
		"service_groups: []\n",
		"service_groups:\n" PART("9"),
	};
	struct memory_file files[] = {{"dir/9.yaml", OWN("9")}, {NULL, NULL}};
	char text[4096];

	for (size_t i = 0; i < ARRAY_COUNT(more); i++) {
		struct session s = {0};

		snprintf(text, sizeof(text), "%s%s", PARTS("1", "2", "3"), more[i]);
		expect_as_new(&s, text, NULL, NULL, 0);
		snprintf(text, sizeof(text), "%s%s", PARTS("4", "2", "3"), more[i]);
		expect_as_new(&s, text, NULL, NULL, 0);
		end(&s);
	}
	{
		struct session s = {0};

		expect_as_new(&s, PARTS("1", "2", "3") ITEM("9"), files, NULL, 0);
		expect_as_new(&s, PARTS("1", "4", "3") ITEM("9"), files, NULL, 8);
		expect_as_new(&s, PARTS("1", "2", "3") OWN_ITEM("9"), files, NULL, 8);
		expect_as_new(&s, PARTS("1", "4", "3") OWN_ITEM("9"), files, NULL, 8);
		end(&s);
	}
}

/* Whether it is divided: behind it nothing can be read, nor in front of it where a sanitizer looks. */
static bool is_divided(const struct guard *guard, const char *text) {
	struct server_source source = {.name = "text", .size = strlen(text)};
	struct server_parts parts;
	char *bytes = malloc(source.size + (source.size == 0));
	bool divided;

	assert_non_null(bytes);
	memcpy(bytes, text, source.size);
	source.text = bytes;
	divided = server_parts_divide(&parts, &source, NULL);
	server_parts_free(&parts);
	source.text = (const char *)guard_copy(guard, text, source.size);
	assert_int_equal(server_parts_divide(&parts, &source, NULL), divided);
	server_parts_free(&parts);
	free(bytes);
	return divided;
}

/* Texts between others. */
static void expect_divided(const char *begin, const char *const *texts, size_t count,
			   const char *end, bool divided) {
	struct guard guard = guard_open(128);
	char text[128];

	for (size_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%s%s%s", begin, texts[i], end);
		if (is_divided(&guard, text) != divided)
			fail_msg("%s", text);
	}
	guard_close(&guard);
}

/* A text whose last line has no end, and none behind it either; or that ends with that line. */
TEST(a_text_that_ends_at_once) {
	static const char *const no_list[] = {"", "\n", "service_groups:", "service_groups:\n\n"};
	static const char *const no_end[] = {"  -", "  - ", "  - a", "  - {file: a}\n  -", " ", ""};
	static const char *const ends[] = {"  - a: 1\n", "  - a: 1\n    b: 2\n", "  - a: 1\n\n",
					   "  - a: 1\n  - b: 1\n#\n"};

	expect_divided("", no_list, ARRAY_COUNT(no_list), "", false);
	expect_divided("service_groups:\n", no_end, ARRAY_COUNT(no_end), "", false);
	expect_divided("service_groups:\n", ends, ARRAY_COUNT(ends), "", true);
}

TEST(lines_that_are_plain) {
	static const char *const plain[] = {
		"- {a: \"b c\", d: [1, 2]} # it's {",
		"a: \"\\\"\"",
		"a: b#c\n# {\n",
		"- \"a\": \"b\"",
		"a: [\"b\",\"c\"]",
		"a: b-c.d/e, f",
	};
	static const char *const others[] = {
		"a: {b: 1,\n", "a: ]",	    "a: []]\n[", "a: \"b\nc\"", "a: 'b\n", "a: b 'c, d: '",
		"a: 'b'c",     "a: 'b''c'", /* though it is plain */
		"a: &b c",     "a: *b",	    "a: !b c",	 "a: |\n",	"a: >\n",  "%A",
		"a: @b",       "a: `b",	    "? a",	 "a\\",		"a:\tb",   "a: \x7f",
		"a: \xc2\x85", "a: \r",	    "a: \"\\",	 "{a: b #}",
	};

	expect_divided("service_groups:\n  - x: 1\n      ", plain, ARRAY_COUNT(plain), "\n", true);
	expect_divided("service_groups:\n  - x: 1\n      ", others, ARRAY_COUNT(others), "\n",
		       false);
}

/* Once it is needed no longer, groups with files of their own are remembered, and no others. */
TEST(what_cannot_be_of_use_is_forgotten) {
	struct memory_file files[] = {{"dir/1.yaml", OWN("1")}, {NULL, NULL}};
	static const char mixed[] =
		BONDING "\nservice_groups: [{service_group: 1, file: 1.yaml}, " GROUP("2") "]\n";
	struct session s = {0};

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

TEST(cores_and_devices_are_given_again) {
	static const char own_cores[] = "threads: {layout: combined, cores: 20}\n" OWN("2");
	const struct server_devices devices = {.network = "net_memif{group}0,x={group}{group}",
					       .rphy = "net_ring{group},x={grou}"};
	struct memory_file files[] = {{"dir/1.yaml", OWN("1")},
				      {"dir/2.yaml", own_cores},
				      {"dir/3.yaml", OWN("3")},
				      {NULL, NULL}};
	struct session s = {0};

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
	assert_string_equal(s.config->groups[2].network.device, "net_memif20,x=22");
	assert_string_equal(s.config->groups[1].rphy_port.device, "net_ring1,x={grou}");
	end(&s);
}

TEST(mistakes_are_told_in_full) {
	struct memory_file files[] = {{"dir/1.yaml", OWN("1")},
				      {"dir/2.yaml", OWN("2")},
				      {"dir/3.yaml", OWN("3")},
				      {NULL, NULL}};
	struct session s = {0};

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

/* Twice, of which the second finds two of three groups to be the same. */
static bool try_again(void *context) {
	struct memory_file files[] = {
		{"dir/1.yaml", OWN("1")}, {"dir/2.yaml", OWN("2")}, {"dir/3.yaml", OWN("3")}, {0}};
	struct session s = {0};
	bool good = load_again(&s, SERVER, files, NULL) != NULL;

	files[1].text = "rate_limit: none\n" OWN("2");
	good = load_again(&s, SERVER, files, NULL) != NULL && good;
	assert_true(!good || s.kept != NULL);
	end(&s);
	return good;
}

TEST(a_file_is_read_again_or_not) {
	until_memory_suffices(try_again, NULL, true);
}
