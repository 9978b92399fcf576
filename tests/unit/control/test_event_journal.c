/* SPDX-License-Identifier: BSD-3-Clause */
/* Events and their subscribers: order, numbers, filters, keys, and those who read too slowly. */
#include "test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/event_journal.h"
#include "random.h"

static struct event_journal *journal;

static int begin(void **state) {
	journal = event_journal_create();
	return journal == NULL;
}

static int end(void **state) {
	event_journal_free(journal);
	return 0;
}

static void add(enum event_place place, uint32_t group, int what, size_t filling) {
	char *text = calloc(1, filling + 1);
	struct event e = {.place = place, .groups = &group, .group_count = group != 0};

	memset(text, 'x', filling);
	e.plain = json_pack("{s:i, s:s}", "what", what, "text", text);
	free(text);
	event_journal_add(journal, &e);
}

static void add_with_key(int what) {
	struct event e = {
		.place = EVENT_ALONE,
		.plain = json_pack("{s:i}", "what", what),
		.keys = json_pack("{s:i, s:s}", "what", what, "key", "0123"),
	};

	event_journal_add(journal, &e);
}

/* What the subscriber gets, as a list of params. */
static json_t *taken(struct event_subscriber *s) {
	json_t *list = json_array();
	size_t size;
	char *lines;

	while ((lines = event_journal_take(journal, s, &size)) != NULL) {
		for (char *line = lines; line < lines + size;) {
			char *stop = memchr(line, '\n', (size_t)(lines + size - line));
			json_t *event = json_loadb(line, (size_t)(stop - line), 0, NULL);

			assert_string_equal(json_string_value(json_object_get(event, "method")),
					    "event");
			json_array_append(list, json_object_get(event, "params"));
			json_decref(event);
			line = stop + 1;
		}
		free(lines);
	}
	return list;
}

static int64_t member(const json_t *list, size_t index, const char *name) {
	return json_integer_value(json_object_get(json_array_get(list, index), name));
}

static void join(struct event_subscriber *s, bool keys, uint32_t group) {
	assert_true(event_journal_join(journal, s, keys, &group, group != 0));
}

#define TAKEN_TEXT (1 << 20)

/* The same as words: SEQUENCE=WHAT, with "key" behind it where it has one, or missed:FIRST-NEXT. */
static const char *taken_words(struct event_subscriber *s) {
	static char text[TAKEN_TEXT];
	json_t *list = taken(s);
	char *end = text;

	*end = '\0';
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *event = json_array_get(list, i);
		int sequence = (int)member(list, i, "sequence");

		end += sprintf(end, "%s", i > 0 ? " " : "");
		if (json_object_get(event, "event") == NULL) {
			end += sprintf(end, "%d=%d%s", sequence, (int)member(list, i, "what"),
				       json_object_get(event, "key") != NULL ? "key" : "");
			continue;
		}
		assert_string_equal(json_string_value(json_object_get(event, "event")), "missed");
		assert_int_equal(member(list, i, "next"), sequence);
		end += sprintf(end, "missed:%d-%d", (int)member(list, i, "first"), sequence);
	}
	json_decref(list);
	return text;
}

static unsigned count_of(const char *text, char c) {
	unsigned count = 0;

	for (; *text != '\0'; text++)
		count += *text == c;
	return count;
}

/* Nobody hears of it, but numbers tell that something was. */
TEST(events_without_subscribers) {
	struct event_subscriber s = {0};

	add(EVENT_ALONE, 0, 1, 0);
	event_journal_skip(journal);
	assert_int_equal(event_journal_next(journal), 3);
	join(&s, false, 0);
	assert_false(event_journal_has(journal, &s));
	event_journal_leave(journal, &s);
}

