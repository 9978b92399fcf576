/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests event_journal.c with random events and subscribers: order, numbers, filters, keys, series, and missed events
 * of slow readers. A list of all events added determines what each subscriber must receive. */
#include "test_main.h"

#include "control/event_journal.h"
#include "random.h"

#define EVENTS 1400
#define LINE 400 /* most bytes of an event's lines, without the padding */
#define LARGE (4u << 20) /* padding of a large event */
#define READERS 3

/* An event that was added. */
struct added_event {
	enum event_position position;
	uint32_t group; /* 0: all groups */
	size_t padding;
	bool keys; /* it has a text with key material */
	bool lost; /* memory was short when it was added */
};

struct reader {
	struct event_subscriber s;
	uint64_t next; /* number of the first event that it has not received */
	uint32_t groups[2];
	size_t group_count;
};

static struct event_journal *journal;
static struct added_event all[EVENT_COUNT_MAX + EVENTS]; /* by number */
static bool open; /* a series has begun and not ended */
static unsigned flushes, missed, stuck; /* stuck: reads that wait for the end of a series */

static void count_flush(void *arg) {
	assert_ptr_equal(arg, &flushes);
	flushes++;
}

static int set_up(void **state) {
	journal = event_journal_create();
	if (journal != NULL)
		event_journal_on_flush(journal, count_flush, &flushes);
	open = false;
	flushes = missed = stuck = 0;
	return journal == NULL;
}

static int tear_down(void **state) {
	event_journal_free(journal);
	return 0;
}

static void add(const struct added_event *t) {
	uint64_t number = event_journal_next(journal);
	struct event e = {
		.position = t->position, .groups = &t->group, .group_count = t->group != 0};
	char *text = calloc(1, t->padding + 1);

	all[number] = *t;
	if (t->position == EVENT_BEGINS || t->position == EVENT_ENDS)
		open = t->position == EVENT_BEGINS;
	memset(text, 'x', t->padding);
	if (!t->lost)
		e.plain = json_pack("{s:I, s:s}", "what", (json_int_t)number, "text", text);
	if (t->keys)
		e.keys = json_pack("{s:I, s:s}", "what", (json_int_t)number, "key", "0123");
	free(text);
	event_journal_add(journal, &e);
	assert_int_equal(event_journal_next(journal), number + 1);
}

/* Whether the limits allow to keep all events from `number` on, with `line` bytes per event besides its padding. */
static bool fits_limits(uint64_t number, size_t line) {
	uint64_t next = event_journal_next(journal);
	size_t bytes = 0;
	bool lost = false;

	for (uint64_t n = number; n < next; n++) {
		bytes += all[n].padding + line;
		lost |= all[n].lost;
	}
	return !lost && bytes <= EVENT_BYTES_MAX && next - number <= EVENT_COUNT_MAX;
}

/* Asserts that the reader missed events, and cannot continue at the start of a series before `number`. */
static void expect_missed(const struct reader *r, uint64_t number) {
	assert_false(fits_limits(r->next, LINE));
	for (uint64_t n = number; n > r->next;) {
		n--;
		if (all[n].position != EVENT_INSIDE && all[n].position != EVENT_ENDS) {
			assert_false(fits_limits(n, LINE));
			break;
		}
	}
}

static bool is_selected(const struct reader *r, uint64_t number) {
	bool selected = all[number].group == 0 || r->group_count == 0;

	for (size_t g = 0; g < r->group_count; g++)
		selected |= all[number].group == r->groups[g];
	return selected;
}

static void skip_unselected(struct reader *r, uint64_t number) {
	for (; r->next < number; r->next++)
		assert_false(is_selected(r, r->next));
}

static void read_event(struct reader *r, const json_t *params) {
	uint64_t number = (uint64_t)json_integer_value(json_object_get(params, "sequence"));

	if (json_object_get(params, "event") != NULL) {
		uint64_t next = event_journal_next(journal);

		assert_int_equal(json_integer_value(json_object_get(params, "first")), r->next);
		assert_int_equal(json_integer_value(json_object_get(params, "next")), number);
		assert_in_range(number, r->next + 1, next);
		expect_missed(r, number);
		assert_true(fits_limits(number, 0));
		assert_true(number == next ? !open
					   : all[number].position == EVENT_BEGINS ||
						     all[number].position == EVENT_ALONE);
		r->next = number;
		missed++;
		return;
	}
	skip_unselected(r, number);
	assert_int_equal(r->next, number);
	assert_int_equal(json_integer_value(json_object_get(params, "what")), number);
	assert_int_equal(json_object_get(params, "key") != NULL, r->s.keys && all[number].keys);
	r->next++;
}

/* Reads all pending lines: each event is received once or reported as missed. While a series is open, the reader may
 * have to wait for its end. */
