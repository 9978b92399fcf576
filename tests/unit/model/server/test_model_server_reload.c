/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests reload.c and parts.c: a reload reads only groups that changed, and has the same result as a first load. */
#include "test_main.h"

#include "model/server/parts.h"

#include "failing_allocations.h"
#include "guard.h"
#include "live_kit.h"
#include "model_server_kit.h"

#define TOP "rate_limit: 2 Gbps\nthreads: {layout: combined, cores: \"3-9\", main_core: 2}\n"
#define ITEM(n) "  - {service_group: " n ", file: " n ".yaml}\n"
#define GROUP_FILE(n) CHANNELS(n) "\n" BONDING "\nmodems: [" MODEM(n) "]\n"
#define SERVER TOP "service_groups:\n" ITEM("1") ITEM("2") ITEM("3")

/* Repeated loads of one server file. */
struct session {
	struct load_cache *kept;
	const struct server_config *config; /* of the last successful load */
	const struct modem *before[SERVER_MAX_GROUPS]; /* modem lists before the last load */
	char *messages; /* of the last load */
};

static const struct server_config *reload(struct session *s, const char *text,
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
	free(s->messages);
	errors = open_memstream(&s->messages, &size);
	assert_non_null(errors);
	config = server_config_reload_text(&s->kept, &source, errors);
	fclose(errors);
	if (config != NULL)
		s->config = config;
	return config;
}

static void expect_equal_groups(const struct service_group *a, const struct service_group *b) {
	struct group_capacity capacity = group_capacity(a);
	struct live_group l;

	assert_int_equal(live_group_create(&l, a, &capacity, (char[LIVE_LINE]){0}), 0);
	expect_equals(&l, b);
	live_group_free(&l);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->network.device, b->network.device);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->threads.main_core, b->threads.main_core);
	assert_int_equal(a->threads.upper_mac_core, b->threads.upper_mac_core);
	assert_int_equal(a->threads.upstream_core, b->threads.upstream_core);
}

/* Asserts that a reload equals a first load in messages and groups. `kept`: groups that it did not read, as bits. */
static void expect_reload(struct session *s, const char *text, struct memory_file *files,
			  const struct server_devices *devices, unsigned kept) {
	struct loaded_server fresh = load_server_on(text, files, devices);
	const struct server_config *config = reload(s, text, files, devices);

	assert_string_equal(s->messages, fresh.messages);
	assert_int_equal(config == NULL, fresh.mistakes > 0);
	if (config != NULL)
		assert_int_equal(config->group_count, fresh.config.group_count);
	for (size_t g = 0; config != NULL && g < config->group_count; g++) {
		expect_equal_groups(&config->groups[g], &fresh.config.groups[g]);
		assert_int_equal(config->groups[g].modems == s->before[g], kept >> g & 1);
	}
	unload_server(&fresh);
}

static void end_session(struct session *s) {
	server_config_free_cache(s->kept);
	free(s->messages);
}

TEST(unchanged_group_files_are_not_read) {
	struct memory_file files[] = {{"dir/1.yaml", GROUP_FILE("1")},
				      {"dir/2.yaml", GROUP_FILE("2")},
				      {"dir/3.yaml", GROUP_FILE("3")},
				      {NULL, NULL}};
	struct session s = {0};

	expect_reload(&s, SERVER, files, NULL, 0);
	expect_reload(&s, SERVER, files, NULL, 7);
	files[1].text = "rate_limit: 3 Gbps\n" GROUP_FILE("2");
	expect_reload(&s, SERVER, files, NULL, 5);
	expect_reload(&s, "# a line more\n\n" SERVER, files, NULL, 7);
	/* another item, file name, position, and key beside the list */
	expect_reload(&s,
		      TOP "service_groups:\n" ITEM("1")
			      ITEM("2") "  - {service_group: 7, file: 3.yaml}\n",
		      files, NULL, 3);
	expect_reload(&s, TOP "service_groups:\n" ITEM("1") ITEM("2") ITEM("3"), files, NULL, 3);
	expect_reload(&s, TOP "service_groups:\n" ITEM("2") ITEM("1") ITEM("3"), files, NULL, 4);
	expect_reload(&s, "max_frame: 1600\n" SERVER, files, NULL, 0);
	expect_reload(&s, "max_frame: 1601\n" SERVER, files, NULL, 0);
	expect_reload(&s, TOP "service_groups:\n" ITEM("1"), files, NULL, 0);
	expect_reload(&s, SERVER, files, NULL, 0);
	end_session(&s);
}

