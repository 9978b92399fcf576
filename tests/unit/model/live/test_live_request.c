/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests request.c with texts/requests.txt: requests are parsed, validated and applied, or refused; and key_roll.c. */
#include "failing_allocations.h"
#include "live_kit.h"
#include "model_values.h"
#include "text_cases.h"

#include "model/live/key_roll.h"
#include "model/units.h"

/* A change contains all group settings; after it is applied, it contains the previous ones. */
static void group_settings_are_exchanged(void **state) {
	struct live_group l = make_live_group(LIVE_SMALL);
	const uint64_t rate = l.sg.rate_limit, timeout = l.sg.cpe_timeout_ns;
	struct live_changes changes;
	const struct service_group *changed;
	char why[LIVE_LINE];

	assert_true(request_change(&l, LIVE_SET, LIVE_GROUP,
				   "{rate_limit: '7 Gbps', cpe_timeout: '5 s'}", &changes, why));
	assert_int_equal(changes.count, 1);
	changed = changes.list[0].group;
	assert_int_equal(changed->max_frame, l.sg.max_frame);
	assert_memory_equal(&changed->upstream, &l.sg.upstream, sizeof(l.sg.upstream));
	assert_int_equal(changed->rate_limit, 7000000000);
	live_changes_apply(&l, &changes);
	assert_int_equal(l.sg.rate_limit, 7000000000);
	assert_int_equal(l.sg.cpe_timeout_ns, 5000000000);
	assert_int_equal(changed->rate_limit, rate);
	assert_int_equal(changed->cpe_timeout_ns, timeout);
	live_changes_free(&changes);
	live_group_free(&l);
}

/* The index of the first word of `text` in a list up to NULL. Sets *rest to the text after the word. */
static unsigned find_word(const char *const words[], const char *text, const char **rest) {
	size_t size = strcspn(text, " ");
	unsigned i = 0;

	while (words[i] != NULL && (strlen(words[i]) != size || memcmp(words[i], text, size) != 0))
		i++;
	if (words[i] == NULL)
		fail_msg("%s: unknown word", text);
	*rest = text + size + 1;
	return i;
}

struct request {
	const struct live_group *l;
	enum live_verb verb;
	enum live_object object;
	json_t *value;
	const char *answer;
};

/* Returns false without memory; otherwise asserts the expected result. */
static bool try_request(void *context) {
	const struct request *r = context;
	struct live_changes changes;
	char why[LIVE_LINE] = "";
	bool done = live_request(r->l, r->verb, r->object, r->value, &changes, why);

	assert_true(done || changes.list == NULL);
	live_changes_free(&changes);
	if (strstr(why, "no memory left") != NULL)
		return false;
	for (char *c = why; *c != '\0'; c++) /* between mistakes */
		*c = *c == '\n' ? '|' : *c;
	assert_string_equal(why, done ? "" : r->answer + 2);
	assert_int_equal(done, r->answer[0] == '=');
	return true;
}

/* Tests a request with each allocation failing, which changes nothing, then applies it. `answer` is "= DESCRIPTION" of
 * the changes, "! MESSAGE", or "" for the one change that the request describes. */
static void test_request(struct live_group *l, const char *request, const char *answer) {
	static const char *const verbs[] = {"add", "replace", "set", "remove", NULL};
	static const char *const objects[] = {
		[LIVE_GROUP] = "group",
		[LIVE_CHANNEL] = "channel",
		[LIVE_UPSTREAM_CHANNEL] = "upstream_channel",
		[LIVE_BONDING_GROUP] = "bonding_group",
		[LIVE_FILTER_GROUP] = "filter_group",
		[LIVE_MODEM] = "modem",
		[LIVE_OBJECTS] = NULL,
	};
	enum live_verb verb = find_word(verbs, request, &request);
	enum live_object object = find_word(objects, request, &request);

	char done[64], *before = live_group_text(l), why[LIVE_LINE];
	struct request r = {l, verb, object, json_of(request), answer};
	struct live_changes changes;

	if (answer[0] == '\0') {
		static const char *const ends[] = {"added", "changed", "changed", "removed"};

		snprintf(done, sizeof(done), "= 1 %s %s", objects[object], ends[verb]);
		for (char *c = done; *c != '\0'; c++)
			*c = *c == '_' ? ' ' : *c;
		r.answer = answer = done;
	}
	if (answer[0] == '=')
		fail_each_allocation(try_request, &r);
	assert_true(try_request(&r));
	expect_unchanged(l, before);
	if (live_request(l, verb, object, r.value, &changes, why))
		expect_applied(l, &changes, answer + 2);
	json_decref(r.value);
}