TEST(events_of_some_groups) {
	struct event_subscriber one = {0}, all = {0};
	uint32_t two[] = {1, 3};

	join(&one, false, 2);
	join(&all, false, 0);
	add(EVENT_ALONE, 1, 1, 0);
	add(EVENT_ALONE, 2, 2, 0);
	add(EVENT_ALONE, 0, 3, 0);
	assert_string_equal(taken_words(&one), "2=2 3=3");
	assert_true(event_journal_join(journal, &one, false, two, 2)); /* another choice */
	add(EVENT_ALONE, 2, 4, 0);
	add(EVENT_ALONE, 3, 5, 0);
	assert_string_equal(taken_words(&one), "5=5");
	assert_string_equal(taken_words(&all), "1=1 2=2 3=3 4=4 5=5");
	event_journal_leave(journal, &one);
	event_journal_leave(journal, &all);
}

TEST(keys_for_who_asked) {
	struct event_subscriber with = {0}, without = {0};

	join(&with, true, 0);
	assert_true(event_journal_wants(journal, true));
	assert_false(event_journal_wants(journal, false));
	join(&without, false, 0);
	add_with_key(1);
	add(EVENT_ALONE, 0, 2, 0);
	assert_string_equal(taken_words(&without), "1=1 2=2");
	assert_string_equal(taken_words(&with), "1=1key 2=2");
	event_journal_leave(journal, &without);
	assert_false(event_journal_wants(journal, false));
	event_journal_leave(journal, &with);
}

TEST(not_too_many_subscribers) {
	struct event_subscriber s[EVENT_SUBSCRIBERS_MAX + 1] = {0};

	for (unsigned i = 0; i < EVENT_SUBSCRIBERS_MAX; i++)
		join(&s[i], false, 0);
	assert_false(event_journal_join(journal, &s[EVENT_SUBSCRIBERS_MAX], false, NULL, 0));
	join(&s[3], true, 0); /* again */
	event_journal_leave(journal, &s[7]);
	join(&s[EVENT_SUBSCRIBERS_MAX], false, 0);
	for (unsigned i = 0; i <= EVENT_SUBSCRIBERS_MAX; i++)
		event_journal_leave(journal, &s[i]);
}

/* It goes on where a series begins. */
TEST(who_is_slow_is_told_what_was_missed) {
	struct event_subscriber s = {0}, fast = {0};
	unsigned next = 0, first = 0;
	const char *words;
	int what = 0;

	join(&s, false, 0);
	join(&fast, false, 0);
	add(EVENT_ALONE, 0, what++, 0);
	assert_string_equal(taken_words(&s), "1=0");
	for (unsigned i = 0; i < 14; i++) { /* series of 3 MiB: 10 are kept, and a part of one */
		add(EVENT_BEGINS, 0, what++, 1u << 20);
		add(EVENT_INSIDE, 0, what++, 1u << 20);
		add(EVENT_ENDS, 0, what++, 1u << 20);
		taken_words(&fast);
		event_journal_flush(journal);
	}
	words = taken_words(&s);
	assert_int_equal(sscanf(words, "missed:2-%u %u=", &next, &first), 2);
	assert_int_equal(next, first);
	assert_int_equal((first - 2) % 3, 0);
	assert_in_range(count_of(words, '='), 3 * 9, 3 * 10);
	assert_string_equal(strrchr(words, ' '), " 43=42");
	event_journal_leave(journal, &s);
	event_journal_leave(journal, &fast);
}

/* A series of more than what is kept: there is nothing to go on with before it has ended. */
TEST(a_series_that_is_too_large) {
	struct event_subscriber s = {0};

	join(&s, false, 0);
	add(EVENT_BEGINS, 0, 0, 0);
	for (int i = 0; i < 40; i++)
		add(EVENT_INSIDE, 0, i, 1u << 20);
	assert_string_equal(taken_words(&s), "");
	add(EVENT_ENDS, 0, 0, 0);
	assert_string_equal(taken_words(&s), "missed:1-43");
	add(EVENT_ALONE, 0, 7, 0);
	assert_string_equal(taken_words(&s), "43=7");
	event_journal_leave(journal, &s);
}