static void read_all(struct reader *r) {
	uint64_t next = event_journal_next(journal);
	bool misses = !fits_limits(r->next, 0);
	unsigned before = missed;
	size_t size;
	char *lines;

	while ((lines = event_journal_read(journal, &r->s, &size)) != NULL) {
		for (char *line = lines; line < lines + size;) {
			char *stop = memchr(line, '\n', (size_t)(lines + size - line));
			json_t *event = json_loadb(line, (size_t)(stop - line), 0, NULL);

			assert_string_equal(json_string_value(json_object_get(event, "method")),
					    "event");
			read_event(r, json_object_get(event, "params"));
			json_decref(event);
			line = stop + 1;
		}
		free(lines);
	}
	if (event_journal_has(journal, &r->s)) {
		assert_true(open);
		expect_missed(r, next);
		stuck++;
	} else {
		skip_unselected(r, next);
		assert_true(!misses || missed > before);
	}
}

static void join(struct reader *r, bool keys, uint32_t one, uint32_t other) {
	*r = (struct reader){.s = r->s,
			     .next = event_journal_next(journal),
			     .groups = {one, other},
			     .group_count = one == 0 ? 0 : 1 + (other != 0)};
	assert_true(event_journal_subscribe(journal, &r->s, keys, r->groups, r->group_count));
}

TEST(number_of_subscribers_is_limited) {
	struct reader r[EVENT_SUBSCRIBERS_MAX + 1] = {0};

	for (unsigned i = 0; i < EVENT_SUBSCRIBERS_MAX; i++)
		join(&r[i], false, 0, 0);
	assert_false(event_journal_subscribe(journal, &r[EVENT_SUBSCRIBERS_MAX].s, false, NULL, 0));
	join(&r[3], true, 0, 0); /* replaces its subscription */
	event_journal_unsubscribe(journal, &r[7].s);
	join(&r[EVENT_SUBSCRIBERS_MAX], false, 0, 0);
	for (unsigned i = 0; i <= EVENT_SUBSCRIBERS_MAX; i++)
		event_journal_unsubscribe(journal, &r[i].s);
}

TEST(number_of_events_is_limited) {
	const struct added_event one = {.position = EVENT_ALONE};
	struct reader r = {0};

	join(&r, false, 0, 0);
	for (int i = 0; i < EVENT_COUNT_MAX + 5; i++)
		add(&one);
	read_all(&r);
	assert_int_equal(missed, 1);
	event_journal_unsubscribe(journal, &r.s);
}

static void add_random(struct random *random) {
	struct added_event t = {
		.position = random_below(random, 10) != 0 ? EVENT_ALONE : EVENT_BEGINS,
		.group = random_below(random, 4),
		.padding = random_below(random, 25) == 0 ? LARGE : 0,
		.keys = random_below(random, 3) == 0,
		.lost = random_below(random, 200) == 0,
	};

	if (open)
		t.position = random_below(random, 20) != 0 ? EVENT_INSIDE : EVENT_ENDS;
	t.keys = t.keys && !t.lost && t.padding == 0;
	add(&t);
}

/* A random action of a subscriber. Those with a high index read rarely. */
static void act_randomly(struct reader *readers, unsigned i, struct random *random) {
	struct reader *r = &readers[i];

	switch (random_below(random, 8)) {
	case 0:
		if (random_below(random, 10) == 0)
			event_journal_unsubscribe(journal, &r->s);
		break;
	case 1:
		if (!r->s.on || random_below(random, 10) == 0)
			join(r, random_below(random, 2) == 0, random_below(random, 4),
			     random_below(random, 4));
		break;
	default:
		if (r->s.on && random_below(random, 4 + 12 * i) == 0)
			read_all(r);
	}
}

TEST(random_subscribers_miss_no_event_unreported) {
	struct random random = {7};
	struct reader readers[READERS] = {0};

	while (event_journal_next(journal) < EVENTS) {
		unsigned wants[2] = {0}, before = flushes;

		if (random_below(&random, 4) == 0)
			act_randomly(readers, random_below(&random, READERS), &random);
		else
			add_random(&random);
		for (unsigned i = 0; i < READERS; i++)
			wants[readers[i].s.keys] += readers[i].s.on;
		for (unsigned keys = 0; keys < 2; keys++)
			assert_int_equal(event_journal_wants(journal, keys), wants[keys] > 0);
		if (random_below(&random, 5) != 0)
			continue;
		event_journal_flush(journal);
		assert_int_equal(flushes - before, wants[0] + wants[1] > 0);
		if (wants[0] + wants[1] == 0)
			event_journal_skip(journal);
	}
	assert_in_range(missed, 3, EVENTS);
	assert_in_range(stuck, 1, EVENTS);
	for (unsigned i = 0; i < READERS; i++)
		event_journal_unsubscribe(journal, &readers[i].s);
}

EACH_TEST(set_up, tear_down)