/* The key and IV of hex digits, with the key's bits inverted, so that it differs from the present key. */
static struct live_next_key make_next_key(const char *key, const char *iv) {
	struct live_next_key next = {.key_size = strlen(key) / 2, .iv_size = strlen(iv) / 2};

	assert_true(units_parse_hex(key, next.key, (unsigned)next.key_size));
	assert_true(units_parse_hex(iv, next.iv, (unsigned)next.iv_size));
	for (size_t i = 0; i < next.key_size; i++)
		next.key[i] ^= 0xff;
	return next;
}

/* Installs, uses and removes the next key of the first modem; `words` is "SAID KEY IV". The removed key is wiped. */
static void test_key_roll(struct live_group *l, const char *words, const char *answer) {
	static const uint8_t none[CIPHER_MAX_KEY];
	const struct security_association *sa = &l->sg.modems[0].security;
	char key[2 * CIPHER_MAX_KEY + 1], iv[2 * CIPHER_MAX_IV + 1], why[LIVE_LINE] = "";
	struct live_changes changes;
	struct live_next_key next;
	uint16_t said;

	assert_int_equal(sscanf(words, "%hu %64s %32s", &said, key, iv), 3);
	next = make_next_key(key, iv);
	if (answer[0] == '!') {
		assert_false(live_key_install(l, said, &next, &changes, why));
		assert_string_equal(why, answer + 2);
		return;
	}
	assert_true(live_key_install(l, said, &next, &changes, why));
	expect_applied(l, &changes, "1 modem changed");
	assert_true(live_key_use(l, said, &changes, why));
	expect_applied(l, &changes, "1 modem changed");
	assert_memory_equal(association_key(sa), next.key, CIPHER_MAX_KEY);
	assert_true(live_key_remove(l, said, &changes, why));
	expect_applied(l, &changes, "1 modem changed");
	assert_memory_equal(association_key(sa), next.key, CIPHER_MAX_KEY);
	assert_memory_equal(sa->next_key, none, sizeof(none));
	assert_memory_equal(sa->next_iv, none, sizeof(sa->next_iv));
	assert_int_equal(sa->key_sequence, 1);
}

static void expect_group_values(const struct live_group *l, const char *expected) {
	char *values = group_values(&l->sg);

	expect_values(values, expected);
	free(values);
}

static void run_request_case(const struct text_case *c) {
	const char *top = c->count > 1 ? c->parts[1].text : "";
	char *text = NULL, *rest = c->parts[0].text;
	struct live_group l;

	assert_true(asprintf(&text, "%s%s", top, LIVE_SMALL) > 0);
	l = make_live_group(text);
	free(text);
	while (*rest != '\0') {
		const char *request = strsep(&rest, "\n"), *answer;

		if (request[0] == '.') {
			expect_group_values(&l, request + 2);
			continue;
		}
		answer = rest[0] == '=' || rest[0] == '!' ? strsep(&rest, "\n") : "";
		if (strncmp(request, "roll ", 5) == 0)
			test_key_roll(&l, request + 5, answer);
		else
			test_request(&l, request, answer);
	}
	live_group_free(&l);
}

int main(void) {
	static const char *const files[] = {MODEL_TEXTS "requests.txt", NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_settings_are_exchanged),
	};

	json_set_alloc_funcs(malloc, free);
	return text_cases_run(files, run_request_case) + cmocka_run_group_tests(tests, NULL, NULL);
}