TEST(not_more_events_than_there_may_be) {
	static const char begin[] = "missed:1-6 6=5 ";
	struct event_subscriber s = {0};
	const char *words;

	join(&s, false, 0);
	for (int i = 0; i < EVENT_COUNT_MAX + 5; i++)
		add(EVENT_ALONE, 0, i, 0);
	words = taken_words(&s);
	assert_memory_equal(words, begin, strlen(begin));
	assert_int_equal(count_of(words, '='), EVENT_COUNT_MAX);
	event_journal_leave(journal, &s);
}

/* An event for which there was no memory. */
TEST(what_was_lost_is_missed) {
	struct event_subscriber s = {0};
	const struct event lost = {.place = EVENT_INSIDE};

	join(&s, false, 0);
	add(EVENT_ALONE, 0, 0, 0);
	add(EVENT_BEGINS, 0, 0, 0);
	event_journal_add(journal, &lost);
	add(EVENT_INSIDE, 0, 0, 0);
	add(EVENT_ENDS, 0, 0, 0);
	add(EVENT_ALONE, 0, 9, 0);
	assert_string_equal(taken_words(&s), "missed:1-6 6=9");
	event_journal_leave(journal, &s);
}

static unsigned flushes;

static void count_flush(void *arg) {
	assert_ptr_equal(arg, &flushes);
	flushes++;
}

TEST(who_is_there_is_given_events) {
	struct event_subscriber s = {0};

	flushes = 0;
	event_journal_on_flush(journal, count_flush, &flushes);
	event_journal_flush(journal);
	assert_int_equal(flushes, 0); /* nobody is there */
	join(&s, false, 0);
	add(EVENT_ALONE, 0, 0, 0);
	event_journal_flush(journal);
	assert_int_equal(flushes, 1);
	event_journal_leave(journal, &s);
}

/* Subscribers of all kinds come, take and go: each event arrives once, or is told as missed. */
struct model {
	struct event_subscriber s;
	uint64_t next; /* that it is to see */
	uint32_t group;
};

static void model_take(struct model *m, const uint8_t *groups) {
	json_t *list = taken(&m->s);

	for (size_t i = 0; i < json_array_size(list); i++) {
		uint64_t number = (uint64_t)member(list, i, "sequence");
		bool missed = json_object_get(json_array_get(list, i), "event") != NULL;

		if (missed) {
			assert_int_equal(member(list, i, "first"), m->next);
			assert_true(number > m->next);
			m->next = number;
			continue;
		}
		for (; m->next < number; m->next++)
			assert_true(m->group != 0 && groups[m->next] != 0 &&
				    groups[m->next] != m->group);
		assert_int_equal(m->next, number);
		assert_int_equal(member(list, i, "what"), number);
		m->next++;
	}
	json_decref(list);
	for (; m->next < event_journal_next(journal); m->next++)
		assert_true(m->group != 0 && groups[m->next] != 0 && groups[m->next] != m->group);
}

TEST(any_subscribers) {
	struct model models[4] = {0};
	uint8_t groups[1500] = {0};
	struct random r = {7};

	while (event_journal_next(journal) < 1400) {
		struct model *m = &models[random_next(&r) % 4];
		uint64_t next = event_journal_next(journal), what = random_next(&r) % 20;

		if (what == 0 && m->s.on) {
			event_journal_leave(journal, &m->s);
		} else if (what == 0) {
			m->group = (uint32_t)(random_next(&r) % 3);
			join(&m->s, random_next(&r) % 2 == 0, m->group);
			m->next = next;
		} else if (what < 4 && m->s.on) {
			model_take(m, groups);
		} else if (what < 6) {
			event_journal_flush(journal);
		} else {
			size_t filling = random_next(&r) % 50 == 0 ? 1u << 22 : 100;

			groups[next] = (uint8_t)(random_next(&r) % 4);
			add(EVENT_ALONE, groups[next], (int)next, filling);
		}
	}
	for (unsigned i = 0; i < 4; i++)
		event_journal_leave(journal, &models[i].s);
}

EACH_TEST(begin, end)
