/* SPDX-License-Identifier: BSD-3-Clause */
/* What scrapers ask for, and pages that many have: no question gets another's page, and none costs without end. */
#include "test_main.h"

#include <string.h>

#include "telemetry/metrics/endpoint/pages.h"

static struct server server;
static const struct metrics_source source = {.server = &server, .version = "1"};
static struct metrics_http_counts counts;

static int set_up(void **state) {
	return pthread_rwlock_init(&server.lock, NULL);
}

static struct pages begin(size_t most) {
	memset(&counts, 0, sizeof(counts));
	return (struct pages){.most = most, .counts = &counts};
}

/* Of names and values by turns. */
static struct metrics_query *ask(struct metrics_query *q, const char *const words[]) {
	memset(q, 0, sizeof(*q));
	for (unsigned i = 0; words[i] != NULL; i += 2)
		metrics_query_add(q, words[i], words[i + 1]);
	return q;
}

#define ASK(q, ...) ask(q, (const char *const[]){__VA_ARGS__, NULL})
#define NAMED(q, name) ASK(q, "names", name)

TEST(test_keys) {
	static const char *const names[] = {"a&service_group=1", "a&3=1", "a&3=1:1"};
	struct metrics_query one, two;

	ASK(&two, "names", "a", "service_group", "1");
	assert_true(metrics_query_end(&two));
	for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
		assert_true(metrics_query_end(NAMED(&one, names[i])));
		assert_string_not_equal(one.key, two.key);
	}
}

TEST(test_refused) {
	static const char *const mac = "02:00:00:00:00:01", *const other = "02:00:00:00:00:02";
	const char *const refused[][7] = {
		{"modems", mac, "flows", other},
		{"modems", "all", "flows", mac, "service_group", "1"},
		{"modems", mac, "flows", "all", "service_group", "1"},
		{"service_group", "1", "service_group", "2"},
		{"names", "a", "names", "a"},
		{"modems", mac, "modems", mac},
		{"", NULL},
	};
	struct metrics_query q;

	assert_true(metrics_query_end(ASK(&q, "modems", mac, "flows", mac)));
	assert_memory_equal(q.selection.modem, "\x02\0\0\0\0\x01", 6);
	for (unsigned i = 0; i < ARRAY_COUNT(refused); i++)
		assert_false(metrics_query_end(ask(&q, refused[i])));
}

/* Each is short enough, both are not. */
TEST(test_too_long) {
	char names[QUERY_KEY - 20];
	struct metrics_query q;

	memset(names, 'v', sizeof(names) - 1);
	names[sizeof(names) - 1] = '\0';
	for (unsigned i = 50; i < sizeof(names) - 1; i += 50)
		names[i] = ',';
	assert_false(metrics_query_end(ASK(&q, "modems", "02:00:00:00:00:01", "flows",
					   "02:00:00:00:00:01", "names", names)));
	assert_string_equal(q.wrong, "the query is too long");
}

/* A page that is too large is not begun again for each who asks. */
TEST(test_too_large) {
	struct pages p = begin(8);
	struct metrics_query q;
	unsigned code = 0;

	NAMED(&q, "vcmts_tsc_hz");
	assert_null(pages_get(&p, &source, &q, METRICS_OPEN, &code));
	assert_int_equal(code, 413);
	code = 0;
	for (unsigned i = 0; i < 100; i++)
		assert_null(pages_get(&p, &source, &q, METRICS_OPEN, &code));
	assert_int_equal(code, 413);
	assert_in_range(counts.pages, 1, 50);
	assert_in_range(counts.page_ns, 1, 3600000000000);
	for (unsigned i = 0; i < PAGES; i++)
		p.list[i].made -= PAGES_AGE_MS;
	p.most = PAGES_MOST;
	assert_non_null(pages_get(&p, &source, &q, METRICS_OPEN, &code));
	pages_clear(&p);
	assert_int_equal(p.bytes, 0);
}

/* Asks as many other questions as there are places for, and one more. Returns whether that was too many. */
static bool others_ask(struct pages *p) {
	struct metrics_query q;
	unsigned code = 0;

	for (unsigned i = 0; i < PAGES - PAGES_WHOLE; i++)
		pages_get(p, &source, NAMED(&q, &"zzzz"[i]), METRICS_OPEN, &code);
	return pages_get(p, &source, NAMED(&q, "y"), METRICS_OPEN, &code) == NULL && code == 503;
}

TEST(test_whole_pages_have_places) {
	struct pages p = begin(PAGES_MOST);
	struct metrics_query q;
	unsigned code = 0;
	bool taken = false;

	for (unsigned tries = 0; tries < 100 && !taken; tries++) /* time may pass between them */
		taken = others_ask(&p);
	assert_true(taken);
	NAMED(&q, "vcmts_tsc_hz")->key[0] = '\0';
	assert_non_null(pages_get(&p, &source, &q, METRICS_OPEN, &code));
	assert_non_null(pages_get(&p, &source, &q, METRICS_PROMETHEUS, &code));
	pages_clear(&p);
	assert_int_equal(p.bytes, 0);
}

ALL_TESTS(set_up, NULL)