TEST(unchanged_server_file_is_not_read) {
	struct session s = {0};

	expect_reload(&s, SMALL, NULL, NULL, 0);
	expect_reload(&s, SMALL, NULL, NULL, 1);
	expect_reload(&s, "rate_limit: none\n" SMALL, NULL, NULL, 0);
	expect_reload(&s, BONDING "\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n", NULL,
		      NULL, 0);
	expect_reload(&s, BONDING "\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n", NULL,
		      NULL, 3);
	end_session(&s);
}

#define PART(n)                 \
	"  - service_group: " n \
	"\n    " CHANNELS(n) "\n    # its modems\n\n    modems:\n      - " MODEM(n) "\n"
#define OWN_ITEM(n) "  - service_group: " n "\n    file: " n ".yaml\n"
#define PARTS(a, b, c) TOP BONDING "\nservice_groups:\n" PART(a) PART(b) PART(c)

/* Groups in the server's file itself, which is divided by lines. */
TEST(unchanged_parts_are_not_read) {
	struct session s = {0};

	expect_reload(&s, PARTS("1", "2", "3"), NULL, NULL, 0);
	expect_reload(&s, PARTS("1", "2", "3"), NULL, NULL, 7); /* the same file */
	expect_reload(&s, PARTS("1", "4", "3"), NULL, NULL, 5);
	expect_reload(&s, PARTS("1", "4", "3") "max_frame: 1600\n", NULL, NULL, 0);
	expect_reload(&s, PARTS("1", "5", "3") "max_frame: 1600\n", NULL, NULL, 5);
	expect_reload(&s, PARTS("5", "1", "3") "max_frame: 1600\n", NULL, NULL, 4);
	expect_reload(&s, PARTS("5", "1", "3") PART("6") "max_frame: 1600\n", NULL, NULL, 0);
	expect_reload(&s, PARTS("5", "1", "3") PART("7") "max_frame: 1600\n", NULL, NULL, 7);
	/* a changed name */
	expect_reload(&s, PARTS("5", "1", "3") PART("7") "    name: seven\nmax_frame: 1600\n", NULL,
		      NULL, 7);
	/* messages have the file's line numbers; the next load compares with the last valid file */
	expect_reload(&s, PARTS("1", "1", "3"), NULL, NULL, 0);
	expect_reload(&s, PARTS("1", "2", "3") "    modem: 1\n", NULL, NULL, 0);
	expect_reload(&s, PARTS("5", "1", "3") PART("8") "max_frame: 1600\n", NULL, NULL, 7);
	end_session(&s);
}

/* Files that parts.c does not divide, or with group files, are read as a whole; unchanged group files are kept. */
TEST(undividable_files_are_read_whole) {
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
	struct memory_file files[] = {{"dir/9.yaml", GROUP_FILE("9")}, {NULL, NULL}};
	char text[4096];

	for (size_t i = 0; i < ARRAY_COUNT(more); i++) {
		struct session s = {0};

		snprintf(text, sizeof(text), "%s%s", PARTS("1", "2", "3"), more[i]);
		expect_reload(&s, text, NULL, NULL, 0);
		snprintf(text, sizeof(text), "%s%s", PARTS("4", "2", "3"), more[i]);
		expect_reload(&s, text, NULL, NULL, 0);
		end_session(&s);
	}
	{
		struct session s = {0};

		expect_reload(&s, PARTS("1", "2", "3") ITEM("9"), files, NULL, 0);
		expect_reload(&s, PARTS("1", "4", "3") ITEM("9"), files, NULL, 8);
		expect_reload(&s, PARTS("1", "2", "3") OWN_ITEM("9"), files, NULL, 8);
		expect_reload(&s, PARTS("1", "4", "3") OWN_ITEM("9"), files, NULL, 8);
		end_session(&s);
	}
}

/* Whether the text is divided into groups. Tests it at both ends of memory, to detect overreads. */
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

