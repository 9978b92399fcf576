/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests snapshot.c: a snapshot loads as the same configuration, even if the group changes while it is written. */
#include "live_kit.h"
#include "model_server_kit.h"
#include "test_main.h"

#include "model/live/group_json.h"
#include "model/live/object_copy.h"
#include "model/live/snapshot.h"
#include "model/server_config.h"

#define CONFIG VECTORS_DIR "/../../config/"

static int write_file(const char *bytes, size_t size, void *file) {
	return fwrite(bytes, 1, size, file) == size ? 0 : -1;
}

static struct live_group live_copy(const struct service_group *sg) {
	const struct group_capacity capacity = group_capacity(sg);
	struct live_group l;

	assert_int_equal(live_group_create(&l, sg, &capacity, (char[LIVE_LINE]){0}), 0);
	return l;
}

static unsigned copied; /* objects that the present step copied */

void *__wrap_object_copy(enum live_object object, const void *item, const struct references *to);
void *__real_object_copy(enum live_object object, const void *item, const struct references *to);

void *__wrap_object_copy(enum live_object object, const void *item, const struct references *to) {
	copied++;
	return __real_object_copy(object, item, to);
}

/* Writes the next part; asserts that it copies few objects. Returns whether more parts follow. */
static bool write_step(struct snapshot *s, FILE *file, bool *failed) {
	bool more;

	copied = 0;
	more = snapshot_write(s, write_file, file, failed);
	assert_in_range(copied, 0, 64);
	return more;
}

/* A snapshot of the groups as the text of a server's file; the caller frees it. */
static char *snapshot_text(const struct live_group *groups, size_t count, bool secrets) {
	struct snapshot *s = snapshot_create(secrets);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed = false;

	copied = 0;
	for (size_t g = 0; g < count; g++)
		assert_true(snapshot_add(s, &groups[g]));
	assert_int_equal(copied, 0);
	fputs("{\"service_groups\":", out);
	while (write_step(s, out, &failed))
		;
	assert_false(failed);
	fputs("}", out);
	fclose(out);
	snapshot_free(s);
	return text;
}

/* Asserts that the snapshot equals group_json(). */
static void expect_json(const struct live_group *groups, size_t count, const char *text,
			bool secrets) {
	json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	const json_t *list = json_object_get(all, "service_groups");

	assert_int_equal(json_array_size(list), count);
	for (size_t g = 0; g < count; g++) {
		json_t *one = group_json(&groups[g], secrets);

		assert_true(json_equal(one, json_array_get(list, g)));
		json_decref(one);
	}
	json_decref(all);
}

/* Asserts that a snapshot with secrets loads as the same groups. */
static void expect_same_when_loaded(const struct live_group *groups, size_t count) {
	char *plain = snapshot_text(groups, count, false),
	     *text = snapshot_text(groups, count, true);
	struct loaded_server loaded = load_valid_server(text, NULL);

	expect_json(groups, count, plain, false);
	expect_json(groups, count, text, true);
	assert_int_equal(loaded.config.group_count, count);
	for (size_t g = 0; g < count; g++) {
		struct live_changes changes;
		char why[LIVE_LINE] = "";

		if (!live_difference(&groups[g], &loaded.config.groups[g], &changes, why))
			fail_msg("%s", why);
		assert_int_equal(changes.count, 0);
		live_changes_free(&changes);
	}
	unload_server(&loaded);
	free(plain);
	free(text);
}

TEST(shipped_configurations_load_back) {
	static const char *const files[] = {CONFIG "example.yaml", CONFIG "example-server.yaml"};

	for (size_t f = 0; f < ARRAY_COUNT(files); f++) {
		struct live_group groups[SERVER_MAX_GROUPS];
		struct server_config config;

		assert_int_equal(server_config_load(files[f], &config, stderr), 0);
		for (size_t g = 0; g < config.group_count; g++)
			groups[g] = live_copy(&config.groups[g]);
		expect_same_when_loaded(groups, config.group_count);
		for (size_t g = 0; g < config.group_count; g++)
			live_group_free(&groups[g]);
		server_config_free(&config);
	}
}

#define D16 "0011223344556677"
#define D32 D16 "8899aabbccddeeff"
#define D64 D32 D32
#define D0 "00000000000000000000000000000000"

