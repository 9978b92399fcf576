/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/event_journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/secret/secret_memory.h"

#define TEXT_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII)
#define HEAD_SIZE 160
#define FIRST_EVENTS 64

enum { PLAIN, KEYS, TEXTS };

/* An event that is kept for subscribers. Zeroed: the event was lost. */
struct entry {
	enum event_position position;
	char *texts[TEXTS]; /* lines; KEYS is NULL if equal to PLAIN */
	size_t sizes[TEXTS];
	uint32_t *groups;
	size_t group_count;
};

struct event_journal {
	void (*flush)(void *arg);
	void *flush_arg;
	struct event_subscriber *subscribers;
	size_t subscriber_count;
	struct entry *ring; /* event n is at n % capacity */
	size_t capacity; /* a power of two, or 0 */
	uint64_t first, next; /* numbers of the oldest event and of the next one */
	size_t bytes;
	bool open; /* a series has begun and has not ended */
};

struct event_journal *event_journal_create(void) {
	struct event_journal *j = calloc(1, sizeof(*j));

	if (j != NULL)
		j->first = j->next = 1;
	return j;
}

static struct entry *entry_at(const struct event_journal *j, uint64_t number) {
	return &j->ring[number & (j->capacity - 1)];
}

static void first_drop(struct event_journal *j) {
	struct entry *e = entry_at(j, j->first++);

	for (unsigned t = 0; t < TEXTS; t++) {
		j->bytes -= e->sizes[t];
		secret_free(e->texts[t]);
	}
	free(e->groups);
	*e = (struct entry){0};
}

static void drop_until(struct event_journal *j, uint64_t number) {
	while (j->first < number)
		first_drop(j);
}

void event_journal_free(struct event_journal *j) {
	if (j == NULL)
		return;
	drop_until(j, j->next);
	free(j->ring);
	free(j);
}

void event_journal_on_flush(struct event_journal *j, void (*flush)(void *arg), void *arg) {
	j->flush = flush;
	j->flush_arg = arg;
}

bool event_journal_subscribe(struct event_journal *j, struct event_subscriber *s, bool keys,
			     const uint32_t *groups, size_t group_count) {
	uint32_t *copy = NULL;

	if (!s->on && j->subscriber_count == EVENT_SUBSCRIBERS_MAX)
		return false;
	if (group_count > 0) {
		copy = malloc(group_count * sizeof(copy[0]));
		if (copy == NULL)
			return false;
		memcpy(copy, groups, group_count * sizeof(copy[0]));
	}
	event_journal_unsubscribe(j, s);
	*s = (struct event_subscriber){
		.on = true,
		.keys = keys,
		.groups = copy,
		.group_count = group_count,
		.next = j->next,
		.link = j->subscribers,
	};
	j->subscribers = s;
	j->subscriber_count++;
	return true;
}

/* Drops events that all subscribers have read. */
static void forget(struct event_journal *j) {
	uint64_t min = j->next;

	for (const struct event_subscriber *s = j->subscribers; s != NULL; s = s->link)
		min = s->next < min ? s->next : min;
	drop_until(j, min);
}

void event_journal_unsubscribe(struct event_journal *j, struct event_subscriber *s) {
	struct event_subscriber **at = j != NULL ? &j->subscribers : NULL;

	if (at == NULL || !s->on)
		return;
	while (*at != s)
		at = &(*at)->link;
	*at = s->link;
	j->subscriber_count--;
	free(s->groups);
	*s = (struct event_subscriber){0};
	forget(j);
}

bool event_journal_wants(const struct event_journal *j, bool keys) {
	for (const struct event_subscriber *s = j->subscribers; s != NULL; s = s->link) {
		if (s->keys == keys)
			return true;
	}
	return false;
}

uint64_t event_journal_next(const struct event_journal *j) {
	return j->next;
}

/* Makes space for one more event; drops the oldest at EVENT_COUNT_MAX. */
static bool ring_grow(struct event_journal *j) {
	size_t capacity = j->capacity == 0 ? FIRST_EVENTS : 2 * j->capacity;
	struct entry *ring;

	if (j->next - j->first < j->capacity)
		return true;
	if (j->capacity == EVENT_COUNT_MAX) {
		first_drop(j);
		return true;
	}
	ring = calloc(capacity, sizeof(ring[0]));
	if (ring == NULL)
		return false;
	for (uint64_t n = j->first; n < j->next; n++)
		ring[n & (capacity - 1)] = *entry_at(j, n);
	free(j->ring);
	j->ring = ring;
	j->capacity = capacity;
	return true;
}

/* The notification as a line. `params` has at least one member. Returns NULL without memory. */
static char *line_of(uint64_t number, const json_t *params, size_t *size) {
	char *inner = params != NULL ? json_dumps(params, TEXT_FLAGS) : NULL, *line;
	size_t capacity = inner != NULL ? strlen(inner) + HEAD_SIZE : 0;
	int used;

	*size = 0;
	line = inner != NULL ? malloc(capacity) : NULL;
	if (line != NULL) {
		used = snprintf(line, capacity,
				"{\"jsonrpc\":\"2.0\",\"method\":\"event\","
				"\"params\":{\"sequence\":%" PRIu64 ",%s}\n",
				number, inner + 1);
		*size = (size_t)used;
	}
	secret_free(inner);
	return line;
}