/* Asserts whether each text is divided, between `begin` and `end`. */
static void expect_divided(const char *begin, const char *const *texts, size_t count,
			   const char *end, bool divided) {
	struct guard guard = guard_open(128);
	char text[128];

	for (size_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%s%s%s", begin, texts[i], end);
		if (is_divided(&guard, text) != divided)
			fail_msg("%s divided: %s", divided ? "not" : "wrongly", text);
	}
	guard_close(&guard);
}

/* Texts without a list, with an incomplete last line, and with complete lists. */
TEST(incomplete_lists_are_not_divided) {
	static const char *const no_list[] = {"", "\n", "service_groups:", "service_groups:\n\n"};
	static const char *const no_end[] = {"  -", "  - ", "  - a", "  - {file: a}\n  -", " ", ""};
	static const char *const ends[] = {"  - a: 1\n", "  - a: 1\n    b: 2\n", "  - a: 1\n\n",
					   "  - a: 1\n  - b: 1\n#\n"};

	expect_divided("", no_list, ARRAY_COUNT(no_list), "", false);
	expect_divided("service_groups:\n", no_end, ARRAY_COUNT(no_end), "", false);
	expect_divided("service_groups:\n", ends, ARRAY_COUNT(ends), "", true);
}

TEST(only_plain_lines_are_divided) {
	static const char *const plain[] = {
		"- {a: \"b c\", d: [1, 2]} # it's {",
		"a: \"\\\"\"",
		"a: b#c\n# {\n",
		"- \"a\": \"b\"",
		"a: [\"b\",\"c\"]",
		"a: b-c.d/e, f",
		"a: net_{group}[1]",
		"a: {\"b\":\"c\", d:e: f-}",
	};
	static const char *const not_plain[] = {
		"a: {b: 1,\n",
		"a: ]",
		"a: []]\n[",
		"a: \"b\nc\"",
		"a: 'b\n",
		"a: b 'c, d: '",
		"a: 'b'c",
		"a: 'b''c'", /* plain, but not recognized */
		"a: &b c",
		"a: *b",
		"a: !b c",
		"a: |\n",
		"a: >\n",
		"%A",
		"a: @b",
		"a: `b",
		"? a",
		"a\\",
		"a:\tb",
		"a: \x7f",
		"a: \xc2\x85",
		"a: \r",
		"a: \"\\",
		"{a: b #}",
		/* quotes inside of an unquoted text */
		"a: [x- ', [', ]",
		"k: [x:', [', ]",
		"a': [\"']",
		"a: [:'b']",
		/* comments after brackets */
		"a: [#]",
		"a: [[b]#]",
		"a: [b,#]",
		"a: [b [c]]",
	};

	expect_divided("service_groups:\n  - x: 1\n      ", plain, ARRAY_COUNT(plain), "\n", true);
	expect_divided("service_groups:\n  - x: 1\n      ", not_plain, ARRAY_COUNT(not_plain), "\n",
		       false);
}

/* server_config_release() keeps groups with their own files, and frees the others. */
TEST(release_keeps_groups_with_own_files) {
	struct memory_file files[] = {{"dir/1.yaml", GROUP_FILE("1")}, {NULL, NULL}};
	static const char mixed[] =
		BONDING "\nservice_groups: [{service_group: 1, file: 1.yaml}, " GROUP("2") "]\n";
	struct session s = {0};

	server_config_release(&s.kept); /* no effect without groups */
	expect_reload(&s, mixed, files, NULL, 0);
	server_config_release(&s.kept);
	assert_non_null(s.kept);
	assert_non_null(s.config->groups[0].modems);
	assert_null(s.config->groups[1].modems);
	expect_reload(&s, mixed, files, NULL, 1);
	server_config_release(&s.kept);
	expect_reload(&s, "# other\n" SMALL, NULL, NULL, 0);
	server_config_release(&s.kept);
	assert_null(s.kept);
	s.config = NULL;
	expect_reload(&s, "# other\n" SMALL, NULL, NULL, 0);
	end_session(&s);
}