/* Device names and secrets of each length; the text from which they were loaded is freed first. */
TEST(device_names_and_secrets_load_back) {
	static const char name[] = "name: sg\n";
	static const char aes_128[] = "said: 1, key: \"000102030405060708090a0b0c0d0e0f\", "
				      "iv: \"000102030405060708090a0b0c0d0e0e\"";
	static const char *const all[][2] = {
		{name, name},
		{name, "name: sg\nports: {network: {device: net_tap0}, rphy: {device: net_tap1},"
		       " control: {device: net_tap2}}\n"},
		{name, "name: sg\ncrypto: {provider: cryptodev, device: crypto_a0}\n"},
		{aes_128, "said: 1, cipher: aes-256, key: \"" D64 "\", iv: \"" D32 "\""},
		{aes_128, "said: 1, cipher: des, key: \"" D16 "\", iv: \"" D16 "\""},
		{aes_128, "said: 1, cipher: none, key: \"" D64 "\""},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(all); i++) {
		char *text = replace_text(all[i][0], all[i][1]);
		struct live_group l = make_live_group(text);

		free(text);
		expect_same_when_loaded(&l, 1);
		text = snapshot_text(&l, 1, true);
		assert_null(strstr(text, D0)); /* no unset key is written */
		free(text);
		live_group_free(&l);
	}
}

/* Writes a snapshot, and changes its group after `steps` steps. Returns whether more steps followed. */
static bool write_with_change(unsigned steps, json_t **written, json_t **before) {
	struct live_group l = make_live_group(LIVE_SMALL), other = make_live_group(LIVE_SMALL);
	struct snapshot *s = snapshot_create(true);
	json_t *modem = json_pack("{s:s}", "mac", "02:01:00:00:00:02");
	struct live_changes changes;
	char *text = NULL, why[LIVE_LINE];
	bool failed = false, more = true;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	*before = group_json(&l, true);
	assert_true(snapshot_add(s, &other));
	assert_true(snapshot_add(s, &l));
	for (unsigned n = 0; n < steps && more; n++)
		more = write_step(s, out, &failed);
	snapshot_copy(s, &l);
	assert_true(live_request(&l, LIVE_REMOVE, LIVE_MODEM, modem, &changes, why));
	live_changes_apply(&l, &changes);
	live_changes_free(&changes);
	live_group_free(&l);
	while (more && write_step(s, out, &failed))
		;
	assert_false(failed);
	fclose(out);
	*written = json_loads(text, 0, NULL);
	json_decref(modem);
	free(text);
	snapshot_free(s);
	live_group_free(&other);
	return more;
}

TEST(snapshot_is_not_changed_by_requests) {
	bool more = true;

	for (unsigned steps = 0; more; steps++) {
		json_t *written, *before;

		more = write_with_change(steps, &written, &before);
		assert_int_equal(json_array_size(written), 2);
		assert_true(json_equal(json_array_get(written, 0), before));
		assert_true(json_equal(json_array_get(written, 1), before));
		json_decref(written);
		json_decref(before);
	}
}

/* Frees a snapshot with the group twice after `steps` steps, in *parts parts. Returns whether more would follow. */
static bool abandon_snapshot(const struct live_group *l, unsigned steps, unsigned *parts) {
	struct snapshot *s = snapshot_create(true);
	FILE *out = fopen("/dev/null", "w");
	bool more = true, failed = false;

	assert_true(snapshot_add(s, l));
	assert_true(snapshot_add(s, l));
	for (unsigned n = 0; n < steps && more; n++)
		more = write_step(s, out, &failed);
	for (*parts = 1; !snapshot_free_part(s); ++*parts)
		;
	fclose(out);
	return more;
}

/* A snapshot is freed in parts, after any number of steps; the sanitizers detect leaks. */
TEST(abandoned_snapshot_is_freed_in_parts) {
	char *text = modems_text(300, 1, 1);
	struct live_group small = make_live_group(LIVE_SMALL), large = make_live_group(text);
	unsigned parts;

	for (unsigned steps = 0; abandon_snapshot(&small, steps, &parts); steps++)
		assert_int_equal(parts, 1);
	for (unsigned steps = 0; abandon_snapshot(&large, steps, &parts); steps = 2 * steps + 1) {
		assert_in_range(parts, 1, 3);
		/* after 7 steps one group is copied, and nothing is written */
		assert_true(steps != 7 || parts == 2);
	}
	live_group_free(&small);
	live_group_free(&large);
	free(text);
}

static int failing_write(const char *bytes, size_t size, void *context) {
	(void)bytes;
	(void)size;
	(void)context;
	return -1;
}

TEST(write_error_ends_snapshot) {
	struct live_group l = make_live_group(LIVE_SMALL);
	struct snapshot *s = snapshot_create(true);
	bool failed = false;

	assert_true(snapshot_add(s, &l));
	while (snapshot_write(s, failing_write, NULL, &failed))
		assert_false(failed);
	assert_true(failed);
	snapshot_free(s);
	live_group_free(&l);
}