/* Returns whether all texts that subscribers need were created. */
static bool entry_fill(const struct event_journal *j, struct entry *entry, const struct event *e) {
	bool plain = event_journal_wants(j, false) || (e->keys == NULL && e->plain != NULL);

	*entry = (struct entry){.position = e->position};
	if (plain)
		entry->texts[PLAIN] = line_of(j->next, e->plain, &entry->sizes[PLAIN]);
	if (e->keys != NULL)
		entry->texts[KEYS] = line_of(j->next, e->keys, &entry->sizes[KEYS]);
	if (e->group_count > 0) {
		entry->groups = malloc(e->group_count * sizeof(entry->groups[0]));
		if (entry->groups == NULL)
			return false;
		memcpy(entry->groups, e->groups, e->group_count * sizeof(entry->groups[0]));
		entry->group_count = e->group_count;
	}
	return (!plain || entry->texts[PLAIN] != NULL) &&
	       (!event_journal_wants(j, true) || entry->texts[KEYS] != NULL ||
		entry->texts[PLAIN] != NULL);
}

/* All subscribers miss a lost event and continue after it, so earlier events are dropped, too. */
static void journal_lose(struct event_journal *j) {
	j->next++;
	drop_until(j, j->next - 1);
	j->first = j->next;
}

static void journal_put(struct event_journal *j, const struct event *e) {
	struct entry *entry;

	if (!ring_grow(j)) {
		journal_lose(j);
		return;
	}
	entry = entry_at(j, j->next);
	if (!entry_fill(j, entry, e)) {
		j->bytes += entry->sizes[PLAIN] + entry->sizes[KEYS];
		j->next++;
		drop_until(j, j->next);
		return;
	}
	j->bytes += entry->sizes[PLAIN] + entry->sizes[KEYS];
	j->next++;
	while (j->bytes > EVENT_BYTES_MAX)
		first_drop(j);
}

void event_journal_add(struct event_journal *j, const struct event *e) {
	if (e->position == EVENT_BEGINS || e->position == EVENT_ENDS)
		j->open = e->position == EVENT_BEGINS;
	if (j->subscribers == NULL)
		event_journal_skip(j);
	else
		journal_put(j, e);
	json_decref(e->plain);
	json_decref(e->keys);
}

void event_journal_skip(struct event_journal *j) {
	drop_until(j, j->next);
	j->first = ++j->next;
}

void event_journal_flush(struct event_journal *j) {
	if (j->subscribers == NULL)
		return;
	if (j->flush != NULL)
		j->flush(j->flush_arg);
	forget(j);
}

bool event_journal_has(const struct event_journal *j, const struct event_subscriber *s) {
	return s->on && s->next < j->next;
}

static bool id_is_among(uint32_t id, const uint32_t *ids, size_t count) {
	for (size_t i = 0; i < count; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

static bool entry_is_for(const struct entry *e, const struct event_subscriber *s) {
	if (e->group_count == 0 || s->group_count == 0)
		return true;
	for (size_t g = 0; g < e->group_count; g++) {
		if (id_is_among(e->groups[g], s->groups, s->group_count))
			return true;
	}
	return false;
}

/* The text for the subscriber; its size may be 0. */
static unsigned text_for(const struct entry *e, const struct event_subscriber *s) {
	return s->keys && e->texts[KEYS] != NULL ? KEYS : PLAIN;
}

/* The number from which a subscriber that missed events continues; 0: the current series has not
 * ended, so there is none yet. */
static uint64_t next_beginning(const struct event_journal *j) {
	for (uint64_t n = j->first; n < j->next; n++) {
		enum event_position position = entry_at(j, n)->position;

		if (position == EVENT_BEGINS || position == EVENT_ALONE)
			return n;
	}
	return j->open ? 0 : j->next;
}

/* The first event to deliver, and a line that reports the missed ones. */
struct beginning {
	char missed[HEAD_SIZE]; /* a line, or empty */
	uint64_t first;
};

/* Returns false if the subscriber must wait for the next series. */
static bool find_beginning(const struct event_journal *j, const struct event_subscriber *s,
			   struct beginning *b) {
	*b = (struct beginning){.first = s->next};
	if (s->next >= j->first)
		return true;
	b->first = next_beginning(j);
	snprintf(b->missed, sizeof(b->missed),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"sequence\":%" PRIu64
		 ",\"event\":\"missed\",\"first\":%" PRIu64 ",\"next\":%" PRIu64 "}}\n",
		 b->first, s->next, b->first);
	return b->first != 0;
}

/* Bytes of the events from `first` that are delivered together; `*end` is the number after them. */
static size_t size_together(const struct event_journal *j, const struct event_subscriber *s,
			    uint64_t first, uint64_t *end) {
	size_t size = 0;

	for (*end = first; *end < j->next && size < EVENT_READ_MAX; ++*end) {
		const struct entry *e = entry_at(j, *end);

		if (entry_is_for(e, s))
			size += e->sizes[text_for(e, s)];
	}
	return size;
}

static char *texts_together(const struct event_journal *j, const struct event_subscriber *s,
			    const struct beginning *b, uint64_t end, size_t size) {
	size_t used = strlen(b->missed);
	char *text = malloc(size);

	if (text == NULL)
		return NULL;
	memcpy(text, b->missed, used);
	for (uint64_t n = b->first; n < end; n++) {
		const struct entry *e = entry_at(j, n);
		unsigned which = text_for(e, s);

		if (!entry_is_for(e, s) || e->sizes[which] == 0)
			continue;
		memcpy(text + used, e->texts[which], e->sizes[which]);
		used += e->sizes[which];
	}
	return text;
}

char *event_journal_read(const struct event_journal *j, struct event_subscriber *s, size_t *size) {
	struct beginning b;
	char *text = NULL;
	uint64_t end;

	*size = 0;
	if (!event_journal_has(j, s) || !find_beginning(j, s, &b))
		return NULL;
	*size = strlen(b.missed) + size_together(j, s, b.first, &end);
	if (*size > 0) {
		text = texts_together(j, s, &b, end, *size);
		if (text == NULL)
			return NULL;
	}
	s->next = end;
	return text;
}