TEST(cores_and_devices_are_reassigned) {
	static const char own_cores[] = "threads: {layout: combined, cores: 20}\n" GROUP_FILE("2");
	const struct server_devices devices = {.network = "net_memif{group}0,x={group}{group}",
					       .rphy = "net_ring{group},x={grou}"};
	struct memory_file files[] = {{"dir/1.yaml", GROUP_FILE("1")},
				      {"dir/2.yaml", own_cores},
				      {"dir/3.yaml", GROUP_FILE("3")},
				      {NULL, NULL}};
	struct session s = {0};

	expect_reload(&s, SERVER, files, NULL, 0);
	files[0].text = "threads: {layout: combined, cores: 30}\n" GROUP_FILE("1");
	expect_reload(&s, SERVER, files, NULL, 6);
	assert_int_equal(s.config->groups[1].threads.upper_mac_core, 20);
	assert_int_equal(s.config->groups[2].threads.upper_mac_core, 3);
	files[0].text = GROUP_FILE("1");
	expect_reload(&s, SERVER, files, NULL, 6);
	assert_int_equal(s.config->groups[2].threads.upper_mac_core, 4);
	/* the main core of the server is the one that a group names */
	files[0].text = "threads: {main_core: 2, upper_mac_core: 9}\n" GROUP_FILE("1");
	files[2].text = "threads: {main_core: 6}\n" GROUP_FILE("3");
	expect_reload(&s, "service_groups:\n" ITEM("2") ITEM("3"), files, NULL, 0);
	assert_int_equal(s.config->groups[0].threads.main_core, 6);
	files[2].text = GROUP_FILE("3");
	expect_reload(&s, "service_groups:\n" ITEM("2") ITEM("3"), files, NULL, 1);
	assert_int_equal(s.config->groups[0].threads.main_core, 0);
	expect_reload(&s, SERVER, files, &devices, 0);
	expect_reload(&s, SERVER, files, &devices, 7);
	assert_string_equal(s.config->groups[2].network.device, "net_memif20,x=22");
	assert_string_equal(s.config->groups[1].rphy_port.device, "net_ring1,x={grou}");
	end_session(&s);
}

TEST(messages_equal_those_of_a_first_load) {
	struct memory_file files[] = {{"dir/1.yaml", GROUP_FILE("1")},
				      {"dir/2.yaml", GROUP_FILE("2")},
				      {"dir/3.yaml", GROUP_FILE("3")},
				      {NULL, NULL}};
	struct session s = {0};

	expect_reload(&s, SERVER, files, NULL, 0);
	files[1].text = "\n\n" CHANNELS("1") "\n" BONDING "\nmodems: [" MODEM("2") "]\n";
	expect_reload(&s, SERVER, files, NULL, 0); /* a session that group 1 has */
	assert_non_null(strstr(s.messages, "first in service group 1"));
	files[1].text = CHANNELS("2") "\n" BONDING "\nmodems: [" MODEM("1") "]\n";
	expect_reload(&s, SERVER, files, NULL, 0); /* a modem of group 1 */
	assert_non_null(strstr(s.messages, "modems[0].addresses[1]: duplicate address 2001:db8::1, "
					   "first in service group "));
	files[1].text = "max_frame: 1\n" GROUP_FILE("2");
	expect_reload(&s, SERVER, files, NULL, 0);
	files[1].text = "a: [";
	expect_reload(&s, SERVER, files, NULL, 0);
	files[1].path = "dir/7.yaml";
	expect_reload(&s, SERVER, files, NULL, 0);
	assert_non_null(s.messages);
	assert_int_equal(s.config->groups[0].channels[0].session, 11);
	files[1] = (struct memory_file){"dir/2.yaml", "rate_limit: 7 Gbps\n" GROUP_FILE("2")};
	expect_reload(&s, SERVER, files, NULL, 5);
	end_session(&s);
}

/* Loads, and reloads with one of three groups changed. Returns whether both succeeded. */
static bool try_reload(void *context) {
	struct memory_file files[] = {{"dir/1.yaml", GROUP_FILE("1")},
				      {"dir/2.yaml", GROUP_FILE("2")},
				      {"dir/3.yaml", GROUP_FILE("3")},
				      {0}};
	struct session s = {0};
	bool loaded = reload(&s, SERVER, files, NULL) != NULL;

	files[1].text = "rate_limit: none\n" GROUP_FILE("2");
	loaded = reload(&s, SERVER, files, NULL) != NULL && loaded;
	assert_true(!loaded || s.kept != NULL);
	end_session(&s);
	return loaded;
}

TEST(reload_fails_cleanly_without_memory) {
	fail_allocations(try_reload, NULL, true);
}
